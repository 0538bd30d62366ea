package stripesim

import (
	"encoding/json"
	"net/http"
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

// requestLog keeps the newest requests.
type requestLog struct {
	mu   sync.Mutex
	keep int
	n    uint64
	ring []requestEntry
}

// number returns the next request's number.
func (l *requestLog) number() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.n++
	return l.n
}

func (l *requestLog) add(e requestEntry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.n = max(l.n, e.N)
	l.ring = append(l.ring, e)
	if len(l.ring) >= 2*l.keep {
		l.ring = append([]requestEntry(nil), l.ring[len(l.ring)-l.keep:]...)
	}
}

// newest returns up to limit entries that match, oldest first.
func (l *requestLog) newest(limit int, match func(*requestEntry) bool) []requestEntry {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []requestEntry
	for i := len(l.ring) - 1; i >= 0 && len(out) < limit; i-- {
		if match(&l.ring[i]) {
			out = append(out, l.ring[i])
		}
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}

// logged returns the parameters as they may be kept: card data is masked.
func logged(p params) map[string]string {
	if len(p) == 0 {
		return nil
	}
	m := make(map[string]string, len(p))
	for _, f := range p {
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
// narrow it, ?since=N gives requests numbered above N, ?limit= (default 10,000).
func (s *Server) serveRequests(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	since, _ := strconv.ParseUint(q.Get("since"), 10, 64)
	limit, err := strconv.Atoi(q.Get("limit"))
	if err != nil || limit < 1 {
		limit = 10_000
	}
	entries := s.log.newest(limit, func(e *requestEntry) bool {
		return e.N > since && same(q.Get("key"), e.Key) && same(q.Get("endpoint"), e.Endpoint) &&
			same(q.Get("account"), e.Account) && same(q.Get("path"), e.Path)
	})
	if entries == nil {
		entries = []requestEntry{}
	}
	writeJSON(w, map[string]any{"requests": entries})
}

func same(want, got string) bool { return want == "" || want == got }

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	_ = enc.Encode(v) // the client went away: nothing to tell it
}
