package stripesim

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// requestEntry is one API request as the simulator saw it.
type requestEntry struct {
	N         uint64            `json:"n"`
	Time      time.Time         `json:"time"` // simulator clock
	Account   string            `json:"account,omitempty"`
	RequestID string            `json:"request_id"`
	Method    string            `json:"method"`
	Path      string            `json:"path"`
	Endpoint  string            `json:"endpoint"` // route, e.g. POST /v1/payment_intents/{id}/confirm
	Key       string            `json:"idempotency_key,omitempty"`
	Params    map[string]string `json:"params,omitempty"`
	Status    int               `json:"status"`             // what the client was sent, 0 when the connection was dropped
	Replayed  bool              `json:"replayed,omitempty"` // answered from the store
	Executed  bool              `json:"executed"`           // business logic ran for this request
	Code      string            `json:"code,omitempty"`     // error code or type
	Fault     string            `json:"fault,omitempty"`    // fault injected
	Object    string            `json:"object,omitempty"`   // id of the object answered with
}

// Bounds of what the log keeps of parameters, so that a flood of large requests
// cannot fill the memory.
const (
	maxLoggedValue = 1000     // bytes of one value
	maxLoggedForm  = 16 << 10 // bytes of one request's names and values
	maxLoggedBytes = 64 << 20 // bytes of all, in a server
)

// requestLog keeps the newest requests.
type requestLog struct {
	mu    sync.Mutex
	keep  int // entries
	limit int // bytes of parameters
	n     uint64
	size  int // bytes of parameters kept
	ring  []requestEntry
}

// add keeps an entry and returns it numbered. Numbers follow the order of keeping,
// so that a reader who asks for what came after N misses nothing.
func (l *requestLog) add(e requestEntry) requestEntry {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e.N == 0 {
		e.N = l.n + 1
	}
	l.n = max(l.n, e.N)
	l.ring = append(l.ring, e)
	l.size += e.size()
	if len(l.ring) >= 2*l.keep {
		l.drop(len(l.ring) - l.keep)
	} else if l.size > l.limit {
		l.drop((len(l.ring) + 1) / 2)
	}
	return e
}

// drop forgets the n oldest entries.
func (l *requestLog) drop(n int) {
	for i := range n {
		l.size -= l.ring[i].size()
	}
	l.ring = append([]requestEntry(nil), l.ring[n:]...)
}

// size is what the parameters of an entry take, in bytes.
func (e *requestEntry) size() (n int) {
	for name, v := range e.Params {
		n += len(name) + len(v)
	}
	return n
}

// sort puts the entries in order of their numbers after a journal was replayed.
func (l *requestLog) sort() {
	slices.SortStableFunc(l.ring, func(a, b requestEntry) int { return cmp.Compare(a.N, b.N) })
}

// after returns up to limit entries numbered above since that match, oldest first.
func (l *requestLog) after(since uint64, limit int, match func(*requestEntry) bool) []requestEntry {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := []requestEntry{}
	for i := range l.ring {
		if l.ring[i].N > since && match(&l.ring[i]) && len(out) < limit {
			out = append(out, l.ring[i])
		}
	}
	return out
}

// newest returns up to limit entries that match, oldest first.
func (l *requestLog) newest(limit int, match func(*requestEntry) bool) []requestEntry {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := []requestEntry{}
	for i := len(l.ring) - 1; i >= 0 && len(out) < limit; i-- {
		if match(&l.ring[i]) {
			out = append(out, l.ring[i])
		}
	}
	slices.Reverse(out)
	return out
}

// logged returns the parameters as they may be kept: card data is masked, what is
// very long is cut.
func logged(p params) map[string]string {
	if len(p) == 0 {
		return nil
	}
	m := make(map[string]string, len(p))
	left := maxLoggedForm
	for _, f := range p {
		if len(f.val) > maxLoggedValue {
			f.val = strings.ToValidUTF8(f.val[:maxLoggedValue], "") + "…"
		}
		if left -= len(f.key) + len(f.val); left < 0 {
			m["…"] = "…"
			break
		}
		switch {
		case strings.HasSuffix(f.key, "[number]") && len(f.val) > 4:
			f.val = "…" + f.val[len(f.val)-4:]
		case strings.HasSuffix(f.key, "[cvc]"), f.key == "client_secret", f.key == "key":
			f.val = "…"
		}
		if old, repeated := m[f.key]; repeated {
			f.val = old + "," + f.val
		}
		m[f.key] = f.val
	}
	return m
}

// serveRequests answers GET /_sim/requests: ?key=, ?endpoint=, ?account=, ?path=
// narrow it, ?limit= (default 10,000) bounds it. It gives the newest, oldest first;
// with ?since=N the oldest numbered above N, which pages through all there are.
func (s *Server) serveRequests(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	limit, err := strconv.Atoi(q.Get("limit"))
	if err != nil || limit < 1 {
		limit = 10_000
	}
	match := func(e *requestEntry) bool {
		return same(q.Get("key"), e.Key) && same(q.Get("endpoint"), e.Endpoint) && same(q.Get("account"), e.Account) && same(q.Get("path"), e.Path)
	}
	if !q.Has("since") {
		newest := s.log.newest(limit, match)
		s.answerJournaled(w, func() { writeJSON(w, map[string]any{"requests": newest}) })
		return
	}
	since, err := strconv.ParseUint(q.Get("since"), 10, 64)
	if err != nil {
		http.Error(w, "since must be the number of a request, e.g. since=120", http.StatusBadRequest)
		return
	}
	after := s.log.after(since, limit, match)
	s.answerJournaled(w, func() { writeJSON(w, map[string]any{"requests": after}) })
}

// answerJournaled answers once everything that was just read is in the journal:
// what was shown must not be undone by a crash.
func (s *Server) answerJournaled(w http.ResponseWriter, answer func()) {
	if err := s.journal.flush(); err != nil {
		http.Error(w, "The journal cannot be written, so nothing is certain: "+err.Error(), http.StatusInternalServerError)
		return
	}
	answer()
}

func same(want, got string) bool { return want == "" || want == got }

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	_ = enc.Encode(v) // the client went away: nothing to tell it
}
