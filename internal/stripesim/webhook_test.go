package stripesim_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v76"
	"github.com/stripe/stripe-go/v76/webhook"

	"shop/internal/stripesim"
)

// receiver is a webhook endpoint that keeps what it got.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	got    []received
	refuse int    // answers 500 to this many deliveries
	after  func() // runs after each delivery
}

type received struct {
	stripe.Event
	signature string
	body      []byte
}

func newReceiver(t testing.TB) *receiver {
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		var ev received
		_ = json.Unmarshal(body, &ev.Event)
		ev.signature, ev.body = req.Header.Get("Stripe-Signature"), body
		r.mu.Lock()
		defer r.mu.Unlock()
		r.got = append(r.got, ev)
		if r.after != nil {
			r.after()
		}
		if r.refuse > 0 {
			r.refuse--
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) all() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

func (r *receiver) types() []string {
	var out []string
	for _, e := range r.all() {
		out = append(out, string(e.Type))
	}
	slices.Sort(out)
	return out
}

// await waits until n deliveries have come.
func (r *receiver) await(t testing.TB, n int) []received {
	t.Helper()
	require.Eventually(t, func() bool { return len(r.all()) >= n }, 5*time.Second, 5*time.Millisecond, "waiting for %d deliveries", n)
	return r.all()
}

const secret = "whsec_test"

func TestS15_SignedDelivery(t *testing.T) {
	t.Parallel()
	in := newReceiver(t)
	s := start(t, stripesim.Config{WebhookURL: in.URL, WebhookSecret: secret})
	s.paid()
	for _, e := range in.await(t, 3) {
		ev, err := webhook.ConstructEvent(e.body, e.signature, secret)
		require.NoError(t, err)
		require.Equal(t, "2023-10-16", ev.APIVersion)
		require.NotEmpty(t, ev.Request.ID)
		_, err = webhook.ConstructEvent(e.body, e.signature, "whsec_other")
		require.Error(t, err)
	}
	require.Equal(t, []string{"charge.succeeded", "payment_intent.created", "payment_intent.succeeded"}, in.types())
}

func TestS15_UsualSequences(t *testing.T) {
	t.Parallel()
	in := newReceiver(t)
	s := start(t, stripesim.Config{WebhookURL: in.URL, WebhookSecret: secret})
	_, err := s.confirm(s.create().ID, "pm_card_visa_chargeDeclined")
	require.Error(t, err)
	in.await(t, 3)
	require.Equal(t, []string{"charge.failed", "payment_intent.created", "payment_intent.payment_failed"}, in.types())
	_, err = s.confirm(s.create().ID, "pm_card_threeDSecure2Required")
	require.NoError(t, err)
	in.await(t, 5)
	require.Contains(t, in.types(), "payment_intent.requires_action")
	_, err = s.api.PaymentIntents.Cancel(s.create().ID, nil)
	require.NoError(t, err)
	in.await(t, 7)
	require.Contains(t, in.types(), "payment_intent.canceled")
}

func TestS15_RetriesHaveFreshSignatures(t *testing.T) {
	t.Parallel()
	in := newReceiver(t)
	in.refuse = 2
	s := start(t, stripesim.Config{WebhookURL: in.URL, WebhookSecret: secret, WebhookBackoff: time.Millisecond, WebhookWorkers: 1})
	in.after = func() { s.now.add(2 * time.Second) }
	s.create()
	got := in.await(t, 3)
	require.Len(t, got, 3)
	require.NotEqual(t, got[0].signature, got[1].signature, "a new timestamp and signature per attempt")
	for _, e := range got {
		require.Equal(t, got[0].ID, e.ID)
		require.NoError(t, webhook.ValidatePayload(e.body, e.signature, secret))
	}
	require.Eventually(t, func() bool {
		return s.get("/v1/events/" + got[0].ID).Body["pending_webhooks"] == float64(0)
	}, 5*time.Second, 5*time.Millisecond)
	attempts := s.get("/_sim/deliveries").Body["deliveries"].([]any)
	require.EqualValues(t, 200, attempts[0].(map[string]any)["status"])
	require.EqualValues(t, 500, attempts[2].(map[string]any)["status"])
}

func TestS15_UndeliveredEventsSurviveARestart(t *testing.T) {
	t.Parallel()
	in := newReceiver(t)
	in.refuse = 1
	cfg := stripesim.Config{WebhookURL: in.URL, WebhookSecret: secret, WebhookBackoff: time.Hour, Journal: filepath.Join(t.TempDir(), "j")}
	s := start(t, cfg)
	s.create()
	first := in.await(t, 1)[0]
	require.NoError(t, s.srv.Close())
	s = start(t, cfg)
	again := in.await(t, 2)[1]
	require.Equal(t, first.ID, again.ID)
	require.Eventually(t, func() bool {
		return s.get("/v1/events/" + first.ID).Body["pending_webhooks"] == float64(0)
	}, 5*time.Second, 5*time.Millisecond)
	require.NoError(t, s.srv.Close())
	s = start(t, cfg)
	s.create()
	require.Len(t, in.await(t, 3), 3, "what was delivered is not delivered again")
}

func TestS15_SeveralEndpointsAndRolledSecret(t *testing.T) {
	t.Parallel()
	one, two := newReceiver(t), newReceiver(t)
	s := start(t, stripesim.Config{})
	a, err := s.api.WebhookEndpoints.New(&stripe.WebhookEndpointParams{URL: stripe.String(one.URL), EnabledEvents: stripe.StringSlice([]string{"*"})})
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(a.Secret, "whsec_"))
	_, err = s.api.WebhookEndpoints.New(&stripe.WebhookEndpointParams{URL: stripe.String(two.URL), EnabledEvents: stripe.StringSlice([]string{"payment_intent.succeeded"})})
	require.NoError(t, err)
	rolled := s.control("/_sim/webhooks/shop/"+a.ID+"/roll", map[string]any{})["secret"].(string)
	s.paid()
	for _, e := range one.await(t, 3) {
		require.NoError(t, webhook.ValidatePayload(e.body, e.signature, a.Secret), "the old secret still signs")
		require.NoError(t, webhook.ValidatePayload(e.body, e.signature, rolled))
		require.Equal(t, 2, strings.Count(e.signature, "v1="))
	}
	two.await(t, 1)
	require.Equal(t, []string{"payment_intent.succeeded"}, two.types())
	s.now.add(25 * time.Hour)
	s.create()
	last := one.await(t, 4)[3]
	require.Error(t, webhook.ValidatePayload(last.body, last.signature, a.Secret), "a day later only the new one does")
	_, err = s.api.WebhookEndpoints.Del(a.ID, nil)
	require.NoError(t, err)
	require.Equal(t, 404, s.get("/v1/webhook_endpoints/"+a.ID).Status)
	require.Len(t, s.get("/v1/webhook_endpoints").Body["data"], 1)
}

func TestS15_Tricks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tricks stripesim.WebhookTricks
		check  func(t *testing.T, s *sim, in *receiver)
	}{
		"duplicate": {stripesim.WebhookTricks{Duplicate: 1}, func(t *testing.T, s *sim, in *receiver) {
			s.create()
			got := in.await(t, 2)
			require.Equal(t, got[0].ID, got[1].ID)
		}},
		"twin": {stripesim.WebhookTricks{Twin: 1}, func(t *testing.T, s *sim, in *receiver) {
			s.create()
			got := in.await(t, 2)
			require.NotEqual(t, got[0].ID, got[1].ID)
			require.Equal(t, got[0].Type, got[1].Type)
			require.Equal(t, got[0].Data.Object["id"], got[1].Data.Object["id"])
		}},
		"drop": {stripesim.WebhookTricks{Drop: 1}, func(t *testing.T, s *sim, in *receiver) {
			s.create()
			s.control("/_sim/webhooks", stripesim.WebhookTricks{})
			s.paid()
			in.await(t, 3)
			require.Len(t, in.all(), 3)
			require.Len(t, s.get("/v1/events?type=payment_intent.created").Body["data"], 2, "a dropped event can be read back")
		}},
		"before the answer": {stripesim.WebhookTricks{BeforeAnswer: true}, func(t *testing.T, s *sim, in *receiver) {
			s.paid()
			require.Len(t, in.all(), 3, "all were delivered when the call returned")
		}},
		"shuffled": {stripesim.WebhookTricks{ShuffleMS: 40}, func(t *testing.T, s *sim, in *receiver) {
			var made []string
			for range 20 {
				made = append(made, s.create().ID)
			}
			var came []string
			for _, e := range in.await(t, 20) {
				came = append(came, e.Data.Object["id"].(string))
			}
			require.ElementsMatch(t, made, came)
			require.NotEqual(t, made, came)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := newReceiver(t)
			s := start(t, stripesim.Config{WebhookURL: in.URL, WebhookSecret: secret})
			s.control("/_sim/webhooks", c.tricks)
			c.check(t, s, in)
		})
	}
}

func TestS15_Resend(t *testing.T) {
	t.Parallel()
	in := newReceiver(t)
	s := start(t, stripesim.Config{WebhookURL: in.URL, WebhookSecret: secret})
	s.create()
	id := in.await(t, 1)[0].ID
	s.control("/_sim/events/shop/"+id+"/resend", map[string]any{})
	require.Equal(t, id, in.await(t, 2)[1].ID)
}
