package payments_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"shop/internal/operations"
	"shop/internal/orders"
	"shop/internal/payments"
)

func TestAChargeIsCreatedThenConfirmedThenBooked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	order, key := w.place("pm_card_visa")
	w.charge(key)
	w.requirePaidOnce(order, key)
	var posts []string
	for _, r := range w.requests() {
		posts = append(posts, r.Endpoint)
	}
	require.ElementsMatch(t, []string{"POST /v1/payment_intents", "POST /v1/payment_intents/{id}/confirm"}, posts)
}

// Every fault at every write, "failed" and "failed but applied": the charge
// ends paid, once.
func TestEveryFaultAtEveryWriteEndsPaidOnce(t *testing.T) {
	t.Parallel()
	faults := []string{"drop_before", "drop_after", "slow_after", "truncate", "broken_json", "reset", "html_502", "html_502_with_effect",
		"error_500_with_effect", "rate_limit", "conflict", "unavailable", "unauthorized"}
	for _, endpoint := range []string{"POST /v1/payment_intents", "POST /v1/payment_intents/{id}/confirm"} {
		for _, kind := range faults {
			t.Run(kind+" at "+endpoint[strings.LastIndex(endpoint, "/")+1:], func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				order, key := w.place("pm_card_visa")
				count := 1
				if strings.HasPrefix(kind, "drop") && strings.HasSuffix(endpoint, "confirm") {
					// net/http itself repeats a request that has an Idempotency-Key when a kept connection breaks.
					count = 2
				}
				w.fault(kind, endpoint, count)
				w.charge(key)
				first := w.op(key)
				require.Equal(t, operations.Waiting, first.State, "an answer that is not one is never an outcome")
				require.Equal(t, orders.Placed, w.order(order.PublicID).State, "an unknown outcome is never a failure")
				require.Eventually(t, func() bool { return w.chargeEarly(key).State == operations.Done }, 20*time.Second, 50*time.Millisecond)
				w.requirePaidOnce(order, key)
			})
		}
	}
}

// docs/peers.md row 1: a pay request that is repeated five times, at once and one
// after the other, while the first answer is slow.
func TestRow1_FivePaysAreOneCharge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	order, key := w.place("pm_card_visa")
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() {
			if err := w.pay.Charge(context.Background(), key, operations.ClaimOptions{Source: operations.SourceQueue}); err != nil {
				t.Errorf("charging: %v", err)
			}
		})
	}
	wg.Wait()
	for range 5 {
		w.charge(key)
	}
	w.requirePaidOnce(order, key)
	require.EqualValues(t, 1, w.op(key).Claims)
}

// docs/peers.md row 22: the provider did it and our commit did not happen. The
// next worker finds the same object under the same key.
func TestRow22_ACrashBeforeOurCommitFindsTheSameCharge(t *testing.T) {
	t.Parallel()
	for _, stopAfter := range []string{"create", "confirm"} {
		w := newWorld(t)
		order, key := w.place("pm_card_visa")
		// A worker that dies after the call: it did everything at the provider and nothing here.
		op := w.op(key)
		lease, _, err := w.ops.Claim(context.Background(), op.Intent(), operations.ClaimOptions{Outside: true})
		require.NoError(t, err)
		var params payments.ChargeParams
		require.NoError(t, json.Unmarshal(lease.Params, &params))
		pi, _, err := w.gateway.CreateIntent(context.Background(), lease.Key, params)
		require.NoError(t, err)
		if stopAfter == "confirm" {
			_, _, err = w.gateway.ConfirmIntent(context.Background(), lease.Key, pi.ID, params)
			require.NoError(t, err)
		}
		_, err = w.pool.Exec(context.Background(), `UPDATE operations SET lease_until = clock_timestamp()`)
		require.NoError(t, err)
		w.charge(key)
		w.requirePaidOnce(order, key)
		require.Equal(t, pi.ID, *w.op(key).ProviderRef)
		require.EqualValues(t, 2, w.op(key).Fence)
	}
}

// docs/peers.md rows 62 and 13: a confirm of a PaymentIntent that has succeeded is
// not a failure.
func TestRow62_AConfirmAfterTheProviderForgotTheKeyIsNoSecondCharge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	order, key := w.place("pm_card_visa")
	w.fault("drop_after", "POST /v1/payment_intents/{id}/confirm", 2)
	w.charge(key)
	require.Equal(t, operations.Waiting, w.op(key).State)
	require.True(t, w.op(key).OutcomeUnknown)
	w.moveSimClock(25 * time.Hour)
	w.chargeUntilDone(key)
	w.requirePaidOnce(order, key)
}

// docs/peers.md row 21: past twenty hours nothing is sent again without knowing the object.
func TestRow21_AnOldUnknownCreateIsNotRepeated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, key := w.place("pm_card_visa")
	w.fault("drop_before", "POST /v1/payment_intents", 1)
	w.charge(key)
	_, err := w.pool.Exec(context.Background(), `UPDATE operations SET first_sent_at = clock_timestamp() - interval '21 hours'`)
	require.NoError(t, err)
	op := w.chargeUntilDone(key)
	require.Equal(t, operations.Stuck, op.State)
	require.True(t, op.OutcomeUnknown)
	creates := 0
	for _, r := range w.requests() {
		if r.Endpoint == "POST /v1/payment_intents" {
			creates++
		}
	}
	require.Equal(t, 1, creates)
}

// A 500 that is stored under the key of a confirm answers every repeat. When the
// provider forgets the key, the card must not be charged a day late.
func TestAnOldUnconfirmedChargeIsCanceledAndNotConfirmed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	order, key := w.place("pm_card_visa")
	w.fault("error_500_without_effect", "POST /v1/payment_intents/{id}/confirm", 1)
	w.charge(key)
	require.Equal(t, operations.Waiting, w.op(key).State)
	w.chargeEarly(key)
	require.Equal(t, operations.Waiting, w.op(key).State, "the stored 500 comes again")
	w.moveSimClock(30 * time.Hour)
	_, err := w.pool.Exec(context.Background(), `UPDATE operations SET first_sent_at = clock_timestamp() - interval '21 hours'`)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return w.chargeEarly(key).State == operations.Done }, 20*time.Second, 50*time.Millisecond)
	require.Equal(t, operations.Canceled, *w.op(key).Outcome)
	require.Empty(t, w.moved())
	require.Equal(t, "The payment could not be made in time. Nothing was charged.", w.order(order.PublicID).Reason)
}

func TestAMismatchedAmountIsNeverPaid(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	order, key := w.place("pm_card_visa")
	pi, _, err := w.gateway.CreateIntent(context.Background(), operations.Key("foreign"),
		payments.ChargeParams{Amount: order.Total.Amount + 1, Currency: "usd", MethodTypes: []string{"card"}})
	require.NoError(t, err)
	_, _, err = w.gateway.ConfirmIntent(context.Background(), operations.Key("foreign"), pi.ID, payments.ChargeParams{Method: payments.Method{PaymentMethod: "pm_card_visa"}})
	require.NoError(t, err)
	_, err = w.pool.Exec(context.Background(), `UPDATE operations SET provider_ref = $1`, pi.ID)
	require.NoError(t, err)
	op := w.chargeUntilDone(key)
	require.Equal(t, operations.Stuck, op.State)
	require.Contains(t, *op.Error, "3601")
	require.Equal(t, orders.Placed, w.order(order.PublicID).State)
}
