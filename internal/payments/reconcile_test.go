package payments_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"shop/internal/operations"
	"shop/internal/payments"
)

func (w *world) reconciler() *payments.Reconciler {
	return payments.NewReconciler(w.pool, w.ops, w.gateway, slog.New(slog.NewTextHandler(w.log, nil)))
}

// docs/peers.md row 31: both events were lost and the order stayed unpaid. The
// comparison alone brings it home.
func TestRow31_AChargeThatIsBehindIsLookedAt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := context.Background()
	order, key := w.place("pm_card_visa")
	w.fault("drop_after", "POST /v1/payment_intents/{id}/confirm", 2)
	w.charge(key)
	report, err := w.reconciler().Run(ctx)
	require.NoError(t, err)
	require.Equal(t, []string{*w.op(key).ProviderRef}, report.Behind)
	require.Equal(t, 1, w.checks())
	require.NoError(t, w.pay.Charge(ctx, key, operations.ClaimOptions{Early: true}))
	w.requirePaidOnce(order, key)
	report, err = w.reconciler().Run(ctx)
	require.NoError(t, err)
	require.Empty(t, report.Behind)
	require.Empty(t, report.Orphans)
	require.Equal(t, 1, report.Compared)
	require.False(t, report.Since.IsZero(), "the second run begins where the first has been, with some overlap")
	require.Less(t, time.Since(report.Since), 27*time.Hour)
	require.Equal(t, 1, w.checks())
}

func TestMoneyThatNobodyAskedForIsListedAndNotBooked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := context.Background()
	foreign := payments.ChargeParams{Amount: 999, Currency: "usd", MethodTypes: []string{"card"}, Method: payments.Method{PaymentMethod: "pm_card_visa"}}
	pi, _, err := w.gateway.CreateIntent(ctx, "foreign", foreign)
	require.NoError(t, err)
	open, _, err := w.gateway.CreateIntent(ctx, "open", foreign)
	require.NoError(t, err)
	_, _, err = w.gateway.ConfirmIntent(ctx, "foreign", pi.ID, foreign)
	require.NoError(t, err)
	for range 2 {
		report, err := w.reconciler().Since(ctx, time.Time{})
		require.NoError(t, err)
		require.Equal(t, []string{pi.ID}, report.Orphans)
		require.NotContains(t, report.Orphans, open.ID, "no money has moved there")
	}
	require.Equal(t, 1, w.count(`SELECT count(*) FROM orphan_payments WHERE provider_ref = $1 AND amount = 999`, pi.ID))
	require.Zero(t, w.count(`SELECT count(*) FROM payments`))
}

func TestRefundsThatAreMissingHereAreCompared(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := context.Background()
	w.paid()
	intent := w.moved()[0].PaymentIntent
	for _, id := range []operations.Key{"one", "two"} {
		_, _, err := w.gateway.CreateRefund(ctx, id, payments.RefundParams{PaymentIntent: intent, Amount: 100})
		require.NoError(t, err)
	}
	report, err := w.reconciler().Run(ctx)
	require.NoError(t, err)
	require.Equal(t, []string{intent}, report.Refunds, "once for both")
	require.NoError(t, w.refunds().Sync(ctx, intent))
	report, err = w.reconciler().Run(ctx)
	require.NoError(t, err)
	require.Empty(t, report.Refunds)
}

// The provider fails in the middle: the cursor stays, and the next run reads it all.
func TestAnInterruptedComparisonMovesNoCursor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.paid()
	w.fault("error_500_without_effect", "GET /v1/refunds", 1)
	_, err := w.reconciler().Run(context.Background())
	require.Error(t, err)
	require.Zero(t, w.count(`SELECT count(*) FROM reconciliation_cursors`))
	_, err = w.reconciler().Run(context.Background())
	require.NoError(t, err)
	require.Equal(t, 1, w.count(`SELECT count(*) FROM reconciliation_cursors`))
}
