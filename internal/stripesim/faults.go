package stripesim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"time"
)

// faultKinds are the ways to misbehave, with what each means for the caller.
var faultKinds = []struct{ Kind, Says string }{
	{"drop_before", "connection closed before anything executed"},
	{"drop_after", "executed and stored, then the connection is closed without an answer"},
	{"slow", "answer waits delay_ms before the request reaches the layer"},
	{"slow_inside", "waits delay_ms while executing: key and object are held (409, lock_timeout for others)"},
	{"slow_after", "executed, then waits delay_ms before answering"},
	{"truncate", "executed, then half of the body under a full Content-Length"},
	{"broken_json", "executed, then a complete 200 whose JSON is broken"},
	{"reset", "executed, then the connection is reset in mid body"},
	{"html_502", "a gateway's HTML 502; nothing executed"},
	{"html_502_with_effect", "executed and stored, but a gateway answers HTML 502"},
	{"error_500_with_effect", "executed, but the answer given and stored is a 500"},
	{"error_500_without_effect", "a 500, stored under the key; nothing executed"},
	{"rate_limit", "429 before the layer: says nothing about the key"},
	{"conflict", "409 idempotency_key_in_use before the layer"},
	{"unavailable", "503 with Stripe-Should-Retry: true; nothing executed"},
	{"unauthorized", "401 before the layer, as while a key is being rolled"},
}

// FaultRule says which requests misbehave and how.
type FaultRule struct {
	ID          string     `json:"id"`
	Kind        string     `json:"kind"`
	Probability float64    `json:"probability"` // 0 or absent means always
	Count       int        `json:"count"`       // how many requests it may hit; 0 is no limit
	Hits        int        `json:"hits"`
	DelayMS     int64      `json:"delay_ms,omitempty"`
	JitterMS    int64      `json:"jitter_ms,omitempty"` // exponential on top of delay_ms
	Match       FaultMatch `json:"match"`
}

// faultSet holds the rules in force. Rules do not survive a restart.
type faultSet struct {
	mu    sync.Mutex
	rules []*FaultRule
	n     int
}

// add puts a rule in force and returns it with its id.
func (f *faultSet) add(r FaultRule) (FaultRule, error) {
	known := func(k struct{ Kind, Says string }) bool { return k.Kind == r.Kind }
	switch {
	case !slices.ContainsFunc(faultKinds, known):
		return r, fmt.Errorf("unknown kind of fault %q; GET /_sim/faults lists the kinds", r.Kind)
	case r.Probability < 0 || r.Probability > 1:
		return r, fmt.Errorf("probability %v is not between 0 and 1", r.Probability)
	case r.Count < 0 || r.DelayMS < 0 || r.JitterMS < 0:
		return r, fmt.Errorf("count, delay_ms and jitter_ms must not be negative")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n++
	r.ID, r.Hits = "fault_"+strconv.Itoa(f.n), 0
	f.rules = append(f.rules, &r)
	return r, nil
}

// remove takes a rule out of force, or all of them for id "".
func (f *faultSet) remove(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules = slices.DeleteFunc(f.rules, func(r *FaultRule) bool { return id == "" || r.ID == id })
}

// list returns copies of the rules.
func (f *faultSet) list() []FaultRule {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := make([]FaultRule, len(f.rules))
	for i, r := range f.rules {
		out[i] = *r
	}
	return out
}

// pick returns the first rule that hits a request, counted as used; nil is none.
func (f *faultSet) pick(x *exchange) *faultHit {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.rules {
		if r.Count > 0 && r.Hits >= r.Count || !r.Match.covers(x) || r.Probability > 0 && rand.Float64() >= r.Probability {
			continue
		}
		r.Hits++
		delay := time.Duration(r.DelayMS) * time.Millisecond
		if r.JitterMS > 0 {
			delay += time.Duration(rand.ExpFloat64() * float64(r.JitterMS) * float64(time.Millisecond))
		}
		return &faultHit{name: r.Kind, delay: delay}
	}
	return nil
}
