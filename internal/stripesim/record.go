package stripesim

import (
	"encoding/json"
	"fmt"
)

// record is one line of the journal. What a request did, the events it caused and
// the answer stored under its key share one record, so that a crash keeps all of
// them or none.
type record struct {
	Account  string          `json:"a,omitempty"` // account name
	Objects  []savedObject   `json:"o,omitempty"`
	Events   []*event        `json:"e,omitempty"`
	Key      *idemRecord     `json:"k,omitempty"`
	Body     json.RawMessage `json:"b,omitempty"`
	Request  *requestEntry   `json:"r,omitempty"`
	Delivery *deliveryMark   `json:"d,omitempty"`
	Clock    *int64          `json:"c,omitempty"` // nanoseconds the clock is ahead
}

type savedObject struct {
	Kind string          `json:"k"`
	Data json.RawMessage `json:"v"`
}

type outObject struct {
	Kind string `json:"k"`
	Data object `json:"v"`
}

// outRecord is record for writing: objects are encoded in place.
type outRecord struct {
	Account  string        `json:"a,omitempty"`
	Objects  []outObject   `json:"o,omitempty"`
	Events   []*event      `json:"e,omitempty"`
	Key      *idemRecord   `json:"k,omitempty"`
	Request  *requestEntry `json:"r,omitempty"`
	Delivery *deliveryMark `json:"d,omitempty"`
	Clock    *int64        `json:"c,omitempty"`

	body []byte // becomes "b": copied as it is, since it is JSON already
}

// save appends a record and returns its number. It panics on an encoding error,
// which would be a mistake in a struct of this package.
func (s *Server) save(r outRecord) uint64 {
	if s.journal.file == nil {
		return 0
	}
	line, err := json.Marshal(r)
	if err != nil {
		panic(fmt.Sprintf("stripesim: encoding a journal record: %v", err))
	}
	if r.body != nil {
		line = append(append(append(line[:len(line)-1], `,"b":`...), r.body...), '}')
	}
	return s.journal.append(line)
}

// replay applies one journal line while the server starts.
func (s *Server) replay(line []byte) error {
	var r record
	if err := json.Unmarshal(line, &r); err != nil {
		return err
	}
	if r.Clock != nil {
		s.clock.offset.Store(*r.Clock)
	}
	if r.Request != nil {
		s.log.add(*r.Request)
	}
	if r.Account == "" {
		return nil
	}
	a := s.account(r.Account)
	versions := make([]object, len(r.Objects))
	for i, o := range r.Objects {
		v, err := decode(o.Kind, o.Data)
		if err != nil {
			return err
		}
		versions[i] = v
		a.store(v)
	}
	for _, e := range r.Events {
		if e.Version < 0 || e.Version >= len(versions) {
			return fmt.Errorf("event %s is about object %d of %d", e.ID, e.Version, len(versions))
		}
		e.about = versions[e.Version]
		a.events.put(e)
		s.hooks.expect(a, e)
	}
	if r.Key != nil {
		r.Key.Body = string(r.Body)
		a.idem[r.Key.Key] = r.Key
	}
	if r.Delivery != nil {
		s.hooks.restore(a, *r.Delivery)
	}
	return nil
}
