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
	Past     bool            `json:"p,omitempty"` // the objects are older versions, kept for the events about them
	Settled  bool            `json:"s,omitempty"` // what comes before is a compacted journal
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
	Past     bool          `json:"p,omitempty"`
	Settled  bool          `json:"s,omitempty"`

	body []byte // becomes "b": copied as it is, since it is JSON already
}

// save appends a record and returns its number.
func (s *Server) save(r outRecord) uint64 {
	if s.journal.file == nil {
		return 0
	}
	return s.journal.append(r.line())
}

// line encodes a record. It panics on an encoding error, which would be a mistake
// in a struct of this package.
func (r *outRecord) line() []byte {
	line, err := json.Marshal(r)
	if err != nil {
		panic(fmt.Sprintf("stripesim: encoding a journal record: %v", err))
	}
	if r.body != nil {
		line = append(append(append(line[:len(line)-1], `,"b":`...), r.body...), '}')
	}
	return line
}

// replay applies one journal line while the server starts.
func (s *Server) replay(line []byte) error {
	var r record
	if err := json.Unmarshal(line, &r); err != nil {
		return err
	}
	s.replayed += int64(len(line))
	if r.Settled {
		s.settled = s.replayed
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
	return r.apply(s, s.account(r.Account))
}

// apply puts what a record holds into its account.
func (r *record) apply(s *Server, a *account) error {
	versions := make([]object, len(r.Objects))
	for i, o := range r.Objects {
		shelf := a.shelves[o.Kind]
		if shelf == nil {
			return fmt.Errorf("unknown kind of object %q", o.Kind)
		}
		v, err := shelf.decode(o.Data)
		if err != nil {
			return err
		}
		versions[i] = v
		if !r.Past {
			a.store(v)
		}
	}
	for _, e := range r.Events {
		if e.Of != "" {
			e.about = a.lookup(e.Of)
		} else if e.Version >= 0 && e.Version < len(versions) {
			e.about = versions[e.Version]
		}
		if e.about == nil {
			return fmt.Errorf("event %s is about object %d of %d %s", e.ID, e.Version, len(versions), e.Of)
		}
		e.Of = ""
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
