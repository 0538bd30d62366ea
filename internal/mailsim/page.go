package mailsim

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

//go:embed pages
var pageFiles embed.FS

const pageSize = 50

// pages is one template set per page, each with the layout around it.
var pages = func() map[string]*template.Template {
	set := map[string]*template.Template{}
	for _, name := range []string{"list", "message", "problem"} {
		set[name] = template.Must(template.New("layout.html").Funcs(template.FuncMap{"size": sizeInWords, "join": strings.Join}).
			ParseFS(pageFiles, "pages/layout.html", "pages/"+name+".html"))
	}
	return set
}()

// render writes a page whole or not at all, and not again to a browser that has
// it: the script of the list asks every second.
func (s *Server) render(w http.ResponseWriter, r *http.Request, status int, name string, view any) {
	var page bytes.Buffer
	if err := pages[name].Execute(&page, view); err != nil {
		s.log.Error("rendering page", "page", name, "error", err)
		http.Error(w, "This page could not be drawn; the log says why.", http.StatusInternalServerError)
		return
	}
	if status == http.StatusOK {
		sum := sha256.Sum256(page.Bytes())
		tag := `"` + hex.EncodeToString(sum[:8]) + `"`
		w.Header().Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(page.Bytes())
}

type listView struct {
	Title   string
	Query   string
	Rows    []rowView
	Total   int // matching
	All     int // in the inbox
	First   bool
	Older   string // link, empty at the end
	Faults  []Fault
	Hanging int
	Kinds   []string
}

type rowView struct {
	item
	URL  string
	When whenView
}

// whenView is a moment: short for the eye, exact for the machine and on hover.
type whenView struct{ Short, Long, Machine string }

func (s *Server) when(t time.Time) whenView {
	local, now := t.Local(), s.now().Local()
	short := local.Format("2 Jan 2006")
	if local.Year() == now.Year() {
		short = local.Format("2 Jan, 15:04")
	}
	if local.YearDay() == now.YearDay() && local.Year() == now.Year() {
		short = local.Format("15:04:05")
	}
	return whenView{Short: short, Long: local.Format("Monday, 2 January 2006, 15:04:05.000 MST"), Machine: t.UTC().Format(time.RFC3339Nano)}
}

func (s *Server) showList(w http.ResponseWriter, r *http.Request) {
	q := query{text: strings.TrimSpace(r.URL.Query().Get("q")), limit: pageSize}
	q.before, _ = strconv.ParseInt(r.URL.Query().Get("before"), 10, 64)
	armed, hanging := s.faults.state()
	items, total := s.box.list(q)
	all := s.box.size()
	view := listView{Title: "Inbox", Query: q.text, Total: total, All: all, First: q.before == 0, Faults: armed, Hanging: hanging, Kinds: faultKinds}
	for _, m := range items {
		view.Rows = append(view.Rows, rowView{item: m, URL: messagePath(m.ID), When: s.when(m.Time)})
	}
	if n := len(items); n == pageSize {
		last := items[n-1].ID
		q.before, q.limit = last, 1
		if older, _ := s.box.list(q); len(older) > 0 {
			view.Older = "/?" + url.Values{"q": {q.text}, "before": {strconv.FormatInt(last, 10)}}.Encode()
		}
	}
	s.render(w, r, http.StatusOK, "list", view)
}

type messageView struct {
	Title string
	rowView
	content
	SentAs string // the sender of the envelope, if the header says another
	View   string
	Tabs   []tabView
	Raw    string
	Twins  []rowView // other deliveries of the same Message-ID
}

type tabView struct {
	Name, URL string
	Current   bool
}

func (s *Server) showMessage(w http.ResponseWriter, r *http.Request) {
	m, raw, ok := s.find(r)
	if !ok {
		s.showNotFound(w, r)
		return
	}
	view := messageView{rowView: rowView{item: m, URL: messagePath(m.ID), When: s.when(m.Time)}, content: parse(raw)}
	view.Title = first(m.Subject, "(no subject)")
	if m.HeaderFrom != "" && !containsFold(m.HeaderFrom, m.From) {
		view.SentAs = m.From
	}
	if m.Deliveries > 1 {
		twins, _ := s.box.list(query{messageID: m.MessageID, limit: 20})
		for _, twin := range twins {
			if twin.ID != m.ID {
				view.Twins = append(view.Twins, rowView{item: twin, URL: messagePath(twin.ID), When: s.when(twin.Time)})
			}
		}
	}
	kinds := []string{"text", "headers", "raw"}
	if view.HTML != "" {
		kinds = append([]string{"html"}, kinds...)
	}
	view.View = kinds[0]
	for _, kind := range kinds {
		if kind == r.URL.Query().Get("view") {
			view.View = kind
		}
	}
	names := map[string]string{"html": "HTML", "text": "Text", "headers": "Headers", "raw": "Raw"}
	for _, kind := range kinds {
		view.Tabs = append(view.Tabs, tabView{Name: names[kind], URL: view.URL + "?view=" + kind, Current: kind == view.View})
	}
	if view.View == "raw" {
		view.Raw = strings.ToValidUTF8(string(raw), "�")
	}
	s.render(w, r, http.StatusOK, "message", view)
}

type problemView struct{ Title, Text string }

func (s *Server) showNotFound(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		s.render(w, r, http.StatusMethodNotAllowed, "problem", problemView{"Not like this", "This address only shows something; it takes nothing."})
		return
	}
	s.render(w, r, http.StatusNotFound, "problem", problemView{"Nothing here", "There is no such message or page. The inbox may have been emptied since."})
}

func sizeInWords(n any) string {
	bytes, _ := strconv.ParseFloat(fmt.Sprint(n), 64)
	switch {
	case bytes < 1000:
		return fmt.Sprintf("%.0f bytes", bytes)
	case bytes < 1_000_000:
		return fmt.Sprintf("%.1f kB", bytes/1000)
	}
	return fmt.Sprintf("%.1f MB", bytes/1_000_000)
}
