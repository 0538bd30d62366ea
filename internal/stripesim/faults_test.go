package stripesim_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v76"

	"shop/internal/stripesim"
)

// TestFaults checks, kind by kind, what the client sees, whether money moved, and
// what a repeat with the same key finds.
func TestFaults(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]struct {
		status  int  // 0: no answer at all
		charged bool // money moved although the client may not know
		replay  int  // status of the repeat
		again   bool // the repeat is a replay
	}{
		"drop_before":              {0, false, 200, false},
		"drop_after":               {0, true, 200, true},
		"truncate":                 {0, true, 200, true},
		"reset":                    {0, true, 200, true},
		"broken_json":              {200, true, 200, true},
		"html_502":                 {502, false, 200, false},
		"html_502_with_effect":     {502, true, 200, true},
		"error_500_with_effect":    {500, true, 500, true},
		"error_500_without_effect": {500, false, 500, true},
		"rate_limit":               {429, false, 200, false},
		"conflict":                 {409, false, 200, false},
		"unavailable":              {503, false, 200, false},
		"unauthorized":             {401, false, 200, false},
		"slow":                     {200, true, 200, true},
		"slow_inside":              {200, true, 200, true},
		"slow_after":               {200, true, 200, true},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := start(t, stripesim.Config{})
			path := "/v1/payment_intents/" + s.create().ID + "/confirm"
			s.control("/_sim/faults", stripesim.FaultRule{Kind: kind, Count: 1, DelayMS: 30, Match: stripesim.FaultMatch{Endpoint: "POST /v1/payment_intents/{id}/confirm"}})
			began := time.Now()
			r, err := s.try("POST", path, map[string]string{"Idempotency-Key": "k"}, "payment_method=pm_card_visa")
			if want.status == 0 {
				require.Error(t, err)
			} else {
				require.NoError(t, err)
				require.Equal(t, want.status, r.Status)
			}
			if strings.HasPrefix(kind, "slow") {
				require.GreaterOrEqual(t, time.Since(began), 30*time.Millisecond)
			}
			require.Equal(t, want.status == 200 && kind != "broken_json" || want.status >= 400 && want.status != 502, r.Body != nil, "JSON or not: %s", r.Raw)
			require.Equal(t, want.charged, ledgerOf(s) > 0, "money moved")
			again := s.post(path, "k", "payment_method=pm_card_visa")
			require.Equal(t, want.replay, again.Status, again.Raw)
			require.Equal(t, want.again, again.Header.Get("Idempotent-Replayed") == "true")
			require.LessOrEqual(t, ledgerOf(s), int64(2500), "never charged twice")

			seen := s.requests(map[string][]string{"key": {"k"}})
			require.Len(t, seen, 2)
			require.Equal(t, kind, seen[0].Fault)
			require.Equal(t, want.again, seen[0].Executed)
			require.Equal(t, want.again, seen[1].Replayed)
		})
	}
}

func TestFaults_MatchCountAndProbability(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	limited := func(form string) bool { return s.post("/v1/payment_intents", "", form).Status == 429 }
	s.control("/_sim/faults", stripesim.FaultRule{Kind: "rate_limit", Match: stripesim.FaultMatch{Amount: 1313}})
	require.False(t, limited(cardOnly))
	require.True(t, limited("amount=1313&currency=usd"))
	cus := s.post("/v1/customers", "", "").Body["id"].(string)
	pi := s.create(func(p *stripe.PaymentIntentParams) { p.Amount, p.Customer = stripe.Int64(1414), &cus })
	for _, m := range []stripesim.FaultMatch{{Amount: 1414}, {Customer: cus}, {Object: pi.ID}} {
		s.control("/_sim/faults", stripesim.FaultRule{Kind: "rate_limit", Count: 1, Match: m})
		_, err := s.confirm(s.create().ID, "pm_card_visa")
		require.NoError(t, err)
		_, err = s.confirm(pi.ID, "pm_card_visa_chargeDeclined")
		require.Equal(t, 429, stripeError(t, err).HTTPStatusCode, "matched through the intent it confirms: %+v", m)
	}
	s.control("/_sim/faults", stripesim.FaultRule{Kind: "rate_limit", Count: 2, Match: stripesim.FaultMatch{Endpoint: "POST /v1/payment_intents"}})
	require.True(t, limited(cardOnly))
	require.True(t, limited(cardOnly))
	require.False(t, limited(cardOnly), "used up")
	require.Equal(t, 200, s.do("DELETE", "/_sim/faults", nil, "").Status)
	require.False(t, limited("amount=1313&currency=usd"))

	rule := s.control("/_sim/faults", stripesim.FaultRule{Kind: "rate_limit", Probability: 0.5})
	hits := 0
	for range 200 {
		if limited(cardOnly) {
			hits++
		}
	}
	require.InDelta(t, 100, hits, 50)
	s.do("DELETE", "/_sim/faults/"+rule["id"].(string), nil, "")
	require.Empty(t, s.get("/_sim/faults").Body["faults"])
	for _, bad := range []stripesim.FaultRule{{Kind: "nonsense"}, {Kind: "slow", Probability: 2}, {Kind: "slow", Count: -1}} {
		require.Equal(t, 400, s.do("POST", "/_sim/faults", nil, mustJSON(t, bad)).Status)
	}
}

func TestS16_LockTimeout(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{LockWait: 20 * time.Millisecond})
	pi := s.create()
	s.control("/_sim/faults", stripesim.FaultRule{Kind: "slow_inside", Count: 1, DelayMS: 1500, Match: stripesim.FaultMatch{Key: "slow"}})
	slow := make(chan reply, 1)
	go func() {
		r, _ := s.try("POST", "/v1/payment_intents/"+pi.ID+"/confirm", map[string]string{"Idempotency-Key": "slow"}, "payment_method=pm_card_visa")
		slow <- r
	}()
	var r reply
	require.Eventually(t, func() bool {
		r = s.post("/v1/payment_intents/"+pi.ID, "", "description=x")
		return r.Status == 429
	}, 5*time.Second, 5*time.Millisecond)
	require.Equal(t, "lock_timeout", r.Err["code"])
	require.Equal(t, "invalid_request_error", r.Err["type"])
	require.Contains(t, r.Err["message"], "This object cannot be accessed right now")
	require.Equal(t, 200, s.get("/v1/payment_intents/"+pi.ID).Status, "reading is not blocked")
	other := s.create()
	_, err := s.confirm(other.ID, "pm_card_visa")
	require.NoError(t, err, "other objects are not locked")
	require.Equal(t, 200, (<-slow).Status)
	require.Equal(t, 200, s.post("/v1/payment_intents/"+pi.ID, "", "description=x").Status)
}

func TestS16_WaitingForALockSucceedsInTime(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	pi := s.paid()
	s.control("/_sim/faults", stripesim.FaultRule{Kind: "slow_inside", Count: 1, DelayMS: 50, Match: stripesim.FaultMatch{Endpoint: "POST /v1/refunds"}})
	done := make(chan error, 2)
	for range 2 {
		go func() {
			_, err := s.api.Refunds.New(&stripe.RefundParams{PaymentIntent: &pi.ID, Amount: stripe.Int64(1000)})
			done <- err
		}()
	}
	require.NoError(t, <-done)
	require.NoError(t, <-done)
	require.EqualValues(t, 500, ledgerOf(s))
}

// TestS17_StripeGo repeats what the record measured with the real client: which
// answers it retries, always with the same key.
func TestS17_StripeGo(t *testing.T) {
	t.Parallel()
	for kind, calls := range map[string]int{"rate_limit": 1, "error_500_without_effect": 1, "conflict": 2, "unavailable": 2, "drop_after": 2, "drop_before": 2, "truncate": 2, "html_502": 2, "broken_json": 1} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := start(t, stripesim.Config{})
			s.control("/_sim/faults", stripesim.FaultRule{Kind: kind, Count: 1})
			_, err := s.client("sk_test_shop", 2).PaymentIntents.New(&stripe.PaymentIntentParams{Amount: stripe.Int64(100), Currency: stripe.String("usd")})
			require.Equal(t, calls == 1, err != nil, "%v", err)
			seen := s.requests(map[string][]string{"path": {"/v1/payment_intents"}})
			require.Len(t, seen, calls)
			require.NotEmpty(t, seen[0].IdempotencyKey)
			require.Equal(t, seen[0].IdempotencyKey, seen[len(seen)-1].IdempotencyKey)
			want := 1
			if kind == "rate_limit" || kind == "error_500_without_effect" {
				want = 0
			}
			require.Len(t, s.get("/v1/payment_intents").Body["data"], want)
		})
	}
}

func mustJSON(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return string(b)
}
