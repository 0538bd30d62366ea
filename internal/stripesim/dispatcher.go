package stripesim

import (
	"math/rand/v2"
	"sync"
	"time"
)

// configEndpoint is the id of the endpoint given in Config.
const configEndpoint = "config"

// WebhookTricks are the liberties that webhook delivery takes on demand; the
// shares are between 0 and 1.
type WebhookTricks struct {
	Duplicate    float64 `json:"duplicate"`     // delivered twice
	Twin         float64 `json:"twin"`          // two event objects for one fact
	Drop         float64 `json:"drop"`          // never delivered; GET /v1/events still has it
	DelayMS      int64   `json:"delay_ms"`      // every delivery waits
	ShuffleMS    int64   `json:"shuffle_ms"`    // every delivery waits a random time up to this: reorders
	BeforeAnswer bool    `json:"before_answer"` // delivered before the API call that caused it is answered
}

// deliveryMark journals the end of a delivery.
type deliveryMark struct {
	Event    string `json:"event"`
	Endpoint string `json:"endpoint"`
	OK       bool   `json:"ok"`
}

// delivery is one event on its way to one endpoint.
type delivery struct {
	acct     *account
	event    *event
	endpoint string
	attempt  int
	last     bool          // no retry after this one
	done     chan struct{} // closed after the first attempt
}

// dispatcher delivers events: a queue, a few workers, retries with backoff.
type dispatcher struct {
	srv *Server

	mu      sync.Mutex
	ready   *sync.Cond
	queue   []*delivery
	closed  bool
	tricks  WebhookTricks
	pending map[[2]string]*delivery // while the journal is replayed: not yet delivered
	recent  []Attempt
	workers sync.WaitGroup
}

func newDispatcher(s *Server) *dispatcher {
	d := &dispatcher{srv: s, pending: map[[2]string]*delivery{}}
	d.ready = sync.NewCond(&d.mu)
	return d
}

// endpointsFor lists the endpoints that want events of a type. The caller holds
// the account's mutex.
func (d *dispatcher) endpointsFor(a *account, kind string) []string {
	var to []string
	if d.srv.cfg.WebhookURL != "" {
		to = append(to, configEndpoint)
	}
	for _, h := range a.endpoints.rows {
		if h.wants(kind) {
			to = append(to, h.ID)
		}
	}
	return to
}

// expect notes, during replay, an event that may not have been delivered.
func (d *dispatcher) expect(a *account, e *event) {
	for _, id := range e.To {
		e.pending.Add(1)
		d.pending[[2]string{e.ID, id}] = &delivery{acct: a, event: e, endpoint: id}
	}
}

// restore notes, during replay, that a delivery had ended.
func (d *dispatcher) restore(a *account, m deliveryMark) {
	if waiting := d.pending[[2]string{m.Event, m.Endpoint}]; waiting != nil && m.OK {
		waiting.event.pending.Add(-1)
	}
	delete(d.pending, [2]string{m.Event, m.Endpoint})
}

// start resumes what replay found undelivered and starts the workers.
func (d *dispatcher) start() {
	for _, p := range d.pending {
		d.queue = append(d.queue, p)
	}
	d.pending = nil
	for range d.srv.cfg.WebhookWorkers {
		d.workers.Add(1)
		go d.work()
	}
}

// enqueue schedules the deliveries of new events, tricks included. With
// before_answer it returns only after the first attempts.
func (d *dispatcher) enqueue(a *account, events []*event) {
	if len(events) == 0 {
		return
	}
	tricks := d.currentTricks()
	var first []chan struct{}
	for _, e := range events {
		for _, id := range e.To {
			one := &delivery{acct: a, event: e, endpoint: id, done: make(chan struct{})}
			if chance(tricks.Drop) {
				d.end(one, false)
				continue
			}
			first = append(first, one.done)
			delay := time.Duration(tricks.DelayMS) * time.Millisecond
			if tricks.ShuffleMS > 0 {
				delay += time.Duration(rand.Int64N(tricks.ShuffleMS * int64(time.Millisecond)))
			}
			d.pushLater(one, delay)
			if chance(tricks.Duplicate) {
				d.pushLater(&delivery{acct: a, event: e, endpoint: id, last: true}, delay)
			}
		}
	}
	if !tricks.BeforeAnswer {
		return
	}
	for _, done := range first {
		select {
		case <-done:
		case <-d.srv.closing:
		case <-time.After(d.srv.cfg.WebhookTimeout):
		}
	}
}

func chance(share float64) bool { return share > 0 && rand.Float64() < share }

func (d *dispatcher) currentTricks() WebhookTricks {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.tricks
}

func (d *dispatcher) setTricks(t WebhookTricks) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tricks = t
}

func (d *dispatcher) push(one *delivery) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.closed {
		d.queue = append(d.queue, one)
		d.ready.Signal()
	}
}

func (d *dispatcher) pushLater(one *delivery, after time.Duration) {
	if after <= 0 {
		d.push(one)
		return
	}
	time.AfterFunc(after, func() { d.push(one) })
}

// work delivers until the dispatcher is closed. What is left in the queue is
// found again in the journal at the next start.
func (d *dispatcher) work() {
	defer d.workers.Done()
	for {
		d.mu.Lock()
		for len(d.queue) == 0 && !d.closed {
			d.ready.Wait()
		}
		if d.closed {
			d.mu.Unlock()
			return
		}
		one := d.queue[0]
		d.queue = d.queue[1:]
		d.mu.Unlock()
		d.try(one)
	}
}

func (d *dispatcher) close() {
	d.mu.Lock()
	d.closed = true
	d.ready.Broadcast()
	d.mu.Unlock()
	d.workers.Wait()
}
