package stripesim

import "sync/atomic"

// apiVersion is the version the simulator speaks and renders events in; stripe-go
// v76 accepts exactly this one.
const apiVersion = "2023-10-16"

// event is a stored Event. It points at the object version it is about and is
// rendered when somebody asks, since versions never change.
type event struct {
	ID      string       `json:"id"`
	Type    string       `json:"type"`
	Created int64        `json:"created"`
	Request eventRequest `json:"request"`
	Version int          `json:"version"`      // index of the object among those of its journal record
	Of      string       `json:"of,omitempty"` // in a compacted journal: id of the object, whose newest version it is
	To      []string     `json:"to,omitempty"` // endpoints it is to be delivered to

	about   object
	pending atomic.Int32 // deliveries not yet accepted
}

type eventRequest struct {
	ID             *string `json:"id"`
	IdempotencyKey *string `json:"idempotency_key"`
}

// Event is the wire form.
type Event struct {
	ID              string       `json:"id"`
	Object          string       `json:"object"`
	APIVersion      string       `json:"api_version"`
	Created         int64        `json:"created"`
	Data            eventData    `json:"data"`
	Livemode        bool         `json:"livemode"`
	PendingWebhooks int          `json:"pending_webhooks"`
	Request         eventRequest `json:"request"`
	Type            string       `json:"type"`
}

type eventData struct {
	Object any `json:"object"`
}

func (e *event) id() string   { return e.ID }
func (e *event) born() int64  { return e.Created }
func (e *event) kind() string { return "event" }

func (e *event) wire() any {
	return &Event{ID: e.ID, Object: "event", APIVersion: apiVersion, Created: e.Created,
		Data: eventData{Object: e.about.wire()}, PendingWebhooks: int(e.pending.Load()), Request: e.Request, Type: e.Type}
}

// emit notes that something happened to a version stored by this call.
func (c *call) emit(kind string, about object) {
	version := -1
	for i := len(c.versions) - 1; i >= 0 && version < 0; i-- {
		if c.versions[i] == about {
			version = i
		}
	}
	if version < 0 {
		c.put(about)
		version = len(c.versions) - 1
	}
	copies := 1
	if chance(c.srv.hooks.currentTricks().Twin) {
		copies = 2
	}
	for range copies {
		e := &event{ID: c.srv.ids.id("evt_3", 23), Type: kind, Created: c.now, Version: version, about: about,
			Request: eventRequest{ID: optional(c.requestID), IdempotencyKey: optional(c.key)},
			To:      c.srv.hooks.endpointsFor(c.acct, kind)}
		e.pending.Store(int32(len(e.To)))
		c.events = append(c.events, e)
		c.acct.events.put(e)
	}
}
