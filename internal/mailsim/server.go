// Package mailsim is a local SMTP server that keeps every message and shows it
// on a page. It stands for the mail provider in the demo and in tests: whether
// a receipt was sent once is asked here, from outside, and it misbehaves on
// demand the way a network does (see Fault).
package mailsim

import (
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/emersion/go-smtp"
)

// MaxMessageBytes is the largest message that is accepted; a larger one is
// answered with 552, as RFC 1870 asks.
const MaxMessageBytes = 10 << 20

// Config says where the mail is kept and how the inbox is reached.
type Config struct {
	// Journal is the file that keeps the messages over a restart. It is made
	// if missing and belongs to one process at a time. Empty keeps the
	// messages in memory.
	Journal string

	// PublicURL is the origin under which browsers reach Handler, such as
	// http://127.0.0.1:8025. It makes the links in the JSON answers absolute.
	PublicURL string

	// Logger gets a line for each message; nil discards them.
	Logger *slog.Logger

	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Server takes mail by SMTP and shows it by HTTP.
type Server struct {
	log    *slog.Logger
	now    func() time.Time
	public string
	box    *box
	faults *faults
	smtp   *smtp.Server

	mu        sync.Mutex
	closed    bool
	listeners []net.Listener
}

// New opens the journal and reads what is in it. A record that a crash cut
// short at the end is dropped: its sender was never told that it is kept.
func New(c Config) (*Server, error) {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	public, err := origin(c.PublicURL)
	if err != nil {
		return nil, err
	}
	box, err := openBox(c.Journal, c.Logger)
	if err != nil {
		return nil, err
	}
	s := &Server{log: c.Logger, now: c.Now, public: public, box: box, faults: newFaults()}
	s.smtp = smtp.NewServer(smtp.BackendFunc(s.newSession))
	s.smtp.Domain = "inbox.localhost"
	s.smtp.MaxMessageBytes = MaxMessageBytes
	s.smtp.MaxRecipients = 1000
	s.smtp.EnableSMTPUTF8 = true
	s.smtp.AllowInsecureAuth = true
	s.smtp.ReadTimeout = 5 * time.Minute
	s.smtp.WriteTimeout = time.Minute
	s.smtp.ErrorLog = slog.NewLogLogger(c.Logger.Handler(), slog.LevelDebug)
	return s, nil
}

func origin(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || (u.Path != "" && u.Path != "/") {
		return "", fmt.Errorf("mailsim: public URL is %q, expected an origin such as http://127.0.0.1:8025", text)
	}
	return u.Scheme + "://" + u.Host, nil
}

// ServeSMTP takes mail on l until Close, after which it returns nil.
func (s *Server) ServeSMTP(l net.Listener) error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return l.Close()
	}
	s.listeners = append(s.listeners, l)
	s.mu.Unlock()
	err := s.smtp.Serve(&listener{Listener: l, faults: s.faults})
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	return fmt.Errorf("mailsim: taking mail on %s: %w", l.Addr(), err)
}

// Close ends all SMTP connections and closes the journal. Messages that were
// answered with 250 are in it.
func (s *Server) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	listeners := s.listeners
	s.mu.Unlock()
	s.faults.clear()
	for _, l := range listeners {
		_ = l.Close()
	}
	_ = s.smtp.Close()
	return s.box.close()
}

// Handler serves the page and the JSON interface.
func (s *Server) Handler() http.Handler { return s.routes() }
