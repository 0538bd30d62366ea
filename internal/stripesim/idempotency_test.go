package stripesim_test

import (
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v76"

	"shop/internal/stripesim"
)

func TestI1_KeyHasNoEffectOnGetAndDelete(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	first := s.post("/v1/payment_intents", "", cardOnly).Body["id"].(string)
	second := s.post("/v1/payment_intents", "", cardOnly).Body["id"].(string)
	key := map[string]string{"Idempotency-Key": "k"}
	require.Equal(t, first, s.do("GET", "/v1/payment_intents/"+first, key, "").Body["id"])
	r := s.do("GET", "/v1/payment_intents/"+second, key, "")
	require.Equal(t, second, r.Body["id"])
	require.Empty(t, r.Header.Get("Idempotent-Replayed"))
	require.Equal(t, 200, s.post("/v1/payment_intents", "k", cardOnly).Status, "a GET must not have taken the key")
}

func TestI2_KeyOfMoreThan255BytesIsRefused(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	require.Equal(t, 200, s.post("/v1/payment_intents", strings.Repeat("k", 255), cardOnly).Status)
	r := s.post("/v1/payment_intents", strings.Repeat("k", 300), cardOnly)
	require.Equal(t, 400, r.Status)
	require.Equal(t, "invalid_request_error", r.Err["type"])
	require.Equal(t, 200, s.post("/v1/payment_intents", "ключ-ü", cardOnly).Status, "non-ASCII keys are taken")
	require.Equal(t, 200, s.do("POST", "/v1/payment_intents", map[string]string{"Idempotency-Key": ""}, cardOnly).Status)
	require.Equal(t, 200, s.do("POST", "/v1/payment_intents", map[string]string{"Idempotency-Key": ""}, cardOnly+"&description=x").Status, "an empty key is no key")
}

func TestI3_ServerErrorsAreStored(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	for kind, charges := range map[string]int64{"error_500_with_effect": 1, "error_500_without_effect": 0} {
		pi := s.create()
		before := s.ledger().Totals["usd"].Charges
		s.control("/_sim/faults", stripesim.FaultRule{Kind: kind, Count: 1, Match: stripesim.FaultMatch{Key: kind}})
		first := s.post("/v1/payment_intents/"+pi.ID+"/confirm", kind, "payment_method=pm_card_visa")
		again := s.post("/v1/payment_intents/"+pi.ID+"/confirm", kind, "payment_method=pm_card_visa")
		require.Equal(t, 500, first.Status)
		require.Equal(t, "api_error", first.Err["type"])
		require.Equal(t, 500, again.Status)
		require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))
		require.Equal(t, first.Raw, again.Raw)
		require.Equal(t, charges, s.ledger().Totals["usd"].Charges-before, kind)
	}
}

func TestI4_ValidationErrorsAreNotStored(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	for _, bad := range []string{"amount=25.00&currency=usd", "currency=usd", cardOnly + "&bogus=1", "amount=1&currency=usd", "amount=100&currency=zzz"} {
		require.Equal(t, 400, s.post("/v1/payment_intents", "k", bad).Status, bad)
	}
	r := s.post("/v1/payment_intents", "k", cardOnly)
	require.Equal(t, 200, r.Status, "the key must still be free")
	require.Empty(t, r.Header.Get("Idempotent-Replayed"))
}

func TestI5_ExecutedRefusalIsReplayed(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	pi := s.paid()
	form := "charge=" + pi.LatestCharge.ID
	require.Equal(t, 200, s.post("/v1/refunds", "a", form).Status)
	first, again := s.post("/v1/refunds", "b", form), s.post("/v1/refunds", "b", form)
	require.Equal(t, "charge_already_refunded", first.Err["code"])
	require.NotContains(t, first.Err, "param")
	require.Equal(t, 400, again.Status)
	require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))
}

func TestI6_DeclineIsReplayed(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	pi := s.create()
	p := &stripe.PaymentIntentConfirmParams{PaymentMethod: stripe.String("pm_card_visa_chargeDeclined")}
	p.SetIdempotencyKey("op:1:confirm:1")
	for i := range 3 {
		_, err := s.api.PaymentIntents.Confirm(pi.ID, p)
		se := stripeError(t, err)
		require.Equal(t, 402, se.HTTPStatusCode)
		require.Equal(t, i > 0, se.LastResponse.Header.Get("Idempotent-Replayed") == "true")
	}
	charges := s.get("/v1/charges?payment_intent=" + pi.ID).Body["data"].([]any)
	require.Len(t, charges, 1, "the issuer was asked once")
}

func TestI7_RateLimitAndBadKeyAreNotStored(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	require.Equal(t, 401, s.do("POST", "/v1/payment_intents", map[string]string{"Authorization": "", "Idempotency-Key": "k"}, cardOnly).Status)
	s.control("/_sim/faults", stripesim.FaultRule{Kind: "rate_limit", Count: 1})
	limited := s.post("/v1/payment_intents", "k", cardOnly)
	require.Equal(t, 429, limited.Status)
	require.Equal(t, "rate_limit", limited.Err["code"])
	first := s.post("/v1/payment_intents", "k", cardOnly)
	require.Equal(t, 200, first.Status)
	s.control("/_sim/faults", stripesim.FaultRule{Kind: "rate_limit", Count: 1})
	require.Equal(t, 429, s.post("/v1/payment_intents", "k", cardOnly).Status, "429 is answered before the layer, even for a known key")
	require.Equal(t, first.Raw, s.post("/v1/payment_intents", "k", cardOnly).Raw)
}

func TestI8_OtherParametersAreAConflict(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	first := s.post("/v1/payment_intents", "k", cardOnly)
	r := s.post("/v1/payment_intents", "k", cardOnly+"&description=other")
	require.Equal(t, 400, r.Status)
	require.Equal(t, "idempotency_error", r.Err["type"])
	for _, absent := range []string{"code", "param", "decline_code"} {
		require.NotContains(t, r.Err, absent)
	}
	require.Contains(t, r.Err["message"], "Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a key other than 'k'")
	require.Equal(t, first.Raw, s.post("/v1/payment_intents", "k", cardOnly).Raw, "nothing changed")
	require.Len(t, s.get("/v1/payment_intents").Body["data"], 1)
}

func TestI8_OrderOfParametersDoesNotMatter(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	first := s.post("/v1/payment_intents", "k", "amount=2500&currency=usd&metadata[a]=1&metadata[b]=2")
	second := s.post("/v1/payment_intents", "k", "metadata[b]=2&currency=usd&metadata[a]=1&amount=2500")
	require.Equal(t, first.Raw, second.Raw)
}

func TestI9_SameKeyOtherEndpoint(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	pi := s.post("/v1/payment_intents", "k", cardOnly).Body["id"].(string)
	r := s.post("/v1/payment_intents/"+pi+"/confirm", "k", "payment_method=pm_card_visa")
	require.Equal(t, 400, r.Status)
	require.Equal(t, "idempotency_error", r.Err["type"])
	require.Equal(t, "requires_payment_method", s.get("/v1/payment_intents/" + pi).Body["status"])
}

func TestI9_AccountsHaveTheirOwnKeys(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	first := s.post("/v1/payment_intents", "k", cardOnly)
	other := s.do("POST", "/v1/payment_intents", map[string]string{"Authorization": "Bearer sk_test_other", "Idempotency-Key": "k"}, cardOnly)
	require.NotEqual(t, first.Body["id"], other.Body["id"])
}

func TestI10_Message(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	s.post("/v1/payment_intents", "my-key", cardOnly)
	r := s.post("/v1/payment_intents", "my-key", "amount=2501&currency=usd&payment_method_types[]=card")
	require.Equal(t, "Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a key other than 'my-key' if you meant to execute a different request.", r.Err["message"])
}

func TestI11_ConcurrentSameKeyIs409(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	pi := s.create()
	s.control("/_sim/faults", stripesim.FaultRule{Kind: "slow_inside", Count: 1, DelayMS: 1500, Match: stripesim.FaultMatch{Key: "k"}})
	path := "/v1/payment_intents/" + pi.ID + "/confirm"
	answers := make(chan reply, 2)
	for range 2 { // whichever comes first executes slowly, the other meets it
		go func() {
			r, _ := s.try("POST", path, map[string]string{"Idempotency-Key": "k"}, "payment_method=pm_card_visa")
			answers <- r
		}()
	}
	conflict := <-answers
	require.Equal(t, 409, conflict.Status)
	require.Equal(t, "idempotency_key_in_use", conflict.Err["code"])
	require.Equal(t, "invalid_request_error", conflict.Err["type"])
	require.Equal(t, "https://stripe.com/docs/error-codes/idempotency-key-in-use", conflict.Err["doc_url"])
	done := <-answers
	require.Equal(t, 200, done.Status)
	require.Equal(t, done.Raw, s.post(path, "k", "payment_method=pm_card_visa").Raw)
	require.EqualValues(t, 1, s.ledger().Totals["usd"].Charges)
}

func TestI11_ManyAtOnceExecuteOnce(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	var wg sync.WaitGroup
	ids := make([]any, 40)
	for i := range ids {
		wg.Go(func() {
			r, err := s.try("POST", "/v1/payment_intents", map[string]string{"Idempotency-Key": "k"}, cardOnly+"&payment_method=pm_card_visa&confirm=true")
			if err == nil && r.Status == 200 {
				ids[i] = r.Body["id"]
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 1, s.ledger().Totals["usd"].Charges)
	executed := 0
	for _, r := range s.requests(url.Values{"key": {"k"}}) {
		if r.Executed {
			executed++
		}
	}
	require.Equal(t, 1, executed)
	for _, id := range ids {
		require.Equal(t, ids[0], id)
	}
}

func TestI12_ReplayHeaders(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	first, again := s.post("/v1/payment_intents", "k", cardOnly), s.post("/v1/payment_intents", "k", cardOnly)
	require.Equal(t, first.Header.Get("Request-Id"), first.Header.Get("Original-Request"))
	require.Empty(t, first.Header.Get("Idempotent-Replayed"))
	require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))
	require.Equal(t, first.Header.Get("Request-Id"), again.Header.Get("Original-Request"))
	require.NotEqual(t, first.Header.Get("Request-Id"), again.Header.Get("Request-Id"))
	require.Equal(t, "k", again.Header.Get("Idempotency-Key"))
	require.Equal(t, first.Raw, again.Raw)
}

func TestI13_ReplayOutlivesItsObject(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	first := s.post("/v1/customers", "k", "email=a@example.com")
	id := first.Body["id"].(string)
	require.Equal(t, true, s.do("DELETE", "/v1/customers/"+id, nil, "").Body["deleted"])
	require.Equal(t, first.Raw, s.post("/v1/customers", "k", "email=a@example.com").Raw)
}

func TestI14_KeysAreForgottenAfterADay(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	first := s.post("/v1/payment_intents", "k", cardOnly).Body["id"]
	s.now.add(24*time.Hour - 2*time.Second)
	require.Equal(t, first, s.post("/v1/payment_intents", "k", cardOnly).Body["id"])
	s.control("/_sim/clock", map[string]string{"advance": "3s"})
	r := s.post("/v1/payment_intents", "k", cardOnly)
	require.NotEqual(t, first, r.Body["id"], "a forgotten key is a new request")
	require.Empty(t, r.Header.Get("Idempotent-Replayed"))
}

func TestI16_ShouldRetry(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	s.control("/_sim/faults", stripesim.FaultRule{Kind: "unavailable", Count: 1})
	r := s.post("/v1/payment_intents", "k", cardOnly)
	require.Equal(t, 503, r.Status)
	require.Equal(t, "true", r.Header.Get("Stripe-Should-Retry"))
	require.Empty(t, s.post("/v1/payment_intents", "k", cardOnly).Header.Get("Stripe-Should-Retry"))
}

func TestI17_AServerErrorMayHaveHadItsEffect(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	s.control("/_sim/faults", stripesim.FaultRule{Kind: "error_500_with_effect", Count: 1})
	r := s.post("/v1/payment_intents", "k", cardOnly+"&confirm=true&payment_method=pm_card_visa&metadata[order_id]=ord_9")
	require.Equal(t, 500, r.Status)
	found := s.get("/v1/payment_intents").Body["data"].([]any)[0].(map[string]any)
	require.Equal(t, "succeeded", found["status"])
	require.Equal(t, map[string]any{"order_id": "ord_9"}, found["metadata"], "metadata lets it be matched")
	require.Len(t, s.get("/v1/events?type=payment_intent.succeeded").Body["data"], 1, "and its webhook fires")
	require.Equal(t, 200, s.post("/v1/payment_intents", "new key", cardOnly+"&confirm=true&payment_method=pm_card_visa&metadata[order_id]=ord_9").Status)
	require.EqualValues(t, 2, s.ledger().Totals["usd"].Charges, "a new key charges again: that is why it is advised against")
}

func TestI18_EventNamesRequestAndKey(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	r := s.post("/v1/payment_intents", "op:7:create", cardOnly)
	ev := s.get("/v1/events?type=payment_intent.created").Body["data"].([]any)[0].(map[string]any)
	require.Equal(t, map[string]any{"id": r.Header.Get("Request-Id"), "idempotency_key": "op:7:create"}, ev["request"])
	require.Equal(t, "2023-10-16", ev["api_version"])
}

func TestAutomaticRetryOfStripeGoMeetsTheStoredAnswer(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	pi := s.create()
	s.control("/_sim/faults", stripesim.FaultRule{Kind: "drop_after", Count: 1, Match: stripesim.FaultMatch{Endpoint: "POST /v1/payment_intents/{id}/confirm"}})
	got, err := s.client("sk_test_shop", 2).PaymentIntents.Confirm(pi.ID, &stripe.PaymentIntentConfirmParams{PaymentMethod: stripe.String("pm_card_visa")})
	require.NoError(t, err)
	require.Equal(t, "true", got.LastResponse.Header.Get("Idempotent-Replayed"))
	require.EqualValues(t, 1, s.ledger().Totals["usd"].Charges)
}
