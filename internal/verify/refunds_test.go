package verify_test

import (
	"context"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"shop/internal/operations"
	"shop/internal/orders"
	"shop/internal/payments"
	"shop/internal/verify"
)

// ask enters a refund of an order.
func (w *world) ask(o orders.Order, id string, amount int64) {
	w.t.Helper()
	_, _, err := payments.RequestRefund(context.Background(), w.pool, payments.RefundRequest{ID: id, OrderID: o.ID, Amount: amount, Reason: "test", Actor: "ada"})
	require.NoError(w.t, err)
}

// refunded returns an order of which 10 dollars went back as rfd_1, and the
// provider's name for that.
func (w *world) refunded() (orders.Order, string) {
	w.t.Helper()
	order := w.paid()
	w.ask(order, "rfd_1", 1000)
	w.drain()
	require.NoError(w.t, w.run(w.sources()).Err())
	return order, *w.operation(order, payments.RefundKind).ProviderRef
}

// byHand gives money back at the provider itself.
func (w *world) byHand(o orders.Order, operation operations.Key) string {
	w.t.Helper()
	form := url.Values{"payment_intent": {*w.operation(o, payments.ChargeKind).ProviderRef}, "amount": {"100"}}
	key := "by-hand"
	if operation != "" {
		form.Set("metadata[operation]", string(operation))
		key = operation.Call("refund").String()
	}
	return w.call("/v1/refunds", key, form)
}

// quietly leaves out the simulator's log of requests, which knows what was done by hand.
func (w *world) quietly() verify.Sources {
	s := w.sources()
	s.Simulator = verify.Simulator{}
	return s
}

func TestI8_ARefundThatTheBooksDoNotHave(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.paid()
	order := w.paid()
	refund := w.byHand(order, "")
	w.requireBroken(w.quietly(), "I8", refund)
	require.NoError(t, w.refunds.Sync(context.Background(), *w.operation(order, payments.ChargeKind).ProviderRef))
	require.NoError(t, w.run(w.quietly()).Err(), "it has been entered")
}

func TestI8_ARefundThatIsNotRecordedYetIsPending(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	order := w.paid()
	w.ask(order, "rfd_1", 100)
	require.NoError(t, w.run(w.sources()).Err(), "it was only asked for")
	w.pass()
	key := w.operation(order, payments.RefundKind).Key
	refund := w.byHand(order, key)
	report := w.run(w.sources())
	require.NoError(t, report.Err())
	require.Equal(t, []string{refund}, unsettled(result(t, report, "I8")))
	w.exec(`UPDATE operations SET state = 'stuck', error = 'nobody knows' WHERE op_key = $1`, key)
	w.requireBroken(w.sources(), "I8", refund)
}

func TestI8_ASecondRefundOfOneOperation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	order, _ := w.refunded()
	id := w.call("/v1/refunds", "again", url.Values{"payment_intent": {*w.operation(order, payments.ChargeKind).ProviderRef}, "amount": {"1000"},
		"metadata[operation]": {string(w.operation(order, payments.RefundKind).Key)}})
	w.requireBroken(w.quietly(), "I8", id)
}

func TestI8_ARefundOfAnotherAmountOrCurrency(t *testing.T) {
	t.Parallel()
	for _, change := range []string{"amount = amount + 1", "currency = 'eur'"} {
		w := newWorld(t)
		_, refund := w.refunded()
		w.exec(`UPDATE refunds SET ` + change)
		w.requireBroken(w.sources(), "I8", refund)
	}
}

func TestI8_ARefundThatTheProviderDoesNotHave(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, refund := w.refunded()
	w.exec(`UPDATE refunds SET provider_ref = 're_nowhere'`)
	w.requireBroken(w.sources(), "I8", refund, "refund rfd_1")
}

func TestI8_ARefundThatItsOperationContradicts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	order, refund := w.refunded()
	w.exec(`UPDATE operations SET outcome = 'failed' WHERE kind = 'refund'`)
	w.requireBroken(w.sources(), "I8", "refund rfd_1")
	w.exec(`UPDATE operations SET outcome = 'succeeded' WHERE kind = 'refund'`)
	w.exec(`UPDATE refunds SET state = 'failed'`)
	w.requireBroken(w.sources(), "I8", refund, "refund rfd_1")
	w.exec(`UPDATE refunds SET state = 'succeeded', op_key = NULL`)
	w.requireBroken(w.sources(), "I8", "operation "+string(w.operation(order, payments.RefundKind).Key))
}

func TestI8_MoreAskedForThanPaid(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	order, _ := w.refunded()
	w.exec(`INSERT INTO refunds (public_id, order_id, payment_id, amount, currency, state, reason, requested_by)
		SELECT 'rfd_2', order_id, id, amount - 999, currency, 'requested', 'test', 'ada' FROM payments`)
	w.requireBroken(w.sources(), "I8", name(order))
}

// generous is an account in which more was given back than was received.
type generous struct{ verify.Provider }

func (g generous) PaymentIntents(ctx context.Context, since time.Time, each func(payments.ListedIntent) error) error {
	return g.Provider.PaymentIntents(ctx, since, func(pi payments.ListedIntent) error {
		pi.Refunded = pi.Received + 1
		return each(pi)
	})
}

func TestI8_MoreGivenBackThanReceived(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	order := w.paid()
	s := w.sources()
	s.Provider = generous{w.gateway}
	w.requireBroken(s, "I8", *w.operation(order, payments.ChargeKind).ProviderRef)
}

func TestI4_ARefundWhoseMessageIsLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	order := w.paid()
	w.ask(order, "rfd_1", 100)
	w.exec(`UPDATE outbox_messages SET dispatched_at = now() WHERE dispatched_at IS NULL`)
	broken := w.requireBroken(w.sources(), "I4", "message 3")
	require.Contains(t, broken.Violations[0].Detail, "refund.requested")
	w.exec(`DELETE FROM outbox_messages WHERE topic = 'refund.requested'`)
	w.requireBroken(w.sources(), "I4", "refund rfd_1")
}

func TestRefundsOfAnAccountAreReadInPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	order := w.paid()
	pi := *w.operation(order, payments.ChargeKind).ProviderRef
	var ids []string
	for range 103 {
		ids = append(ids, w.call("/v1/refunds", "", url.Values{"payment_intent": {pi}, "amount": {"1"}}))
	}
	slices.Sort(ids)
	broken := w.requireBroken(w.quietly(), "I8", ids[:50]...)
	require.EqualValues(t, 103, broken.Failed)
}

// A refund that somebody made at the provider came with a key of theirs. Once
// it is in the books, it is nobody's mistake.
func TestI7_AKeyOfTheProvidersOwnDashboardIsNoAlarm(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	order := w.paid()
	s := w.sources()
	refund := w.call("/v1/refunds", "by-hand", url.Values{"payment_intent": {*w.operation(order, payments.ChargeKind).ProviderRef}, "amount": {"100"}})
	require.False(t, result(t, w.run(s), "I7").OK)
	w.exec(`INSERT INTO refunds (public_id, order_id, payment_id, provider_ref, amount, currency, state, reason, requested_by, settled_at)
		SELECT $1, order_id, id, $1, 100, 'usd', 'succeeded', 'test', 'test', clock_timestamp() FROM payments`, refund)
	require.NoError(t, w.run(s).Err())
}
