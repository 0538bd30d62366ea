package stripesim_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v76"
	"github.com/stripe/stripe-go/v76/client"

	"shop/internal/stripesim"
)

// sim is a simulator behind a real socket and a stripe-go client for it.
type sim struct {
	t    testing.TB
	URL  string
	srv  *stripesim.Server
	http *httptest.Server
	api  *client.API
	now  *fakeClock
}

// fakeClock is a clock that tests move.
type fakeClock struct {
	mu sync.Mutex
	t  time.Time
}

func (c *fakeClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *fakeClock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// start runs a simulator until the test ends.
func start(t testing.TB, cfg stripesim.Config) *sim {
	t.Helper()
	s := &sim{t: t, now: &fakeClock{t: time.Now()}}
	if cfg.Now == nil {
		cfg.Now = s.now.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	srv, err := stripesim.New(cfg)
	require.NoError(t, err)
	s.srv, s.http = srv, httptest.NewServer(srv.Handler())
	s.http.Config.ErrorLog = slog.NewLogLogger(cfg.Logger.Handler(), slog.LevelDebug)
	s.URL = s.http.URL
	s.api = s.client("sk_test_shop", 0)
	t.Cleanup(func() {
		s.http.CloseClientConnections()
		s.http.Close()
		_ = srv.Close() // some tests close it themselves
	})
	return s
}

// client makes a stripe-go client as docs/stripe-sim.md configures it.
func (s *sim) client(key string, retries int64) *client.API {
	b := stripe.GetBackendWithConfig(stripe.APIBackend, &stripe.BackendConfig{
		URL: stripe.String(s.URL), HTTPClient: &http.Client{Timeout: 20 * time.Second}, MaxNetworkRetries: stripe.Int64(retries),
		EnableTelemetry: stripe.Bool(true), LeveledLogger: &stripe.LeveledLogger{Level: stripe.LevelNull},
	})
	return client.New(key, &stripe.Backends{API: b, Uploads: b, Connect: b})
}

// reply is a raw HTTP answer.
type reply struct {
	Status int
	Header http.Header
	Raw    string
	Body   map[string]any
	Err    map[string]any // the error envelope's content
}

// plainClient keeps no connection: net/http repeats a request with an
// Idempotency-Key on its own when a used connection dies, which would hide what a
// fault did.
var plainClient = &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{DisableKeepAlives: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// do sends a raw request; fields alternate name and value.
func (s *sim) do(method, path string, header map[string]string, body string) reply {
	s.t.Helper()
	r, err := s.try(method, path, header, body)
	require.NoError(s.t, err)
	return r
}

func (s *sim) try(method, path string, header map[string]string, body string) (reply, error) {
	req, err := http.NewRequest(method, s.URL+path, strings.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Authorization", "Bearer sk_test_shop")
	for k, v := range header {
		req.Header.Set(k, v)
	}
	resp, err := plainClient.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return reply{}, err
	}
	out := reply{Status: resp.StatusCode, Header: resp.Header, Raw: string(raw)}
	if json.Unmarshal(raw, &out.Body) == nil {
		out.Err, _ = out.Body["error"].(map[string]any)
	}
	return out, nil
}

// post sends a form with an optional idempotency key.
func (s *sim) post(path, key string, form string) reply {
	s.t.Helper()
	header := map[string]string{}
	if key != "" {
		header["Idempotency-Key"] = key
	}
	return s.do("POST", path, header, form)
}

func (s *sim) get(path string) reply {
	s.t.Helper()
	return s.do("GET", path, nil, "")
}

// quick is do without the socket, for what a test only prepares or looks at.
func (s *sim) quick(method, path, form string) reply {
	s.t.Helper()
	out := s.raw(method, path, form)
	require.NoError(s.t, json.Unmarshal([]byte(out.Raw), &out.Body), out.Raw)
	out.Err, _ = out.Body["error"].(map[string]any)
	return out
}

// raw is quick without reading the answer.
func (s *sim) raw(method, path, form string) reply {
	req := httptest.NewRequest(method, path, strings.NewReader(form))
	req.Host = strings.TrimPrefix(s.URL, "http://")
	req.Header.Set("Authorization", "Bearer sk_test_shop")
	w := httptest.NewRecorder()
	s.srv.Handler().ServeHTTP(w, req)
	return reply{Status: w.Code, Header: w.Header(), Raw: w.Body.String()}
}

// control posts JSON to one of the simulator's switches.
func (s *sim) control(path string, v any) map[string]any {
	s.t.Helper()
	body, err := json.Marshal(v)
	require.NoError(s.t, err)
	r := s.do("POST", path, map[string]string{"Content-Type": "application/json"}, string(body))
	require.Equal(s.t, 200, r.Status, r.Raw)
	return r.Body
}

const cardOnly = "amount=2500&currency=usd&payment_method_types[]=card"

// create opens a PaymentIntent with stripe-go.
func (s *sim) create(change ...func(*stripe.PaymentIntentParams)) *stripe.PaymentIntent {
	s.t.Helper()
	p := &stripe.PaymentIntentParams{Amount: stripe.Int64(2500), Currency: stripe.String("usd"), PaymentMethodTypes: stripe.StringSlice([]string{"card"})}
	for _, f := range change {
		f(p)
	}
	pi, err := s.api.PaymentIntents.New(p)
	require.NoError(s.t, err)
	return pi
}

// confirm confirms with a payment method.
func (s *sim) confirm(id, method string) (*stripe.PaymentIntent, error) {
	return s.api.PaymentIntents.Confirm(id, &stripe.PaymentIntentConfirmParams{PaymentMethod: stripe.String(method)})
}

// paid opens and pays a PaymentIntent.
func (s *sim) paid() *stripe.PaymentIntent {
	s.t.Helper()
	pi, err := s.confirm(s.create().ID, "pm_card_visa")
	require.NoError(s.t, err)
	require.Equal(s.t, stripe.PaymentIntentStatusSucceeded, pi.Status)
	return pi
}

// ledger returns the money moved in the account "shop".
func (s *sim) ledger() ledger {
	s.t.Helper()
	var out struct{ Accounts []ledger }
	require.NoError(s.t, json.Unmarshal([]byte(s.get("/_sim/ledger?account=shop").Raw), &out))
	if len(out.Accounts) == 0 {
		return ledger{}
	}
	return out.Accounts[0]
}

type ledger struct {
	Totals  map[string]struct{ Charges, Captured, Refunded, Net int64 }
	Charges []struct {
		Charge        string
		PaymentIntent string `json:"payment_intent"`
		Amount        int64
		Metadata      map[string]string
	}
}

// requests returns the journal of requests.
func (s *sim) requests(filter url.Values) []logged {
	s.t.Helper()
	var out struct{ Requests []logged }
	require.NoError(s.t, json.Unmarshal([]byte(s.get("/_sim/requests?"+filter.Encode()).Raw), &out))
	return out.Requests
}

type logged struct {
	Endpoint, Key, Code, Fault, Path string
	RequestID                        string `json:"request_id"`
	IdempotencyKey                   string `json:"idempotency_key"`
	Params                           map[string]string
	Status                           int
	Replayed, Executed               bool
}

// stripeError unwraps a stripe-go error.
func stripeError(t testing.TB, err error) *stripe.Error {
	t.Helper()
	var se *stripe.Error
	require.ErrorAs(t, err, &se)
	return se
}
