package stripesim_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v76/webhook"

	"shop/internal/stripesim"
)

// answering is a receiver that answers what a function says, by number of delivery.
func answering(t *testing.T, status func(n int) int) *receiver {
	t.Helper()
	r := newReceiver(t)
	plain := r.Config.Handler
	n := 0
	r.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		buffered := httptest.NewRecorder()
		plain.ServeHTTP(buffered, req)
		r.mu.Lock()
		n++
		code := status(n)
		r.mu.Unlock()
		if code >= 300 && code < 400 {
			w.Header().Set("Location", "/elsewhere")
		}
		w.WriteHeader(code)
	})
	return r
}

func pendingOf(s *sim, event string) any {
	return s.quick("GET", "/v1/events/"+event, "").Body["pending_webhooks"]
}

// TestS15_TheSignatureIsHMACOverTimeAndBody recomputes it by hand.
func TestS15_TheSignatureIsHMACOverTimeAndBody(t *testing.T) {
	t.Parallel()
	in := newReceiver(t)
	s := start(t, stripesim.Config{WebhookURL: in.URL, WebhookSecret: secret})
	s.create()
	e := in.await(t, 1)[0]
	parts := regexp.MustCompile(`^t=(\d+),v1=([0-9a-f]{64})$`).FindStringSubmatch(e.signature)
	require.NotNil(t, parts, e.signature)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(parts[1] + "." + string(e.body)))
	require.Equal(t, hex.EncodeToString(mac.Sum(nil)), parts[2])
	at, err := strconv.ParseInt(parts[1], 10, 64)
	require.NoError(t, err)
	require.Equal(t, s.now.Now().Unix(), at)
}

// TestS15_WhatLibrariesRefuse: a delivery that was tampered with, is old or was signed
// with another secret.
func TestS15_WhatLibrariesRefuse(t *testing.T) {
	t.Parallel()
	in := newReceiver(t)
	s := start(t, stripesim.Config{WebhookURL: in.URL, WebhookSecret: secret})
	s.create()
	e := in.await(t, 1)[0]
	require.NoError(t, webhook.ValidatePayload(e.body, e.signature, secret))
	require.Error(t, webhook.ValidatePayload(append([]byte(" "), e.body...), e.signature, secret), "one byte more")
	require.Error(t, webhook.ValidatePayload(e.body, strings.Replace(e.signature, "v1=", "v0=", 1), secret))
	require.Error(t, webhook.ValidatePayload(e.body, "", secret))
	require.Error(t, webhook.ValidatePayloadWithTolerance(e.body, "t=1,"+strings.SplitN(e.signature, ",", 2)[1], secret, 300*time.Second))
}

// TestS15_TheSignatureUsesTheRealClock although the simulator's was moved: the
// receiver checks it against its own.
func TestS15_TheSignatureUsesTheRealClock(t *testing.T) {
	t.Parallel()
	in := newReceiver(t)
	s := start(t, stripesim.Config{WebhookURL: in.URL, WebhookSecret: secret})
	s.control("/_sim/clock", map[string]string{"advance": "240h"})
	s.create()
	e := in.await(t, 1)[0]
	_, err := webhook.ConstructEvent(e.body, e.signature, secret)
	require.NoError(t, err)
	require.EqualValues(t, s.now.Now().Add(240*time.Hour).Unix(), e.Created, "the event is of the moved clock")
}

// TestS15_EveryAnswerBut2xxIsAFailure, redirects included; what was refused is tried
// again until it is taken.
func TestS15_EveryAnswerBut2xxIsAFailure(t *testing.T) {
	t.Parallel()
	for _, code := range []int{200, 201, 202, 204, 299, 301, 302, 307, 400, 401, 403, 404, 410, 429, 500, 502, 503} {
		in := answering(t, func(n int) int {
			if n == 1 {
				return code
			}
			return 200
		})
		s := start(t, stripesim.Config{WebhookURL: in.URL, WebhookSecret: secret, WebhookBackoff: time.Millisecond, WebhookWorkers: 1})
		s.create()
		want := 1
		if code >= 300 {
			want = 2
		}
		got := in.await(t, want)
		require.Eventually(t, func() bool { return pendingOf(s, got[0].ID) == float64(0) }, 5*time.Second, time.Millisecond, "answer %d", code)
		require.Len(t, in.all(), want, "answer %d", code)
		attempts := s.get("/_sim/deliveries").Body["deliveries"].([]any)
		require.EqualValues(t, code, attempts[len(attempts)-1].(map[string]any)["status"])
		for _, e := range in.all() {
			require.NotContains(t, string(e.body), "elsewhere", "a redirect is not followed")
		}
	}
}

func TestS15_GivesUpAfterSoManyAttempts(t *testing.T) {
	t.Parallel()
	in := answering(t, func(int) int { return 500 })
	s := start(t, stripesim.Config{WebhookURL: in.URL, WebhookSecret: secret, WebhookBackoff: time.Millisecond, WebhookAttempts: 4, WebhookWorkers: 1})
	s.create()
	first := in.await(t, 4)[0].ID
	s.create()
	for _, e := range in.await(t, 8)[4:] {
		require.NotEqual(t, first, e.ID, "the first is not tried a fifth time")
	}
	require.EqualValues(t, 1, pendingOf(s, first), "it was never accepted")
	require.Equal(t, 200, s.get("/v1/events/"+first).Status, "and can be read back")
}

// TestS15_BackoffDoubles: attempt by attempt, up to a minute.
func TestS15_BackoffDoubles(t *testing.T) {
	t.Parallel()
	in := answering(t, func(n int) int {
		if n < 6 {
			return 500
		}
		return 200
	})
	s := start(t, stripesim.Config{WebhookURL: in.URL, WebhookSecret: secret, WebhookBackoff: 4 * time.Millisecond, WebhookWorkers: 1, Now: time.Now})
	s.create()
	in.await(t, 6)
	require.Eventually(t, func() bool { return len(s.get("/_sim/deliveries").Body["deliveries"].([]any)) == 6 }, 5*time.Second, time.Millisecond)
	attempts := s.get("/_sim/deliveries").Body["deliveries"].([]any)
	at := func(i int) time.Time { // newest first
		when, err := time.Parse(time.RFC3339Nano, attempts[len(attempts)-1-i].(map[string]any)["time"].(string))
		require.NoError(t, err)
		return when
	}
	for i := range 5 {
		require.EqualValues(t, i+1, attempts[len(attempts)-1-i].(map[string]any)["attempt"])
		require.GreaterOrEqual(t, at(i+1).Sub(at(i)), 4*time.Millisecond<<i, "after attempt %d", i+1)
	}
}

func TestS15_AnEndpointThatIsGoneEndsItsRetries(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(s *sim, id string){
		"deleted":  func(s *sim, id string) { s.do("DELETE", "/v1/webhook_endpoints/"+id, nil, "") },
		"disabled": func(s *sim, id string) { s.post("/v1/webhook_endpoints/"+id, "", "disabled=true") },
	} {
		in := answering(t, func(int) int { return 500 })
		s := start(t, stripesim.Config{WebhookBackoff: 30 * time.Millisecond, WebhookWorkers: 1})
		id := s.post("/v1/webhook_endpoints", "", "enabled_events[]=*&url="+in.URL).Body["id"].(string)
		s.create()
		in.await(t, 1)
		end(s, id)
		other := newReceiver(t)
		s.post("/v1/webhook_endpoints", "", "enabled_events[]=*&url="+other.URL)
		s.create()
		other.await(t, 1)
		tried := len(in.all())
		s.control("/_sim/webhooks", stripesim.WebhookTricks{DelayMS: 100}) // past the next retry
		s.create()
		other.await(t, 2)
		require.LessOrEqual(t, len(in.all()), tried, "%s: nothing more comes", name)
	}
}

func TestS15_ADisabledEndpointCanBeEnabledAgain(t *testing.T) {
	t.Parallel()
	in := newReceiver(t)
	s := start(t, stripesim.Config{})
	id := s.post("/v1/webhook_endpoints", "", "enabled_events[]=payment_intent.created&url="+in.URL).Body["id"].(string)
	require.Equal(t, "disabled", s.post("/v1/webhook_endpoints/"+id, "", "disabled=true").Body["status"])
	missed := s.create()
	require.Equal(t, "enabled", s.post("/v1/webhook_endpoints/"+id, "", "disabled=false").Body["status"])
	pi := s.create()
	require.Equal(t, pi.ID, in.await(t, 1)[0].Data.Object["id"])
	require.Equal(t, missed.ID, s.get("/v1/events?limit=2").Body["data"].([]any)[1].(map[string]any)["data"].(map[string]any)["object"].(map[string]any)["id"], "the missed one can be read back")
}

// TestS15_AnUnreachableEndpoint: no answer at all is a failure with its reason.
func TestS15_AnUnreachableEndpoint(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	s := start(t, stripesim.Config{WebhookURL: gone.URL, WebhookSecret: secret, WebhookAttempts: 2, WebhookBackoff: time.Millisecond})
	s.create()
	require.Eventually(t, func() bool { return len(s.get("/_sim/deliveries").Body["deliveries"].([]any)) == 2 }, 5*time.Second, time.Millisecond)
	attempt := s.get("/_sim/deliveries").Body["deliveries"].([]any)[0].(map[string]any)
	require.EqualValues(t, 0, attempt["status"])
	require.Contains(t, attempt["error"], "connect")
	require.Equal(t, []any{"config", gone.URL, "payment_intent.created"}, []any{attempt["endpoint"], attempt["url"], attempt["type"]})
}

func TestS15_AnEndpointThatHangsIsCutOff(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(slow.Close)
	t.Cleanup(func() { close(release) })
	s := start(t, stripesim.Config{WebhookURL: slow.URL, WebhookSecret: secret, WebhookTimeout: 10 * time.Millisecond, WebhookAttempts: 1})
	s.create()
	require.Eventually(t, func() bool { return len(s.get("/_sim/deliveries").Body["deliveries"].([]any)) == 1 }, 5*time.Second, time.Millisecond)
	require.Contains(t, s.get("/_sim/deliveries").Body["deliveries"].([]any)[0].(map[string]any)["error"], "deadline exceeded")
}

// TestS15_EnabledEvents: an endpoint gets the types it named, "*" gets all.
func TestS15_EnabledEvents(t *testing.T) {
	t.Parallel()
	all, some := newReceiver(t), newReceiver(t)
	s := start(t, stripesim.Config{})
	s.post("/v1/webhook_endpoints", "", "enabled_events[]=*&url="+all.URL)
	id := s.post("/v1/webhook_endpoints", "", "enabled_events[]=charge.refunded&enabled_events[]=charge.failed&url="+some.URL).Body["id"].(string)
	pi := s.paid()
	s.post("/v1/refunds", "", "payment_intent="+pi.ID)
	all.await(t, 6)
	some.await(t, 1)
	require.Equal(t, []string{"charge.refund.updated", "charge.refunded", "charge.succeeded", "payment_intent.created", "payment_intent.succeeded", "refund.created"}, all.types())
	require.Equal(t, []string{"charge.refunded"}, some.types())
	s.post("/v1/webhook_endpoints/"+id, "", "enabled_events[]=payment_intent.created")
	s.create()
	some.await(t, 2)
	require.Equal(t, []string{"charge.refunded", "payment_intent.created"}, some.types())
}

// TestS15_EveryUsualSequence is the record's list, action by action.
func TestS15_EveryUsualSequence(t *testing.T) {
	t.Parallel()
	in := newReceiver(t)
	s := start(t, stripesim.Config{WebhookURL: in.URL, WebhookSecret: secret})
	w := s.populate()
	known := len(in.await(t, len(s.quick("GET", "/v1/events?limit=100", "").Body["data"].([]any))))
	for _, c := range []struct{ what, path, form, types string }{
		{"paid at once", "/v1/payment_intents", cardOnly + "&confirm=true&payment_method=pm_card_visa", "charge.succeeded payment_intent.created payment_intent.succeeded"},
		{"declined at once", "/v1/payment_intents", cardOnly + "&confirm=true&payment_method=pm_card_visa_chargeDeclined", "charge.failed payment_intent.created payment_intent.payment_failed"},
		{"3-D Secure", "/v1/payment_intents", cardOnly + "&confirm=true&payment_method=pm_card_threeDSecure2Required", "payment_intent.created payment_intent.requires_action"},
		{"authorized", "/v1/payment_intents", cardOnly + "&confirm=true&capture_method=manual&payment_method=pm_card_visa", "charge.succeeded payment_intent.amount_capturable_updated payment_intent.created"},
		{"captured", "/v1/payment_intents/{hold}/capture", "", "charge.captured payment_intent.succeeded"},
		{"canceled", "/v1/payment_intents/{intent}/cancel", "", "payment_intent.canceled"},
		{"refunded", "/v1/refunds", "payment_intent={paid}", "charge.refund.updated charge.refunded refund.created"},
		{"refund changed", "/v1/refunds/{refund}", "metadata[a]=b", "charge.refund.updated"},
		{"disputed", "/v1/payment_intents", cardOnly + "&confirm=true&payment_method=pm_card_createDispute", "charge.dispute.created charge.dispute.funds_withdrawn charge.succeeded payment_intent.created payment_intent.succeeded"},
		{"dispute closed", "/v1/disputes/{dispute}/close", "", "charge.dispute.closed"},
		{"customer", "/v1/customers", "", "customer.created"},
		{"customer changed", "/v1/customers/{customer}", "name=A", "customer.updated"},
		{"method attached", "/v1/payment_methods/{loose}/attach", "customer={customer}", "payment_method.attached"},
		{"method detached", "/v1/payment_methods/{method}/detach", "", "payment_method.detached"},
		{"card saved", "/v1/setup_intents", "confirm=true&payment_method=pm_card_visa", "setup_intent.created setup_intent.succeeded"},
		{"card not saved", "/v1/setup_intents", "confirm=true&payment_method=pm_card_visa_chargeDeclined", "setup_intent.created setup_intent.setup_failed"},
		{"updated", "/v1/payment_intents/{paid}", "metadata[a]=b", ""},
	} {
		r := s.post(w.fill(c.path), "", w.fill(c.form))
		require.Contains(t, []int{200, 402}, r.Status, "%s: %s", c.what, r.Raw)
		want := strings.Fields(c.types)
		got := in.await(t, known+len(want))[known:]
		var types []string
		for _, e := range got {
			types = append(types, string(e.Type))
		}
		require.ElementsMatch(t, want, types, c.what)
		known += len(want)
	}
}

// TestS15_ChargeRefundedIsCumulative: each event shows all that was refunded so far.
func TestS15_ChargeRefundedIsCumulative(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	pi := s.paid()
	for range 3 {
		s.post("/v1/refunds", "", "amount=700&payment_intent="+pi.ID)
	}
	var seen []float64
	for _, e := range s.get("/v1/events?type=charge.refunded").Body["data"].([]any) {
		seen = append(seen, e.(map[string]any)["data"].(map[string]any)["object"].(map[string]any)["amount_refunded"].(float64))
	}
	require.Equal(t, []float64{2100, 1400, 700}, seen)
}

// TestS15_EventsCanBeReadForThirtyDays by id and in lists.
func TestS15_EventsCanBeReadForThirtyDays(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	s.create()
	id := s.first("/v1/events")["id"].(string)
	s.control("/_sim/clock", map[string]string{"advance": "720h"})
	require.Equal(t, 200, s.get("/v1/events/"+id).Status)
	require.Len(t, s.get("/v1/events").Body["data"], 1)
	s.control("/_sim/clock", map[string]string{"advance": "2s"})
	require.Equal(t, "No such event: '"+id+"'", s.get("/v1/events/" + id).Err["message"])
	require.Empty(t, s.get("/v1/events").Body["data"])
}

// TestS15_DelayAndOrder: delay_ms holds every delivery back, before_answer brings it
// before the answer, and both together delay the answer.
func TestS15_DelayAndOrder(t *testing.T) {
	t.Parallel()
	in := newReceiver(t)
	s := start(t, stripesim.Config{WebhookURL: in.URL, WebhookSecret: secret})
	s.control("/_sim/webhooks", stripesim.WebhookTricks{DelayMS: 60})
	began := time.Now()
	s.create()
	require.Empty(t, in.all(), "after the answer")
	in.await(t, 1)
	require.GreaterOrEqual(t, time.Since(began), 60*time.Millisecond)
	s.control("/_sim/webhooks", stripesim.WebhookTricks{DelayMS: 40, BeforeAnswer: true})
	began = time.Now()
	s.create()
	require.Len(t, in.all(), 2, "before the answer")
	require.GreaterOrEqual(t, time.Since(began), 40*time.Millisecond)
	s.control("/_sim/webhooks", stripesim.WebhookTricks{Drop: 1, Duplicate: 1, BeforeAnswer: true})
	s.create()
	require.Len(t, in.all(), 2, "what is dropped is neither delivered nor waited for")
	require.Equal(t, map[string]any{"duplicate": 1., "twin": 0., "drop": 1., "delay_ms": 0., "shuffle_ms": 0., "before_answer": true}, s.get("/_sim/webhooks").Body)
	for _, bad := range []string{`{"delay_ms":-1}`, `{"shuffle_ms":-1}`, `{"twins":1}`, `{"drop":"x"}`} {
		require.Equal(t, 400, s.do("POST", "/_sim/webhooks", nil, bad).Status, bad)
	}
}

// TestS15_ADuplicateIsTheSameEventSignedAgain, and is not retried.
func TestS15_ADuplicateIsTheSameEventSignedAgain(t *testing.T) {
	t.Parallel()
	in := answering(t, func(n int) int { return 200 })
	s := start(t, stripesim.Config{WebhookURL: in.URL, WebhookSecret: secret, WebhookWorkers: 1})
	s.control("/_sim/webhooks", stripesim.WebhookTricks{Duplicate: 1})
	in.after = func() { s.now.add(time.Second) }
	s.create()
	got := in.await(t, 2)
	require.Equal(t, string(got[0].body[:200]), string(got[1].body[:200]))
	require.NotEqual(t, got[0].signature, got[1].signature)
	require.Equal(t, got[0].ID, got[1].ID)
}

// TestS15_ResendSignsAgain and goes to every endpoint the event went to.
func TestS15_ResendSignsAgain(t *testing.T) {
	t.Parallel()
	one, two := newReceiver(t), newReceiver(t)
	s := start(t, stripesim.Config{WebhookURL: one.URL, WebhookSecret: secret})
	s.post("/v1/webhook_endpoints", "", "enabled_events[]=*&url="+two.URL)
	s.create()
	id, first := one.await(t, 1)[0].ID, one.all()[0].signature
	two.await(t, 1)
	s.now.add(time.Minute)
	require.EqualValues(t, 2, s.control("/_sim/events/shop/"+id+"/resend", map[string]any{})["deliveries"])
	require.Equal(t, id, two.await(t, 2)[1].ID)
	require.NotEqual(t, first, one.await(t, 2)[1].signature)
	require.NoError(t, webhook.ValidatePayload(one.all()[1].body, one.all()[1].signature, secret))
	for path, status := range map[string]int{"/_sim/events/shop/evt_none/resend": 404, "/_sim/events/nobody/" + id + "/resend": 404, "/_sim/webhooks/shop/we_none/roll": 404, "/_sim/webhooks/nobody/we_none/roll": 404} {
		require.Equal(t, status, s.do("POST", path, nil, "{}").Status, path)
	}
}

// TestS15_RollingTwice: each secret signs until a day after it was rolled.
func TestS15_RollingTwice(t *testing.T) {
	t.Parallel()
	in := newReceiver(t)
	s := start(t, stripesim.Config{})
	r := s.post("/v1/webhook_endpoints", "", "enabled_events[]=*&url="+in.URL)
	id, secrets := r.Body["id"].(string), []string{r.Body["secret"].(string)}
	roll := func() {
		secrets = append(secrets, s.control("/_sim/webhooks/shop/"+id+"/roll", map[string]any{})["secret"].(string))
	}
	valid := func() (out []int) {
		n := len(in.all())
		s.create()
		e := in.await(t, n+1)[n]
		for i, secret := range secrets {
			if webhook.ValidatePayload(e.body, e.signature, secret) == nil {
				out = append(out, i)
			}
		}
		require.Equal(t, len(out), strings.Count(e.signature, "v1="), "one signature per secret in force")
		return out
	}
	require.Equal(t, []int{0}, valid())
	roll()
	require.Equal(t, []int{0, 1}, valid())
	s.now.add(12 * time.Hour)
	roll()
	require.Equal(t, []int{0, 1, 2}, valid())
	s.now.add(12 * time.Hour)
	require.Equal(t, []int{1, 2}, valid(), "a day after the first roll")
	s.now.add(12 * time.Hour)
	require.Equal(t, []int{2}, valid())
	require.NotContains(t, s.get("/v1/webhook_endpoints/"+id).Raw, "whsec_", "a secret is shown once")
}

// TestS15_DeliveriesAreBounded: the page keeps the newest attempts only.
func TestS15_DeliveriesAreBounded(t *testing.T) {
	t.Parallel()
	in := newReceiver(t)
	s := start(t, stripesim.Config{WebhookURL: in.URL, WebhookSecret: secret})
	for i := range 210 {
		s.quick("POST", "/v1/customers", fmt.Sprintf("name=%d", i))
	}
	in.await(t, 210)
	require.Eventually(t, func() bool { return len(s.get("/_sim/deliveries").Body["deliveries"].([]any)) == 200 }, 5*time.Second, 5*time.Millisecond)
}
