package stripesim

import (
	"bytes"
	"encoding/json"
	"html/template"
	"net/http"
	"slices"
	"time"
)

var pages = template.Must(template.New("").Funcs(template.FuncMap{
	"money": formatMoney,
	"clock": func(t time.Time) string { return t.UTC().Format("15:04:05.000") },
	"since": func(unix int64) string { return time.Unix(unix, 0).UTC().Format("2 Jan 15:04:05") },
	"short": func(id string) string {
		if len(id) > 16 {
			return id[:9] + "…" + id[len(id)-5:]
		}
		return id
	},
	"deref": deref,
	"class": statusClass,
}).ParseFS(assets, "assets/*.html"))

// statusClass colours a status: good, bad, waiting or neutral.
func statusClass(status string) string {
	switch status {
	case succeeded, "200", "paid":
		return "good"
	case canceled, "failed", "0", "400", "401", "402", "404", "409", "429", "500", "502", "503":
		return "bad"
	}
	return "wait"
}

// render writes a page, or a 500 when the template fails.
func (s *Server) render(w http.ResponseWriter, name string, data any) {
	var buf bytes.Buffer
	if err := pages.ExecuteTemplate(&buf, name, data); err != nil {
		s.logger.Error("rendering a page failed", "page", name, "error", err)
		http.Error(w, "This page could not be shown; the log says why.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'")
	_, _ = w.Write(buf.Bytes())
}

// overview is the data of the simulator's front page.
type overview struct {
	Now      time.Time
	Ahead    time.Duration
	Accounts []accountView
	Requests []requestEntry
	Attempts []Attempt
	Faults   []FaultRule
	Kinds    []struct{ Kind, Says string }
	Tricks   WebhookTricks
	Buttons  []trickButton
	Journal  string
	Webhook  string
	Routes   []string
}

type accountView struct {
	Name    string
	ID      string
	Ledger  ledgerAccount
	Intents []*intent
	Events  []*event
	Counts  map[string]int
}

const shown = 25 // rows of each list on the front page

func (s *Server) serveOverview(w http.ResponseWriter, _ *http.Request) {
	v := overview{Now: s.clock.now(), Ahead: time.Duration(s.clock.offset.Load()).Round(time.Second), Attempts: s.hooks.attempts(shown),
		Faults: s.faults.list(), Kinds: faultKinds, Tricks: s.hooks.currentTricks(), Buttons: trickButtons, Journal: s.cfg.Journal, Webhook: s.cfg.WebhookURL}
	v.Requests = s.log.newest(2*shown, func(*requestEntry) bool { return true })
	slices.Reverse(v.Requests)
	for i := range endpoints {
		if endpoints[i].method == http.MethodPost {
			v.Routes = append(v.Routes, "POST "+endpoints[i].path)
		}
	}
	for _, a := range s.allAccounts() {
		v.Accounts = append(v.Accounts, a.view())
	}
	s.answerJournaled(w, func() { s.render(w, "overview.html", v) })
}

func (a *account) view() accountView {
	v := accountView{Name: a.name, ID: a.acct, Ledger: a.ledger(), Counts: map[string]int{}}
	a.mu.Lock()
	defer a.mu.Unlock()
	v.Intents, v.Events = newest(a.intents.rows, shown), newest(a.events.rows, shown)
	for _, pi := range a.intents.rows {
		v.Counts[pi.Status]++
	}
	return v
}

// newest returns the last n rows, newest first.
func newest[T any](rows []T, n int) []T {
	out := slices.Clone(rows[max(0, len(rows)-n):])
	slices.Reverse(out)
	return out
}

// serveObject shows one object or event as the API would.
func (s *Server) serveObject(w http.ResponseWriter, r *http.Request) {
	a := s.existingAccount(r.PathValue("account"))
	if a == nil {
		http.Error(w, "There is no such account here.", http.StatusNotFound)
		return
	}
	id := r.PathValue("id")
	a.mu.Lock()
	o := a.lookup(id)
	a.mu.Unlock()
	if o == nil {
		http.Error(w, "There is no such object here.", http.StatusNotFound)
		return
	}
	body, err := json.MarshalIndent(o.wire(), "", "  ")
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	trail := s.log.newest(shown, func(e *requestEntry) bool { return e.Object == id })
	s.answerJournaled(w, func() {
		s.render(w, "object.html", map[string]any{"ID": id, "Account": a.name, "Body": string(body), "Kind": o.kind(), "Trail": trail})
	})
}

// serveReceipt is the page behind a charge's receipt_url.
func (s *Server) serveReceipt(w http.ResponseWriter, r *http.Request) {
	for _, a := range s.allAccounts() {
		a.mu.Lock()
		ch := a.charges.get(r.PathValue("id"))
		a.mu.Unlock()
		if ch != nil {
			s.render(w, "receipt.html", ch)
			return
		}
	}
	http.Error(w, "There is no such receipt.", http.StatusNotFound)
}
