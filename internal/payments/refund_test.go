package payments_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"shop/internal/apperr"
	"shop/internal/operations"
	"shop/internal/orders"
	"shop/internal/payments"
)

// paid returns an order of $36.00 that has been paid.
func (w *world) paid() orders.Order {
	w.t.Helper()
	order, key := w.place("pm_card_visa")
	w.charge(key)
	w.requirePaidOnce(order, key)
	return order
}

func (w *world) refunds() *payments.Refunds {
	return payments.NewRefunds(w.pool, w.ops, w.gateway, payments.Policy{}, slog.New(slog.NewTextHandler(w.log, nil)))
}

// ask enters a refund and plans it, as the relay does.
func (w *world) ask(order orders.Order, id string, amount int64) operations.Key {
	w.t.Helper()
	_, repeat, err := payments.RequestRefund(context.Background(), w.pool, payments.RefundRequest{ID: id, OrderID: order.ID, Amount: amount, Reason: "test", Actor: "ada"})
	require.NoError(w.t, err)
	require.False(w.t, repeat)
	return w.planFrom("refund.requested", payments.RefundIntent)
}

func (w *world) refund(key operations.Key) operations.Operation {
	if err := w.refunds().Refund(context.Background(), key, operations.ClaimOptions{Early: true}); err != nil {
		w.t.Errorf("refunding: %v", err)
	}
	return w.op(key)
}

// returned is what the provider says has gone back, and how often.
func (w *world) returned() (total int64, times int) {
	w.t.Helper()
	var ledger struct {
		Accounts []struct {
			Refunds []struct {
				Amount int64 `json:"amount"`
			} `json:"refunds"`
		} `json:"accounts"`
	}
	w.get("/_sim/ledger", &ledger)
	for _, a := range ledger.Accounts {
		for _, r := range a.Refunds {
			total, times = total+r.Amount, times+1
		}
	}
	return total, times
}

func (w *world) count(sql string, args ...any) (n int) {
	w.t.Helper()
	require.NoError(w.t, w.pool.QueryRow(context.Background(), sql, args...).Scan(&n))
	return n
}

func TestRefundsInPartsUntilNothingIsLeft(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	order := w.paid()
	require.True(t, w.refund(w.ask(order, "rfd_1", 1000)).Succeeded())
	require.True(t, w.refund(w.ask(order, "rfd_2", 0)).Succeeded(), "all that is left")
	total, times := w.returned()
	require.Equal(t, order.Total.Amount, total)
	require.Equal(t, 2, times)
	require.Equal(t, 2, w.count(`SELECT count(*) FROM refunds WHERE state = 'succeeded' AND provider_ref LIKE 're_%'`))
	require.Equal(t, 2, w.count(`SELECT count(*) FROM outbox_messages WHERE topic = 'refund.succeeded'`))
	_, _, err := payments.RequestRefund(context.Background(), w.pool, payments.RefundRequest{ID: "rfd_3", OrderID: order.ID, Amount: 1, Reason: "test", Actor: "ada"})
	require.Equal(t, apperr.Invalid, apperr.KindOf(err))
	require.ErrorContains(t, err, "$0.00")
	require.Equal(t, orders.Paid, w.order(order.PublicID).State)
}

// docs/peers.md row 113: two identical refunds within a second.
func TestRow113_ADoubleClickIsOneRefund(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	order := w.paid()
	var first, repeats atomic.Int64
	var wg sync.WaitGroup
	for range 30 {
		wg.Go(func() {
			_, repeat, err := payments.RequestRefund(context.Background(), w.pool, payments.RefundRequest{ID: "rfd_1", OrderID: order.ID, Amount: 500, Reason: "test", Actor: "ada"})
			switch {
			case err != nil:
				t.Errorf("asking: %v", err)
			case repeat:
				repeats.Add(1)
			default:
				first.Add(1)
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 1, first.Load())
	require.EqualValues(t, 29, repeats.Load())
	key := w.planFrom("refund.requested", payments.RefundIntent)
	for range 3 {
		w.refund(key)
	}
	total, times := w.returned()
	require.Equal(t, int64(500), total)
	require.Equal(t, 1, times)
	_, _, err := payments.RequestRefund(context.Background(), w.pool, payments.RefundRequest{ID: "rfd_1", OrderID: order.ID, Amount: 600, Reason: "test", Actor: "ada"})
	require.Equal(t, apperr.Conflict, apperr.KindOf(err), "the same id with another amount")
}

// Any number of requests at once never give back more than was paid.
func TestConcurrentRefundsNeverExceedThePayment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	order := w.paid()
	var granted atomic.Int64
	var wg sync.WaitGroup
	for i := range 30 {
		wg.Go(func() {
			_, _, err := payments.RequestRefund(context.Background(), w.pool, payments.RefundRequest{ID: "rfd_" + strings.Repeat("x", i+1), OrderID: order.ID, Amount: 700, Reason: "test", Actor: "ada"})
			if err == nil {
				granted.Add(700)
			} else if apperr.KindOf(err) != apperr.Invalid {
				t.Errorf("asking: %v", err)
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 3500, granted.Load(), "five of seven dollars fit into thirty-six")
	require.Equal(t, 5, w.count(`SELECT count(*) FROM refunds`))
}

// Every fault at the one write, "failed" and "failed but applied".
func TestEveryFaultAtARefundGivesBackOnce(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"drop_before", "drop_after", "slow_after", "truncate", "broken_json", "reset", "html_502", "html_502_with_effect",
		"error_500_with_effect", "rate_limit", "conflict", "unavailable", "unauthorized"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			order := w.paid()
			key := w.ask(order, "rfd_1", 1200)
			count := 1
			if strings.HasPrefix(kind, "drop") {
				count = 2 // net/http repeats a keyed request once when a kept connection breaks
			}
			w.fault(kind, "POST /v1/refunds", count)
			require.Equal(t, operations.Waiting, w.refund(key).State)
			require.Equal(t, 1, w.count(`SELECT count(*) FROM refunds WHERE state = 'requested'`))
			require.Eventually(t, func() bool { return w.refund(key).Succeeded() }, 20*time.Second, 50*time.Millisecond)
			total, times := w.returned()
			require.Equal(t, int64(1200), total)
			require.Equal(t, 1, times)
			require.Equal(t, 1, w.count(`SELECT count(*) FROM refunds WHERE state = 'succeeded'`))
			for _, r := range w.requests() {
				if r.Endpoint == "POST /v1/refunds" {
					require.Equal(t, key.Call("refund").String(), r.Key)
				}
			}
		})
	}
}

// docs/peers.md rows 109, 110, 111 and 115: refunds that were made at the provider,
// and events that come before our own commit or again, are one row each.
func TestRow110_ARefundMadeAtTheProviderAppearsOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := context.Background()
	order := w.paid()
	intent := w.moved()[0].PaymentIntent
	foreign, _, err := w.gateway.CreateRefund(ctx, operations.Key("dashboard"), payments.RefundParams{PaymentIntent: intent, Amount: 300})
	require.NoError(t, err)
	key := w.ask(order, "rfd_1", 500)
	w.fault("drop_after", "POST /v1/refunds", 2)
	require.Equal(t, operations.Waiting, w.refund(key).State, "the provider has it, we do not know")
	for range 3 {
		require.NoError(t, w.refunds().Sync(ctx, intent))
	}
	require.True(t, w.op(key).Succeeded(), "the event moved our own refund on through its door")
	require.Equal(t, 2, w.count(`SELECT count(*) FROM refunds WHERE state = 'succeeded'`))
	require.Equal(t, 800, w.count(`SELECT sum(amount) FROM refunds`))
	require.Equal(t, 1, w.count(`SELECT count(*) FROM refunds WHERE provider_ref = $1 AND op_key IS NULL`, foreign.ID))
	require.Equal(t, 2, w.count(`SELECT count(*) FROM outbox_messages WHERE topic = 'refund.succeeded'`))
	require.NoError(t, w.refunds().Sync(ctx, "pi_unknown"))

	// Metadata can be copied: a refund that names the charge, or a refund that is done as another, is not ours.
	charge := w.op(key)
	require.NoError(t, w.pool.QueryRow(ctx, `SELECT op_key FROM payments`).Scan(&charge.Key))
	for i, copied := range []operations.Key{charge.Key, key} {
		_, _, err = w.gateway.CreateRefund(ctx, operations.Key("copied"+string(rune('a'+i))), payments.RefundParams{PaymentIntent: intent, Amount: 10,
			Metadata: map[string]string{"operation": string(copied)}})
		require.NoError(t, err)
	}
	require.NoError(t, w.refunds().Sync(ctx, intent))
	require.Equal(t, 820, w.count(`SELECT sum(amount) FROM refunds WHERE state = 'succeeded'`))

	require.NoError(t, w.events().Receive(ctx, w.event("evt_1", "charge.refunded", intent, "")))
	require.Equal(t, 1, w.count(`SELECT count(*) FROM outbox_messages WHERE topic = 'refund.seen'`))
}

// The provider says no for good: the row is closed and the amount is free again.
func TestARefundThatCannotBeMadeFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := context.Background()
	order := w.paid()
	key := w.ask(order, "rfd_1", 3600)
	_, _, err := w.gateway.CreateRefund(ctx, operations.Key("dashboard"), payments.RefundParams{PaymentIntent: w.moved()[0].PaymentIntent, Amount: 3600})
	require.NoError(t, err)
	op := w.refund(key)
	require.Equal(t, operations.Failed, *op.Outcome)
	require.Contains(t, *op.Error, "charge_already_refunded")
	require.Equal(t, 1, w.count(`SELECT count(*) FROM refunds WHERE state = 'failed'`))
	require.Equal(t, 1, w.count(`SELECT count(*) FROM outbox_messages WHERE topic = 'refund.failed'`))
	require.NoError(t, w.refunds().Sync(ctx, w.moved()[0].PaymentIntent))
	require.Equal(t, 3600, w.count(`SELECT sum(amount) FROM refunds WHERE state = 'succeeded'`))
}

func TestWhatCannotBeRefundedIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	order, _ := w.place("pm_card_visa")
	for name, r := range map[string]payments.RefundRequest{
		"not paid":  {ID: "a", OrderID: order.ID, Amount: 1, Reason: "r", Actor: "a"},
		"no order":  {ID: "a", OrderID: 1, Amount: 1, Reason: "r", Actor: "a"},
		"no reason": {ID: "a", OrderID: order.ID, Amount: 1, Reason: " ", Actor: "a"},
		"no id":     {OrderID: order.ID, Amount: 1, Reason: "r", Actor: "a"},
		"negative":  {ID: "a", OrderID: order.ID, Amount: -1, Reason: "r", Actor: "a"},
	} {
		_, _, err := payments.RequestRefund(context.Background(), w.pool, r)
		require.Error(t, err, name)
		require.NotEqual(t, apperr.Internal, apperr.KindOf(err), name)
	}
	require.Zero(t, w.count(`SELECT count(*) FROM refunds`))
}
