package mailsim

import (
	"fmt"
	"slices"
	"sync"
)

// Kinds of misbehaviour.
const (
	// faultAcceptThenDrop keeps the message and drops the connection before
	// the answer: the sender cannot know that it was delivered.
	faultAcceptThenDrop = "accept_then_drop"
	// faultRejectRcpt answers 550 to recipients that match.
	faultRejectRcpt = "reject_rcpt"
	// faultTempfail answers 451 to the message and does not keep it.
	faultTempfail = "tempfail"
	// faultHang gives no answer to the message until released, and keeps it
	// then; it does not if the connection ends before.
	faultHang = "hang"
	// faultRefuse closes a new connection at once.
	faultRefuse = "refuse_connection"
)

var faultKinds = []string{faultAcceptThenDrop, faultRejectRcpt, faultTempfail, faultHang, faultRefuse}

// Fault is one misbehaviour asked for, as the JSON interface shows it.
type Fault struct {
	Kind  string `json:"kind"`
	Count int    `json:"count"`           // how many times it still strikes
	Match string `json:"match,omitempty"` // part of an address; empty matches all
}

const maxFaultCount = 1_000_000

func (f Fault) validate() error {
	if !slices.Contains(faultKinds, f.Kind) {
		return fmt.Errorf("kind is %q, expected one of %q", f.Kind, faultKinds)
	}
	if f.Count < 1 || f.Count > maxFaultCount {
		return fmt.Errorf("count is %d, expected 1 to %d", f.Count, maxFaultCount)
	}
	if f.Kind == faultRefuse && f.Match != "" {
		return fmt.Errorf("match is %q, but %s strikes before any address is known: leave match out", f.Match, faultRefuse)
	}
	return nil
}

// faults are those asked for and not used up, in order.
type faults struct {
	mu       sync.Mutex
	armed    []Fault
	hanging  int
	released chan struct{} // closed to let the hanging go on
}

func newFaults() *faults { return &faults{released: make(chan struct{})} }

func (f *faults) arm(fault Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.armed = append(f.armed, fault)
}

// strike uses up one of the first fault of a kind that matches an address.
func (f *faults) strike(kind string, addresses ...string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.use(kind, addresses)
}

func (f *faults) use(kind string, addresses []string) bool {
	for i := range f.armed {
		fault := &f.armed[i]
		if fault.Kind != kind || (fault.Match != "" && !slices.ContainsFunc(addresses, func(a string) bool { return containsFold(a, fault.Match) })) {
			continue
		}
		if fault.Count--; fault.Count == 0 {
			f.armed = slices.Delete(f.armed, i, i+1)
		}
		return true
	}
	return false
}

// strikeHang is strike for faultHang: the returned channel, if any, is closed
// when the message may go on. Call unhang after it.
func (f *faults) strikeHang(addresses ...string) <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.use(faultHang, addresses) {
		return nil
	}
	f.hanging++
	return f.released
}

func (f *faults) unhang() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hanging--
}

// clear disarms all and releases what hangs.
func (f *faults) clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.armed = nil
	close(f.released)
	f.released = make(chan struct{})
}

// state is a copy of what is armed, and how many messages hang.
func (f *faults) state() ([]Fault, int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.armed), f.hanging
}
