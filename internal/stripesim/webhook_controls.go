package stripesim

import "net/http"

// trickButton is a set of tricks that the page offers by name.
type trickButton struct {
	Name, Label string
	Tricks      WebhookTricks
}

var trickButtons = []trickButton{
	{"none", "As it should be", WebhookTricks{}},
	{"duplicate", "Deliver everything twice", WebhookTricks{Duplicate: 1}},
	{"twin", "Two events for one fact", WebhookTricks{Twin: 1}},
	{"shuffle", "Out of order", WebhookTricks{ShuffleMS: 3000}},
	{"late", "Ten seconds late", WebhookTricks{DelayMS: 10_000}},
	{"early", "Before the API answers", WebhookTricks{BeforeAnswer: true}},
	{"drop", "Never deliver", WebhookTricks{Drop: 1}},
}

// setWebhookTricks replaces the tricks in force with the JSON of WebhookTricks, or
// with those of a button.
func (s *Server) setWebhookTricks(w http.ResponseWriter, r *http.Request) {
	var t WebhookTricks
	body := readControl(r)
	if body.form == nil {
		if err := body.into(&t); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
	}
	for _, b := range trickButtons {
		if b.Name == body.form.Get("trick") {
			t = b.Tricks
		}
	}
	if t.DelayMS < 0 || t.ShuffleMS < 0 {
		http.Error(w, "delay_ms and shuffle_ms must not be negative", http.StatusBadRequest)
		return
	}
	s.hooks.setTricks(t)
	body.answer(w, r, func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, t) })
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
