package payments_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"shop/internal/operations"
	"shop/internal/orders"
	"shop/internal/payments"
)

func TestADeclineSaysWhyAndLeavesNothingAlive(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	order, key := w.place("pm_card_visa_chargeDeclinedInsufficientFunds")
	w.charge(key)
	op := w.op(key)
	require.Equal(t, operations.Done, op.State)
	require.Equal(t, operations.Declined, *op.Outcome)
	require.Empty(t, w.moved())
	got := w.order(order.PublicID)
	require.Equal(t, orders.PaymentFailed, got.State)
	require.Equal(t, "The card does not have enough money on it for this order.", got.Reason)
	pi, _, err := w.gateway.RetrieveIntent(context.Background(), *op.ProviderRef)
	require.NoError(t, err)
	require.Equal(t, "canceled", pi.Status, "a declined PaymentIntent could still succeed later")
}

// docs/peers.md rows 4, 5 and 6: after a decline another card, or the same one,
// reaches the bank under a new key, within one order.
func TestRow4_ADeclineThenAnotherCardPaysTheSameOrder(t *testing.T) {
	t.Parallel()
	for _, declined := range []string{"pm_card_visa_chargeDeclined", "pm_card_chargeDeclinedProcessingError"} {
		w := newWorld(t)
		order, first := w.place(declined)
		w.charge(first)
		ok, err := payments.Retry(context.Background(), w.pool, w.orders, w.ops, order, 1, payments.Method{PaymentMethod: declined})
		require.NoError(t, err)
		require.True(t, ok)
		second := w.planFrom("payment.requested", payments.RetryIntent)
		require.NotEqual(t, first, second)
		w.charge(second)
		require.Equal(t, operations.Declined, *w.op(second).Outcome, "the same card was asked again")
		ok, err = payments.Retry(context.Background(), w.pool, w.orders, w.ops, order, 1, payments.Method{PaymentMethod: "pm_card_visa"})
		require.NoError(t, err)
		require.False(t, ok, "the form of the first decline has had its answer")
		require.Equal(t, orders.PaymentFailed, w.order(order.PublicID).State)
		ok, err = payments.Retry(context.Background(), w.pool, w.orders, w.ops, order, 2, payments.Method{PaymentMethod: "pm_card_visa"})
		require.NoError(t, err)
		require.True(t, ok)
		third := w.planFrom("payment.requested", payments.RetryIntent)
		w.charge(third)
		require.True(t, w.op(third).Succeeded())
		require.Len(t, w.moved(), 1)
		require.Equal(t, orders.Paid, w.order(order.PublicID).State)
		confirms := 0
		for _, r := range w.requests() {
			if r.Executed && strings.HasSuffix(r.Endpoint, "/confirm") {
				confirms++
			}
		}
		require.Equal(t, 3, confirms, "each attempt reached the bank once")
	}
}

func TestManyClicksOnTryAgainAreOneAttempt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	order, key := w.place("pm_card_visa_chargeDeclined")
	w.charge(key)
	var reopened atomic.Int64
	var wg sync.WaitGroup
	for range 40 { // more than the pool has connections
		wg.Go(func() {
			ok, err := payments.Retry(context.Background(), w.pool, w.orders, w.ops, order, 1, payments.Method{PaymentMethod: "pm_card_visa"})
			if err != nil {
				t.Errorf("retrying: %v", err)
			}
			if ok {
				reopened.Add(1)
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 1, reopened.Load())
	w.charge(w.planFrom("payment.requested", payments.RetryIntent))
	require.Len(t, w.moved(), 1)
	ok, err := payments.Retry(context.Background(), w.pool, w.orders, w.ops, order, 1, payments.Method{PaymentMethod: "pm_card_visa"})
	require.NoError(t, err)
	require.False(t, ok, "a paid order is not paid again")
}

// The cancel after a decline fails, or is done and not answered: the attempt
// still ends declined, and nothing stays alive.
func TestFaultsAtTheCancelAfterADecline(t *testing.T) {
	t.Parallel()
	for i, kind := range []string{"drop_before", "drop_after", "error_500_with_effect", "rate_limit", "conflict", "drop_after", "html_502_with_effect", "error_500_without_effect"} {
		w := newWorld(t)
		method, reason := "pm_card_visa_chargeDeclined", "The bank declined the card."
		if i > 4 {
			// Refused without leaving a trace on the PaymentIntent: the reason must not be lost with the answer.
			method, reason = "pm_of_nobody", "The card details could no longer be used. Please enter them again."
		}
		order, key := w.place(method)
		count := 1
		if strings.HasPrefix(kind, "drop") {
			count = 2 // net/http repeats a keyed request once when a kept connection breaks
		}
		w.fault(kind, "POST /v1/payment_intents/{id}/cancel", count)
		w.charge(key)
		require.Equal(t, operations.Waiting, w.op(key).State, kind)
		require.Eventually(t, func() bool { return w.chargeEarly(key).State == operations.Done }, 20*time.Second, 50*time.Millisecond, kind)
		op := w.op(key)
		require.Equal(t, operations.Declined, *op.Outcome, kind)
		require.Equal(t, orders.PaymentFailed, w.order(order.PublicID).State)
		require.Equal(t, reason, w.order(order.PublicID).Reason, kind)
		pi, _, err := w.gateway.RetrieveIntent(context.Background(), *op.ProviderRef)
		require.NoError(t, err)
		require.Equal(t, "canceled", pi.Status, kind)
	}
}

// docs/peers.md row 64: requires_action is a 200 and is no success.
func TestRow64_ACardThatNeedsTheBankIsNotPaidBefore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	order, key := w.place("pm_card_threeDSecure2Required")
	w.charge(key)
	op := w.op(key)
	require.Equal(t, operations.Waiting, op.State)
	require.Equal(t, payments.WaitForShopper, *op.WaitReason)
	require.Empty(t, w.moved())
	require.Equal(t, orders.Placed, w.order(order.PublicID).State)
	pi, _, err := w.gateway.RetrieveIntent(context.Background(), *op.ProviderRef)
	require.NoError(t, err)
	require.NotEmpty(t, pi.ActionURL)

	// However long ago the first call was: the shopper has all the time from when the bank asked.
	_, err = w.pool.Exec(context.Background(), `UPDATE operations SET first_sent_at = clock_timestamp() - interval '16 minutes', retry_at = clock_timestamp()`)
	require.NoError(t, err)
	w.charge(key)
	require.Equal(t, payments.WaitForShopper, *w.op(key).WaitReason)
	require.Greater(t, time.Until(*w.op(key).RetryAt), 10*time.Minute)

	// The shopper never confirms: the PaymentIntent is canceled before the order is given up.
	_, err = w.pool.Exec(context.Background(), `UPDATE operations SET result = jsonb_set(result, '{at}', to_jsonb(clock_timestamp() - interval '1 s')), retry_at = clock_timestamp()`)
	require.NoError(t, err)
	w.charge(key)
	require.Equal(t, "The payment was not confirmed with the bank in time.", w.order(order.PublicID).Reason)
	require.Equal(t, operations.Canceled, *w.op(key).Outcome)
	require.Equal(t, orders.PaymentFailed, w.order(order.PublicID).State)
	pi, _, err = w.gateway.RetrieveIntent(context.Background(), *op.ProviderRef)
	require.NoError(t, err)
	require.Equal(t, "canceled", pi.Status)
}

// A request that is wrong is a bug of ours: a person looks, and nobody is told
// to check a card.
func TestAWrongRequestIsStuckAndNotDeclined(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	order, key := w.place("pm_card_visa")
	_, err := w.pool.Exec(context.Background(), `UPDATE operations SET params = jsonb_set(params, '{currency}', '"zzz"')`)
	require.NoError(t, err)
	w.charge(key)
	require.Equal(t, operations.Stuck, w.op(key).State)
	require.Equal(t, orders.Placed, w.order(order.PublicID).State)
	require.Contains(t, w.log.String(), "the provider refused our request")
}

// docs/peers.md rows 2, 3 and 19: the key depends on what the charge is, and the
// frozen parameters on what was agreed; neither on time, chance or the card.
func TestRow2_KeysAndParametersAreAFunctionOfTheOrder(t *testing.T) {
	t.Parallel()
	payload := func(method string) []byte {
		p, err := json.Marshal(map[string]any{"order_id": 1042, "public_id": "ord_x", "amount": 100, "currency": "usd",
			"payment": map[string]string{"payment_method": method}})
		require.NoError(t, err)
		return p
	}
	a, err := payments.ChargeIntent(payload("pm_a"))
	require.NoError(t, err)
	again, err := payments.ChargeIntent(payload("pm_a"))
	require.NoError(t, err)
	b, err := payments.ChargeIntent(payload("pm_b"))
	require.NoError(t, err)
	require.Equal(t, a, again)
	require.Equal(t, a.Key, b.Key, "another card is the same charge")
	require.NotEqual(t, a.Fingerprint, b.Fingerprint, "and a conflict, not a second charge")
	key, _, err := operations.Derive("charge", map[string]int{"orderId": 1042, "attempt": 1})
	require.NoError(t, err)
	require.Equal(t, key, a.Key)
}

// docs/peers.md row 121: the text of a card error contains the client secret.
func TestRow121_NoSecretIsStoredOrLogged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, key := w.place("pm_card_visa_chargeDeclined")
	w.fault("drop_after", "POST /v1/payment_intents/{id}/confirm", 1)
	w.chargeUntilDone(key)
	for _, table := range []string{"operations", "operation_events", "outbox_messages", "orders"} {
		var text string
		require.NoError(t, w.pool.QueryRow(context.Background(), `SELECT coalesce(string_agg(t::text, E'\n'), '') FROM `+table+` t`).Scan(&text))
		require.NotEmpty(t, text)
		for _, secret := range []string{"_secret_", "sk_test_", "whsec_"} {
			require.NotContains(t, text, secret, table)
		}
	}
	require.NotContains(t, w.log.String(), "_secret_")
}

func (w *world) moveSimClock(by time.Duration) {
	w.t.Helper()
	w.post("/_sim/clock", map[string]any{"advance": by.String()})
}
