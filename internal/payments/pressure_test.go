package payments_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"shop/internal/operations"
	"shop/internal/payments"
)

// The provider is down: after a few failures nothing more is sent, the charges
// wait without using anything up, and one probe opens the way again.
func TestTheBreakerPausesAndOneProbeClosesIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	order, key := w.place("pm_card_visa")
	w.fault("error_500_without_effect", "GET /v1/payment_intents/{id}", 5)
	for range 5 {
		_, _, err := w.gateway.RetrieveIntent(context.Background(), "pi_none")
		require.Error(t, err)
	}
	require.True(t, w.gateway.Open())
	sent := len(w.requests())
	w.charge(key)
	op := w.op(key)
	require.Equal(t, operations.Waiting, op.State)
	require.Equal(t, "provider unavailable", *op.WaitReason)
	require.False(t, op.OutcomeUnknown, "what was not sent has no outcome to wonder about")
	require.Len(t, w.requests(), sent, "nothing was sent")
	require.Greater(t, time.Until(*op.RetryAt), time.Second)

	require.Eventually(t, func() bool { return !w.gateway.Open() }, 20*time.Second, 50*time.Millisecond)
	w.chargeUntilDone(key)
	w.requirePaidOnce(order, key)
	require.False(t, w.gateway.Open())
}

// A 429 slows everybody, and a charge whose outcome is unknown stays so while
// calls pause.
func TestA429SlowsTheWholeQueue(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	order, key := w.place("pm_card_visa")
	w.fault("drop_after", "POST /v1/payment_intents/{id}/confirm", 2)
	w.charge(key)
	require.True(t, w.op(key).OutcomeUnknown)
	w.fault("rate_limit", "GET /v1/payment_intents/{id}", 1)
	_, _, err := w.gateway.RetrieveIntent(context.Background(), "pi_none")
	require.ErrorContains(t, err, "429")
	_, _, err = w.gateway.RetrieveIntent(context.Background(), "pi_none")
	var problem *payments.ProviderError
	require.ErrorAs(t, err, &problem)
	require.True(t, problem.Paused)
	require.NoError(t, w.pay.Charge(context.Background(), key, operations.ClaimOptions{Early: true}))
	require.True(t, w.op(key).OutcomeUnknown)
	require.Equal(t, "provider unavailable", *w.op(key).WaitReason)
	require.Eventually(t, func() bool { return w.chargeEarly(key).Succeeded() }, 20*time.Second, 100*time.Millisecond)
	w.requirePaidOnce(order, key)
}

func (w *world) chargeEarly(key operations.Key) operations.Operation {
	if err := w.pay.Charge(context.Background(), key, operations.ClaimOptions{Early: true}); err != nil {
		w.t.Errorf("charging: %v", err)
	}
	return w.op(key)
}
