package stripesim_test

import (
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"shop/internal/stripesim"
)

// known is what the model believes about a key.
type known struct {
	what   int
	status int
	body   string
	id     string // request id of the first request
	at     time.Time
}

// asks are requests by kind: what they send and how a first execution is answered.
var asks = []struct {
	path, form string
	status     int
	stored     bool
}{
	{"/v1/payment_intents", cardOnly, 200, true},
	{"/v1/payment_intents", cardOnly + "&metadata[n]=2", 200, true},
	{"/v1/customers", "email=a@example.com", 200, true},
	{"/v1/payment_intents", cardOnly + "&confirm=true&payment_method=pm_card_visa_chargeDeclined", 402, true},
	{"/v1/payment_intents", "amount=2500&currency=usd&confirm=true&payment_method=pm_card_visa", 400, true},
	{"/v1/payment_intents", cardOnly + "&bogus=1", 400, false},
	{"/v1/payment_intents", "amount=1.5&currency=usd", 400, false},
	{"/v1/refunds", "charge=ch_none", 404, false},
}

// TestIdempotencyModel compares the layer with a few lines of model under random
// requests, passing time and restarts.
func TestIdempotencyModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp("", "model")
		require.NoError(rt, err)
		defer os.RemoveAll(dir)
		clock := &fakeClock{t: time.Unix(1_800_000_000, 0)}
		cfg := stripesim.Config{Journal: filepath.Join(dir, "journal"), Now: clock.Now, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}
		srv, err := stripesim.New(cfg)
		require.NoError(rt, err)
		defer func() { _ = srv.Close() }() // closed and replaced below
		model := map[string]known{}
		rt.Repeat(map[string]func(*rapid.T){
			"request": func(rt *rapid.T) {
				key := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "key")
				what := rapid.IntRange(0, len(asks)-1).Draw(rt, "what")
				got := record(srv, asks[what].path, key, asks[what].form)
				old, has := model[key]
				if has && clock.Now().Sub(old.at) >= 24*time.Hour {
					has = false
				}
				switch {
				case has && old.what == what:
					require.Equal(rt, old.body, got.Body.String())
					require.Equal(rt, old.status, got.Code)
					require.Equal(rt, "true", got.Header().Get("Idempotent-Replayed"))
					require.Equal(rt, old.id, got.Header().Get("Original-Request"))
				case has:
					require.Equal(rt, 400, got.Code)
					require.Contains(rt, got.Body.String(), "idempotency_error")
				default:
					require.Equal(rt, asks[what].status, got.Code, got.Body.String())
					require.Empty(rt, got.Header().Get("Idempotent-Replayed"))
					delete(model, key)
					if asks[what].stored {
						model[key] = known{what, got.Code, got.Body.String(), got.Header().Get("Request-Id"), clock.Now()}
					}
				}
			},
			"time passes": func(rt *rapid.T) { clock.add(time.Duration(rapid.IntRange(1, 13).Draw(rt, "hours")) * time.Hour) },
			"restart": func(rt *rapid.T) {
				require.NoError(rt, srv.Close())
				srv, err = stripesim.New(cfg)
				require.NoError(rt, err)
			},
		})
	})
}

func record(srv *stripesim.Server, path, key, form string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(form))
	r.Header.Set("Authorization", "Bearer sk_test_shop")
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	w := httptest.NewRecorder()
	srv.Handler().ServeHTTP(w, r)
	return w
}

// TestTorture lets many clients pay orders through a provider that misbehaves in
// every way at once. Each client repeats its request with the same key until it
// knows the outcome; in the end each order has exactly one charge.
func TestTorture(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{Journal: filepath.Join(t.TempDir(), "journal"), LockWait: 5 * time.Millisecond})
	for _, kind := range []string{"drop_before", "drop_after", "truncate", "reset", "broken_json", "html_502", "html_502_with_effect", "rate_limit", "conflict", "unavailable", "unauthorized", "slow_inside", "slow_after"} {
		s.control("/_sim/faults", stripesim.FaultRule{Kind: kind, Probability: 0.06, DelayMS: 3, Match: stripesim.FaultMatch{Endpoint: "POST"}})
	}
	const clients, orders = 8, 12
	var wg sync.WaitGroup
	for c := range clients {
		wg.Go(func() {
			for o := range orders {
				payOrder(t, s, fmt.Sprintf("ord_%d", (c%4)*orders+o)) // two clients work on each order
			}
		})
	}
	wg.Wait()
	s.do("DELETE", "/_sim/faults", nil, "")
	seen := map[string]int{}
	for _, ch := range s.ledger().Charges {
		seen[ch.Metadata["order"]]++
	}
	require.Len(t, seen, 4*orders)
	for order, n := range seen {
		require.Equal(t, 1, n, "%s was charged %d times", order, n)
	}
	executed := map[string]int{}
	for _, r := range s.requests(nil) {
		if r.Executed && r.IdempotencyKey != "" {
			executed[r.IdempotencyKey]++
		}
	}
	for key, n := range executed {
		require.Equal(t, 1, n, "key %s executed %d times", key, n)
	}
}

// payOrder creates and confirms with keys of the order, repeating what is unclear.
func payOrder(t *testing.T, s *sim, order string) {
	until := func(path, key, form string) reply {
		for range 200 {
			r, err := s.try("POST", path, map[string]string{"Idempotency-Key": key}, form)
			if err == nil && r.Status == 200 && r.Body != nil {
				return r
			}
			if r.Err != nil && r.Err["code"] == "payment_intent_unexpected_state" {
				return r
			}
		}
		t.Errorf("%s never got an answer", key)
		return reply{}
	}
	created := until("/v1/payment_intents", order+":create", cardOnly+"&metadata[order]="+order)
	if id, ok := created.Body["id"].(string); ok {
		until("/v1/payment_intents/"+id+"/confirm", fmt.Sprintf("%s:confirm:%d", order, rand.IntN(2)), "payment_method=pm_card_visa")
	}
}
