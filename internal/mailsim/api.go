package mailsim

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// apiMessage is a message in a JSON list.
type apiMessage struct {
	ID         int64     `json:"id"`
	ReceivedAt time.Time `json:"received_at"`
	From       string    `json:"from"` // of the envelope, as are the recipients
	To         []string  `json:"to"`
	Subject    string    `json:"subject"`
	MessageID  string    `json:"message_id"` // without angle brackets
	HeaderFrom string    `json:"header_from"`
	HeaderTo   string    `json:"header_to"`
	Date       string    `json:"date"` // as the sender wrote it
	Size       int64     `json:"size"`
	Deliveries int       `json:"deliveries"` // messages here with this Message-ID
	URL        string    `json:"url"`
}

// apiFull is one message with its contents.
type apiFull struct {
	apiMessage
	Headers  []apiHeader `json:"headers"`
	Text     string      `json:"text"`
	HTML     string      `json:"html"`
	Parts    []apiPart   `json:"parts"`
	Problems []string    `json:"problems"`
	Raw      string      `json:"raw"`
}

type apiHeader struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type apiPart struct {
	Name string `json:"name"`
	Type string `json:"type"`
	Size int    `json:"size"`
	URL  string `json:"url"`
}

func (s *Server) apiMessage(m item) apiMessage {
	return apiMessage{ID: m.ID, ReceivedAt: m.Time, From: m.From, To: m.To, Subject: m.Subject, MessageID: m.MessageID,
		HeaderFrom: m.HeaderFrom, HeaderTo: m.HeaderTo, Date: m.Date, Size: m.Size, Deliveries: m.Deliveries,
		URL: s.public + messagePath(m.ID)}
}

func messagePath(id int64) string { return "/messages/" + strconv.FormatInt(id, 10) }

func (s *Server) apiHealth(w http.ResponseWriter, _ *http.Request) {
	n := s.box.size()
	writeJSON(w, http.StatusOK, map[string]any{"status": "ok", "messages": n})
}

// apiList answers GET /api/messages: newest first, all that match unless
// limited. to is a whole recipient address, q part of any address.
func (s *Server) apiList(w http.ResponseWriter, r *http.Request) {
	values := r.URL.Query()
	for name := range values {
		switch name {
		case "to", "message_id", "q", "before", "limit":
		default:
			problem(w, http.StatusBadRequest, fmt.Sprintf("parameter %q is not known, expected to, message_id, q, before or limit", name))
			return
		}
	}
	q := query{to: values.Get("to"), messageID: bareID(values.Get("message_id")), text: values.Get("q")}
	for name, field := range map[string]*int64{"before": &q.before, "limit": new(int64)} {
		text := values.Get(name)
		if text == "" {
			continue
		}
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil || n < 1 {
			problem(w, http.StatusBadRequest, fmt.Sprintf("%s is %q, expected a number from 1", name, text))
			return
		}
		*field = n
		if name == "limit" {
			q.limit = int(n)
		}
	}
	items, total := s.box.list(q)
	messages := make([]apiMessage, 0, len(items))
	for _, m := range items {
		messages = append(messages, s.apiMessage(m))
	}
	writeJSON(w, http.StatusOK, map[string]any{"total": total, "messages": messages})
}

func (s *Server) apiGet(w http.ResponseWriter, r *http.Request) {
	m, raw, ok := s.find(r)
	if !ok {
		problem(w, http.StatusNotFound, fmt.Sprintf("there is no message %q", r.PathValue("id")))
		return
	}
	c := parse(raw)
	full := apiFull{apiMessage: s.apiMessage(m), Headers: []apiHeader{}, Text: c.Text, HTML: c.HTML, Parts: []apiPart{},
		Problems: append([]string{}, c.Problems...), Raw: string(raw)}
	for _, h := range c.Headers {
		full.Headers = append(full.Headers, apiHeader(h))
	}
	for i, p := range c.Parts {
		full.Parts = append(full.Parts, apiPart{Name: p.Name, Type: p.Type, Size: p.Size,
			URL: fmt.Sprintf("%s%s/parts/%d", s.public, messagePath(m.ID), i)})
	}
	writeJSON(w, http.StatusOK, full)
}

func (s *Server) apiClear(w http.ResponseWriter, _ *http.Request) {
	n, err := s.box.clear()
	if err != nil {
		problem(w, http.StatusInternalServerError, err.Error())
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"deleted": n})
}

func (s *Server) apiFaults(w http.ResponseWriter, _ *http.Request) {
	armed, hanging := s.faults.state()
	writeJSON(w, http.StatusOK, map[string]any{"faults": append([]Fault{}, armed...), "hanging": hanging})
}

// apiArm answers POST /api/faults; count is 1 if left out.
func (s *Server) apiArm(w http.ResponseWriter, r *http.Request) {
	fault := Fault{Count: 1}
	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()
	err := decoder.Decode(&fault)
	if err == nil {
		if _, more := decoder.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("something follows the object")
		}
	}
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		problem(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("body is over %d bytes", tooLarge.Limit))
		return
	case err != nil:
		problem(w, http.StatusBadRequest, fmt.Sprintf(`reading fault: %v; expected e.g. {"kind": "tempfail", "count": 2, "match": "ada@"}`, err))
		return
	}
	if err := fault.validate(); err != nil {
		problem(w, http.StatusUnprocessableEntity, err.Error())
		return
	}
	s.faults.arm(fault)
	writeJSON(w, http.StatusCreated, fault)
}

// apiDisarm answers DELETE /api/faults: no more faults, and what hangs goes on.
func (s *Server) apiDisarm(w http.ResponseWriter, r *http.Request) {
	s.faults.clear()
	s.apiFaults(w, r)
}

func (s *Server) apiNotFound(w http.ResponseWriter, r *http.Request) {
	problem(w, http.StatusNotFound, r.Method+" "+r.URL.Path+" is nothing here; there are GET and DELETE /api/messages, "+
		"GET /api/messages/{id}, and GET, POST and DELETE /api/faults")
}

// find returns the message that the path names. One whose content cannot be
// read is logged and counts as missing.
func (s *Server) find(r *http.Request) (item, []byte, bool) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return item{}, nil, false
	}
	m, raw, ok, err := s.box.get(id)
	if err != nil {
		s.log.Error("reading message", "id", id, "error", err)
		return item{}, nil, false
	}
	return m, raw, ok
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		problem(w, http.StatusInternalServerError, err.Error())
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n'))
}

// problem answers with RFC 9457 problem details.
func problem(w http.ResponseWriter, status int, detail string) {
	body, _ := json.Marshal(map[string]any{"status": status, "title": http.StatusText(status), "detail": detail})
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n'))
}
