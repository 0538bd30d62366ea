package mailsim

import (
	"strings"
	"time"
)

// envelope is what the SMTP dialogue said about a message. What its headers
// say is another matter and may differ.
type envelope struct {
	ID   int64     `json:"id"` // rises with each message and is never given twice
	Time time.Time `json:"time"`
	From string    `json:"from"`
	To   []string  `json:"to"`
	Size int64     `json:"size"` // bytes of the message as received
}

// summary is what the list needs of a message.
type summary struct {
	envelope
	Subject    string // decoded
	MessageID  string // without angle brackets
	HeaderFrom string // decoded
	HeaderTo   string // decoded
	Date       string // as the sender wrote it
}

// concerns tells whether text is part of one of the message's addresses,
// whatever the case.
func (m *summary) concerns(text string) bool {
	if text == "" || containsFold(m.From, text) || containsFold(m.HeaderFrom, text) || containsFold(m.HeaderTo, text) {
		return true
	}
	for _, to := range m.To {
		if containsFold(to, text) {
			return true
		}
	}
	return false
}

// isTo tells whether address is among the recipients of the envelope.
func (m *summary) isTo(address string) bool {
	for _, to := range m.To {
		if strings.EqualFold(to, address) {
			return true
		}
	}
	return false
}

func containsFold(s, part string) bool {
	return strings.Contains(strings.ToLower(s), strings.ToLower(part))
}

// bareID is a Message-ID without angle brackets and spaces.
func bareID(id string) string {
	id = strings.TrimSpace(id)
	return strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(id, "<"), ">"))
}
