package stripesim

import "net/http"

// setWebhookTricks replaces the tricks in force with the JSON of WebhookTricks.
func (s *Server) setWebhookTricks(w http.ResponseWriter, r *http.Request) {
	var t WebhookTricks
	if err := readControl(r).into(&t); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if t.DelayMS < 0 || t.ShuffleMS < 0 {
		http.Error(w, "delay_ms and shuffle_ms must not be negative", http.StatusBadRequest)
		return
	}
	s.hooks.setTricks(t)
	writeJSON(w, t)
}

// rollSecret gives an endpoint a new secret; the old one signs for 24 hours more.
func (s *Server) rollSecret(w http.ResponseWriter, r *http.Request) {
	a := s.existingAccount(r.PathValue("account"))
	if a == nil {
		http.Error(w, "no such account", http.StatusNotFound)
		return
	}
	secret := ""
	err := s.internal(a, s.origin(r), func(c *call) {
		stored := a.endpoints.get(r.PathValue("id"))
		if stored == nil || stored.Sim.Deleted {
			return
		}
		secret = s.ids.id("whsec_", 32)
		next := *stored
		next.Sim.Secrets = []hookSecret{{Secret: secret}}
		for _, old := range stored.Sim.Secrets {
			if old.Until == 0 {
				old.Until = c.now + int64(keyLife.Seconds())
			}
			next.Sim.Secrets = append(next.Sim.Secrets, old)
		}
		c.put(&next)
	})
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	case secret == "":
		http.Error(w, "no such webhook endpoint", http.StatusNotFound)
	default:
		writeJSON(w, map[string]string{"secret": secret})
	}
}

// resendEvent delivers an event once more to the endpoints it went to.
func (s *Server) resendEvent(w http.ResponseWriter, r *http.Request) {
	a := s.existingAccount(r.PathValue("account"))
	if a == nil {
		http.Error(w, "no such account", http.StatusNotFound)
		return
	}
	a.mu.Lock()
	e := a.events.get(r.PathValue("id"))
	a.mu.Unlock()
	if e == nil {
		http.Error(w, "no such event", http.StatusNotFound)
		return
	}
	for _, id := range e.To {
		s.hooks.push(&delivery{acct: a, event: e, endpoint: id, last: true})
	}
	readControl(r).answer(w, r, func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, map[string]int{"deliveries": len(e.To)}) })
}
