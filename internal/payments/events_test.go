package payments_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v76/webhook"

	"shop/internal/operations"
	"shop/internal/orders"
	"shop/internal/payments"
)

const hookSecret = "whsec_test"

func sign(body []byte, secret string, at time.Time) string {
	return webhook.GenerateTestSignedPayload(&webhook.UnsignedPayload{Payload: body, Secret: secret, Timestamp: at}).Header
}

func eventBody(id, kind, version, intent string, operation operations.Key) []byte {
	object := map[string]any{"id": intent, "object": "payment_intent", "client_secret": intent + "_secret_x", "metadata": map[string]string{"operation": string(operation)}}
	if strings.HasPrefix(kind, "charge.") {
		object = map[string]any{"id": "ch_1", "object": "charge", "payment_intent": intent, "metadata": map[string]string{"operation": string(operation)}}
	}
	body, err := json.Marshal(map[string]any{"id": id, "object": "event", "type": kind, "api_version": version, "created": 1,
		"data": map[string]any{"object": object}})
	if err != nil {
		panic(err)
	}
	return body
}

func (w *world) event(id, kind, intent string, operation operations.Key) payments.Event {
	w.t.Helper()
	body := eventBody(id, kind, "2023-10-16", intent, operation)
	e, err := payments.ReadEvent(body, sign(body, hookSecret, time.Now()), []string{hookSecret}, time.Now())
	require.NoError(w.t, err)
	return e
}

func (w *world) events() *payments.Events {
	return payments.NewEvents(w.pool, w.ops, slog.New(slog.NewTextHandler(w.log, nil)))
}

func (w *world) eventOp(id string) operations.Operation {
	w.t.Helper()
	key, _, err := operations.Derive(payments.EventKind, map[string]string{"eventId": id})
	require.NoError(w.t, err)
	return w.op(key)
}

func (w *world) checks() (n int) {
	w.t.Helper()
	require.NoError(w.t, w.pool.QueryRow(context.Background(), `SELECT count(*) FROM outbox_messages WHERE topic = $1`, payments.TopicCheck).Scan(&n))
	return n
}

// docs/peers.md rows 25, 27 and 28: three deliveries at once settled an order three times.
func TestRow25_TenDeliveriesOfOneEventAreOneLook(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, key := w.place("pm_card_visa")
	e := w.event("evt_1", "payment_intent.succeeded", "pi_1", key)
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			if err := w.events().Receive(context.Background(), e); err != nil {
				t.Errorf("receiving: %v", err)
			}
		})
	}
	wg.Wait()
	require.Equal(t, 1, w.checks())
	op := w.eventOp("evt_1")
	require.True(t, op.Succeeded())
	require.EqualValues(t, 9, op.Replays)
	var text string
	require.NoError(t, w.pool.QueryRow(context.Background(), `SELECT params::text FROM operations WHERE kind = 'stripe-event'`).Scan(&text))
	require.NotContains(t, text, "_secret_")
}

// The worker died after the confirm; the event alone brings the order home.
func TestAnEventFinishesAChargeWhoseWorkerDied(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	order, key := w.place("pm_card_visa")
	w.fault("drop_after", "POST /v1/payment_intents/{id}/confirm", 2)
	w.charge(key)
	require.Equal(t, operations.Waiting, w.op(key).State)
	require.NoError(t, w.events().Receive(context.Background(), w.event("evt_1", "payment_intent.succeeded", *w.op(key).ProviderRef, key)))
	require.Equal(t, 1, w.checks())
	require.NoError(t, w.pay.Charge(context.Background(), key, operations.ClaimOptions{Source: operations.SourceWebhook, Early: true}))
	w.requirePaidOnce(order, key)
	require.NoError(t, w.events().Receive(context.Background(), w.event("evt_2", "charge.succeeded", *w.op(key).ProviderRef, key)))
	require.Equal(t, 1, w.checks(), "a charge that is done needs no look")
}

// docs/peers.md rows 29 and 46: an event that overtakes our own commit is parked
// and applied later.
func TestRow29_AnEarlyEventIsParkedAndApplied(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := context.Background()
	key, _, err := operations.Derive("charge", map[string]int64{"orderId": 1001, "attempt": 1})
	require.NoError(t, err)
	e := w.event("evt_1", "payment_intent.succeeded", "pi_1", key)
	require.NoError(t, w.events().Receive(ctx, e))
	require.NoError(t, w.events().Receive(ctx, e), "and delivered again while it is parked")
	parked := w.eventOp("evt_1")
	require.Equal(t, operations.Pending, parked.State)
	require.NoError(t, w.events().Apply(ctx, parked.Key))
	require.Equal(t, operations.Waiting, w.eventOp("evt_1").State)
	require.NoError(t, w.events().Receive(ctx, e), "and while it waits")

	_, placed := w.place("pm_card_visa")
	require.Equal(t, key, placed)
	_, err = w.pool.Exec(ctx, `UPDATE operations SET retry_at = clock_timestamp() WHERE state = 'waiting'`)
	require.NoError(t, err)
	require.NoError(t, w.events().Apply(ctx, parked.Key))
	require.True(t, w.eventOp("evt_1").Succeeded())
	require.Equal(t, 1, w.checks())
}

// docs/peers.md row 30: an event that can never match was retried for ever.
func TestRow30_AnEventOfNobodyBecomesAnOrphan(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := context.Background()
	require.NoError(t, w.events().Receive(ctx, w.event("evt_1", "payment_intent.succeeded", "pi_foreign", "")))
	_, err := w.pool.Exec(ctx, `UPDATE operations SET created_at = clock_timestamp() - interval '11 minutes'`)
	require.NoError(t, err)
	require.NoError(t, w.events().Apply(ctx, w.eventOp("evt_1").Key))
	op := w.eventOp("evt_1")
	require.Equal(t, operations.Failed, *op.Outcome)
	require.JSONEq(t, `{"orphan":true}`, string(op.Result))
	require.Contains(t, w.log.String(), "pi_foreign")
	require.NoError(t, w.events().Receive(ctx, w.event("evt_2", "customer.created", "", "")))
	require.JSONEq(t, `{"ignored":true}`, string(w.eventOp("evt_2").Result))
}

// docs/peers.md rows 32, 34, 35, 37, 38 and 64: events in any order, with
// duplicates, end in one state.
func TestRow34_AnyOrderOfEventsEndsInOneState(t *testing.T) {
	t.Parallel()
	for round := range 12 {
		w := newWorld(t)
		order, key := w.place("pm_card_threeDSecure2Required")
		w.charge(key)
		intent := *w.op(key).ProviderRef
		kinds := []string{"payment_intent.created", "payment_intent.requires_action", "payment_intent.payment_failed", "charge.failed",
			"payment_intent.succeeded", "charge.succeeded", "payment_intent.succeeded", "payment_intent.canceled"}
		rng := rand.New(rand.NewPCG(uint64(round), 1))
		rng.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
		approveAt := rng.IntN(len(kinds))
		for i, kind := range kinds {
			if i == approveAt {
				w.approve(intent)
			}
			require.NoError(t, w.events().Receive(context.Background(), w.event(fmt.Sprint("evt_", i), kind, intent, key)))
			require.NoError(t, w.pay.Charge(context.Background(), key, operations.ClaimOptions{Source: operations.SourceWebhook, Early: true}))
			if i < approveAt {
				require.Equal(t, orders.Placed, w.order(order.PublicID).State, "what an event says is not believed: %v", kinds[:i+1])
			}
		}
		w.requirePaidOnce(order, key)
	}
}

func TestSignatures(t *testing.T) {
	t.Parallel()
	now := time.Now()
	// docs/peers.md row 39: a body with unusual white space and escapes passes, since its bytes are checked and not its meaning.
	body := []byte("{ \"id\":\"evt_1\",\t\"object\" : \"event\", \"type\":\"payment_intent.succeeded\", \"api_version\":\"2023-10-16\",\r\n \"data\":{\"object\":{\"id\":\"pi_1\",\"object\":\"payment_intent\",\"description\":\"caf\\u00e9 \\u2028\"}}}  \n")
	e, err := payments.ReadEvent(body, sign(body, hookSecret, now), []string{hookSecret}, now)
	require.NoError(t, err)
	require.Equal(t, "pi_1", e.PaymentIntent)
	require.False(t, e.Foreign())
	// docs/peers.md row 26: two secrets while one is being rolled.
	_, err = payments.ReadEvent(body, sign(body, "whsec_new", now), []string{hookSecret, "whsec_new"}, now)
	require.NoError(t, err)

	compact := &bytes.Buffer{}
	require.NoError(t, json.Compact(compact, body))
	for name, c := range map[string]struct {
		body   []byte
		header string
	}{
		"another secret":    {body, sign(body, "whsec_other", now)},
		"no header":         {body, ""},
		"garbage":           {body, "t=x,v1=zz"},
		"only an old form":  {body, strings.Replace(sign(body, hookSecret, now), "v1=", "v0=", 1)},
		"re-serialised":     {compact.Bytes(), sign(body, hookSecret, now)},
		"six minutes old":   {body, sign(body, hookSecret, now.Add(-6*time.Minute))},
		"six minutes ahead": {body, sign(body, hookSecret, now.Add(6*time.Minute))},
		"a day ahead":       {body, sign(body, hookSecret, now.Add(24*time.Hour))},
	} {
		_, err := payments.ReadEvent(c.body, c.header, []string{hookSecret}, now)
		require.ErrorIs(t, err, payments.ErrSignature, name)
	}
	for _, broken := range []string{"", "{", "null", "{}", `{"id":"evt_1"}`, `{"id":"evt_1","data":{"object":[]}}`} {
		_, err := payments.ReadEvent([]byte(broken), sign([]byte(broken), hookSecret, now), []string{hookSecret}, now)
		require.Error(t, err, broken)
	}
}

// docs/peers.md row 41: events in another version of the API were refused in
// silence for days. Here they are applied, since nothing but names is read,
// and said aloud.
func TestRow41_AnotherAPIVersionIsAnAlarmAndNotSilence(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, key := w.place("pm_card_visa")
	for i, version := range []string{"2026-08-26.dahlia", ""} {
		body := eventBody(fmt.Sprint("evt_", i), "payment_intent.succeeded", version, "pi_1", key)
		e, err := payments.ReadEvent(body, sign(body, hookSecret, time.Now()), []string{hookSecret}, time.Now())
		require.NoError(t, err)
		require.True(t, e.Foreign())
		require.NoError(t, w.events().Receive(context.Background(), e))
		require.Contains(t, w.log.String(), e.ID)
	}
	require.Contains(t, w.log.String(), "level=ERROR")
	require.Contains(t, string(w.eventOp("evt_0").Result), "dahlia")
	require.Equal(t, 2, w.checks())
}

// docs/peers.md row 36: a handling that fails half-way leaves no mark, so that the
// repeat works.
func TestRow36_AFailedHandlingCanBeRepeated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := context.Background()
	_, key := w.place("pm_card_visa")
	e := w.event("evt_1", "payment_intent.succeeded", "pi_1", key)
	_, err := w.pool.Exec(ctx, `ALTER TABLE outbox_messages ADD CONSTRAINT broken CHECK (topic <> 'payment.check_requested')`)
	require.NoError(t, err)
	require.Error(t, w.events().Receive(ctx, e))
	_, err = w.ops.Get(ctx, mustDerive(t, "evt_1"))
	require.ErrorIs(t, err, operations.ErrNotFound)
	_, err = w.pool.Exec(ctx, `ALTER TABLE outbox_messages DROP CONSTRAINT broken`)
	require.NoError(t, err)
	require.NoError(t, w.events().Receive(ctx, e))
	require.Equal(t, 1, w.checks())
}

// Two endpoints of one account may render one event differently; we only look,
// and have looked.
func TestAKnownEventInAnotherFormIsReceived(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, key := w.place("pm_card_visa")
	for _, version := range []string{"2023-10-16", "2026-08-26.dahlia"} {
		body := eventBody("evt_1", "payment_intent.succeeded", version, "pi_1", key)
		e, err := payments.ReadEvent(body, sign(body, hookSecret, time.Now()), []string{hookSecret}, time.Now())
		require.NoError(t, err)
		require.NoError(t, w.events().Receive(context.Background(), e))
	}
	require.Equal(t, 1, w.checks())
	nul := bytes.Replace(eventBody("evt_2", "payment_intent.succeeded", "2023-10-16", "pi_1", key), []byte("evt_2"), []byte(`evt\u0000`), 1)
	_, err := payments.ReadEvent(nul, sign(nul, hookSecret, time.Now()), []string{hookSecret}, time.Now())
	require.ErrorContains(t, err, "NUL")
}

func mustDerive(t *testing.T, eventID string) operations.Key {
	t.Helper()
	key, _, err := operations.Derive(payments.EventKind, map[string]string{"eventId": eventID})
	require.NoError(t, err)
	return key
}

// An early look at a charge that somebody holds must not be lost.
func TestAnEarlyLookAtAHeldChargeIsRepeated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := context.Background()
	_, key := w.place("pm_card_visa")
	op := w.op(key)
	_, _, err := w.ops.Claim(ctx, op.Intent(), operations.ClaimOptions{Outside: true})
	require.NoError(t, err)
	require.ErrorIs(t, w.pay.Charge(ctx, key, operations.ClaimOptions{Early: true}), operations.ErrLeaseHeld)
	require.NoError(t, w.pay.Charge(ctx, key, operations.ClaimOptions{}))
}

// The shopper comes back from the bank: the charge is looked at, once.
func TestTheShoppersReturnAsksForALook(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := context.Background()
	order, key := w.place("pm_card_threeDSecure2Required")
	note := func() {
		require.NoError(t, pgx.BeginFunc(ctx, w.pool, func(tx pgx.Tx) error { return payments.NoteReturn(ctx, tx, w.op(key)) }))
	}
	note()
	require.Zero(t, w.checks(), "nothing waits for the shopper yet")
	w.charge(key)
	w.approve(*w.op(key).ProviderRef)
	note()
	require.Equal(t, 1, w.checks())
	require.NoError(t, w.pay.Charge(ctx, key, operations.ClaimOptions{Early: true}))
	w.requirePaidOnce(order, key)
}

// approve confirms a payment at the bank's page, as the shopper does.
func (w *world) approve(intent string) {
	w.t.Helper()
	pi, _, err := w.gateway.RetrieveIntent(context.Background(), intent)
	require.NoError(w.t, err)
	require.NotEmpty(w.t, pi.ActionURL)
	resp, err := http.PostForm(pi.ActionURL, url.Values{"result": {"approve"}, "stay": {"1"}})
	require.NoError(w.t, err)
	_, err = io.Copy(io.Discard, resp.Body)
	require.NoError(w.t, err)
	require.NoError(w.t, resp.Body.Close())
}
