package stripesim

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Config says how a Server runs. The zero value keeps state in memory and
// delivers no webhooks.
type Config struct {
	Journal       string           // file that keeps the state; "" keeps it in memory only
	Fsync         bool             // fsync every group of records: survives power loss, not only kill -9
	PublicURL     string           // origin where browsers reach the simulator; "" takes the request's Host
	WebhookURL    string           // endpoint that gets the events of every account; "" = none
	WebhookSecret string           // whsec_… that signs them
	Now           func() time.Time // nil = time.Now
	Logger        *slog.Logger     // nil = slog.Default()

	LockWait         time.Duration // how long a request waits for a locked object before 429 lock_timeout; default 2s
	MaxConfirmations int           // confirmations after which a PaymentIntent is cancelled; default 50
	SearchLag        time.Duration // age at which an object becomes searchable; 0 = default 20s, negative = none
	SearchFlap       float64       // share of reads in which search loses an object it had found before
	WebhookAttempts  int           // delivery attempts before giving up; default 20
	WebhookBackoff   time.Duration // wait after the first failed attempt, doubling; default 500ms
	WebhookTimeout   time.Duration // per attempt; default 10s
	WebhookWorkers   int           // concurrent deliveries; default 4
	KeepRequests     int           // requests that /_sim/requests remembers; default 100,000
	RateLimit        int           // reads, and writes, a second in one account before 429 rate_limit; 0 = no limit
	CompactAt        int64         // bytes of journal above which it is compacted at start; default 32 MiB
}

func (c *Config) fill() {
	setDefault(&c.LockWait, 2*time.Second)
	setDefault(&c.MaxConfirmations, 50)
	setDefault(&c.SearchLag, 20*time.Second)
	setDefault(&c.WebhookAttempts, 20)
	setDefault(&c.WebhookBackoff, 500*time.Millisecond)
	setDefault(&c.WebhookTimeout, 10*time.Second)
	setDefault(&c.WebhookWorkers, 4)
	setDefault(&c.KeepRequests, 100_000)
	setDefault(&c.CompactAt, 32<<20)
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	c.PublicURL = strings.TrimRight(c.PublicURL, "/")
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Server is a running simulator.
type Server struct {
	cfg     Config
	logger  *slog.Logger
	clock   clock
	ids     *idSource
	journal *journal
	hooks   *dispatcher
	faults  faultSet
	log     requestLog
	client  *http.Client
	handler http.Handler

	mu       sync.RWMutex
	accounts map[string]*account

	replayed int64 // bytes of journal read at start
	settled  int64 // those of them that a compacted journal begins with

	running context.Context // cancelled by Close
	stop    context.CancelFunc
	closing chan struct{}
	ticking sync.WaitGroup
	once    sync.Once
}

// New starts a simulator from its journal. A journal that is damaged anywhere but
// in its last line is an error that names the line.
func New(cfg Config) (*Server, error) {
	cfg.fill()
	s := &Server{cfg: cfg, logger: cfg.Logger, ids: newIDSource(), accounts: map[string]*account{}, closing: make(chan struct{}),
		client: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	s.clock.base, s.log.keep, s.log.limit = cfg.Now, cfg.KeepRequests, maxLoggedBytes
	s.running, s.stop = context.WithCancel(context.Background())
	s.hooks = newDispatcher(s)
	var err error
	if s.journal, err = openJournal(cfg.Journal, cfg.Fsync, s.replay); err != nil {
		return nil, err
	}
	s.log.sort()
	if err := s.compact(); err != nil {
		s.logger.Warn("journal not compacted; it goes on growing", "error", err)
	}
	s.handler = s.routes()
	s.hooks.start()
	s.ticking.Add(1)
	go s.tick()
	return s, nil
}

// Handler serves the API, Stripe.js and the simulator's own pages.
func (s *Server) Handler() http.Handler { return s.handler }

// Close stops deliveries and flushes the journal. Requests still in flight must
// have ended, as http.Server.Shutdown sees to.
func (s *Server) Close() error {
	err := errors.New("closing the simulator: it was closed before")
	s.once.Do(func() {
		close(s.closing)
		s.stop()
		s.hooks.close()
		s.ticking.Wait()
		err = s.journal.close()
	})
	return err
}

// account returns the account of a key, opening it if it is new.
func (s *Server) account(name string) *account {
	if a := s.existingAccount(name); a != nil {
		return a
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.accounts[name] == nil {
		s.accounts[name] = newAccount(name)
	}
	return s.accounts[name]
}

func (s *Server) existingAccount(name string) *account {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.accounts[name]
}

// allAccounts returns the accounts sorted by name.
func (s *Server) allAccounts() []*account {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := make([]*account, 0, len(s.accounts))
	for _, a := range s.accounts {
		out = append(out, a)
	}
	slices.SortFunc(out, func(a, b *account) int { return strings.Compare(a.name, b.name) })
	return out
}

// origin is where a browser reaches the simulator.
func (s *Server) origin(r *http.Request) string {
	if s.cfg.PublicURL != "" {
		return s.cfg.PublicURL
	}
	return "http://" + r.Host
}

// internal runs a change that no API request asked for: a person at the bank's
// page, or time passing.
func (s *Server) internal(a *account, origin string, change func(*call)) error {
	c := &call{srv: s, acct: a, ep: &endpoint{}, now: s.clock.unix(), origin: origin}
	a.mu.Lock()
	change(c)
	rec := outRecord{Account: a.name, Events: c.events}
	for _, o := range c.versions {
		rec.Objects = append(rec.Objects, outObject{o.kind(), o})
	}
	if len(c.versions) > 0 {
		a.last = s.save(rec)
	}
	last := a.last
	a.mu.Unlock()
	if err := s.journal.wait(last); err != nil {
		return err
	}
	s.hooks.enqueue(a, c.events)
	return nil
}
