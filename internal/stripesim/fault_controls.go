package stripesim

import (
	"net/http"
	"strconv"
)

// serveFaults lists the rules in force and the kinds there are.
func (s *Server) serveFaults(w http.ResponseWriter, _ *http.Request) {
	kinds := map[string]string{}
	for _, k := range faultKinds {
		kinds[k.Kind] = k.Says
	}
	writeJSON(w, map[string]any{"faults": s.faults.list(), "kinds": kinds})
}

// addFault takes a FaultRule as JSON, or kind, count and endpoint from the page's form.
func (s *Server) addFault(w http.ResponseWriter, r *http.Request) {
	var rule FaultRule
	body := readControl(r)
	if body.form != nil {
		rule.Kind, rule.Match.Endpoint = body.form.Get("kind"), body.form.Get("endpoint")
		rule.Count, _ = strconv.Atoi(body.form.Get("count"))               // empty is no limit
		rule.DelayMS, _ = strconv.ParseInt(body.form.Get("delay"), 10, 64) // empty is no delay
	} else if err := body.into(&rule); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	added, err := s.faults.add(rule)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	body.answer(w, r, func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, added) })
}

// removeFault takes one rule out of force, or all.
func (s *Server) removeFault(w http.ResponseWriter, r *http.Request) {
	s.faults.remove(r.PathValue("id"))
	s.serveFaults(w, r)
}

// clearFaults is the page's button for removing all rules.
func (s *Server) clearFaults(w http.ResponseWriter, r *http.Request) {
	s.faults.remove("")
	http.Redirect(w, r, "/", http.StatusSeeOther)
}
