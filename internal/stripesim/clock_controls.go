package stripesim

import (
	"net/http"
	"time"
)

func (s *Server) serveClock(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, map[string]any{"now": s.clock.now(), "unix": s.clock.unix(), "ahead_seconds": int64(time.Duration(s.clock.offset.Load()).Seconds())})
}

// moveClock takes {"advance":"25h"} or {"set":"2026-11-30T12:00:00Z"} or {"reset":true}.
func (s *Server) moveClock(w http.ResponseWriter, r *http.Request) {
	var move struct {
		Advance string    `json:"advance"`
		Set     time.Time `json:"set"`
		Reset   bool      `json:"reset"`
	}
	body := readControl(r)
	move.Advance = body.form.Get("advance")
	if body.form == nil {
		if err := body.into(&move); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
	}
	offset := time.Duration(s.clock.offset.Load())
	switch {
	case move.Reset:
		offset = 0
	case !move.Set.IsZero():
		offset = move.Set.Sub(s.cfg.Now())
	default:
		by, err := time.ParseDuration(move.Advance)
		if err != nil {
			http.Error(w, `Say {"advance":"25h"}, {"set":"2026-11-30T12:00:00Z"} or {"reset":true}: `+err.Error(), http.StatusBadRequest)
			return
		}
		offset += by
	}
	s.clock.offset.Store(int64(offset))
	n := int64(offset)
	if err := s.journal.wait(s.save(outRecord{Clock: &n})); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if err := s.passTime(); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	body.answer(w, r, s.serveClock)
}

// tick lets time pass on its own, once a minute.
func (s *Server) tick() {
	defer s.ticking.Done()
	ticker := time.NewTicker(time.Minute)
	defer ticker.Stop()
	for {
		if err := s.passTime(); err != nil {
			s.logger.Error("letting time pass", "error", err)
		}
		select {
		case <-ticker.C:
		case <-s.closing:
			return
		}
	}
}

// passTime does what the passing of time does: holds expire.
func (s *Server) passTime() error {
	for _, a := range s.allAccounts() {
		if err := s.internal(a, s.cfg.PublicURL, (*call).expireHolds); err != nil {
			return err
		}
	}
	return nil
}
