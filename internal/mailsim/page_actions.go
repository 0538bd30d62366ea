package mailsim

import (
	"mime"
	"net/http"
	"strconv"
)

// serveHTML serves the HTML part as a document of its own, for the frame. The
// base element, the first and hence the only one that counts, makes links open
// in a new tab.
func (s *Server) serveHTML(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Security-Policy", messagePolicy)
	_, raw, ok := s.find(r)
	if !ok {
		s.showNotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write([]byte("<!doctype html><base target=\"_blank\">\n" + parse(raw).HTML))
}

// serveRaw serves the message as it was received.
func (s *Server) serveRaw(w http.ResponseWriter, r *http.Request) {
	m, raw, ok := s.find(r)
	if !ok {
		s.showNotFound(w, r)
		return
	}
	attach(w, "message-"+strconv.FormatInt(m.ID, 10)+".eml", raw)
}

func (s *Server) servePart(w http.ResponseWriter, r *http.Request) {
	_, raw, ok := s.find(r)
	n, err := strconv.Atoi(r.PathValue("n"))
	if !ok || err != nil {
		s.showNotFound(w, r)
		return
	}
	parts := parse(raw).Parts
	if n < 0 || n >= len(parts) {
		s.showNotFound(w, r)
		return
	}
	attach(w, first(parts[n].Name, "part-"+strconv.Itoa(n)), parts[n].body)
}

// attach has the browser save a file instead of showing it: it may be of any
// kind, and none of it shall act here.
func attach(w http.ResponseWriter, name string, body []byte) {
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Security-Policy", messagePolicy)
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body)
}

func (s *Server) postClear(w http.ResponseWriter, r *http.Request) {
	if _, err := s.box.clear(); err != nil {
		s.render(w, r, http.StatusInternalServerError, "problem", problemView{"The inbox is not empty", err.Error()})
		return
	}
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

func (s *Server) postFault(w http.ResponseWriter, r *http.Request) {
	count, err := strconv.Atoi(r.PostFormValue("count"))
	if err != nil {
		count = 0
	}
	fault := Fault{Kind: r.PostFormValue("kind"), Count: count, Match: r.PostFormValue("match")}
	if err := fault.validate(); err != nil {
		s.render(w, r, http.StatusUnprocessableEntity, "problem", problemView{"That fault is not possible", err.Error()})
		return
	}
	s.faults.arm(fault)
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

func (s *Server) postClearFaults(w http.ResponseWriter, r *http.Request) {
	s.faults.clear()
	http.Redirect(w, r, "/", http.StatusSeeOther)
}
