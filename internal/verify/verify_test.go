package verify_test

import (
	"context"
	"fmt"
	"net/smtp"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"shop/internal/operations"
	"shop/internal/orders"
	"shop/internal/payments"
	"shop/internal/receipts"
	"shop/internal/verify"
)

func TestEverythingHoldsInAShopAtWork(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 3 {
		w.paid()
	}
	declined := w.place("pm_card_chargeDeclined")
	w.drain()
	report := w.run(w.sources())
	require.NoError(t, report.Err())
	require.True(t, report.Drained, "%+v", report.Open)

	ok, err := payments.Retry(context.Background(), w.pool, w.orders, w.ops, declined, 1, payments.Method{PaymentMethod: "pm_card_visa"})
	require.NoError(t, err)
	require.True(t, ok)
	w.drain()
	w.place("pm_card_threeDSecure2Required")
	w.drain()
	w.place("pm_card_visa")
	report = w.run(w.sources())
	require.NoError(t, report.Err())
	require.True(t, report.OK())
	require.Equal(t, verify.Open{Shoppers: 1, Messages: 1}, report.Open)
	require.False(t, report.Drained)
	for id, n := range map[string]int64{"I1": 4, "I2": 4, "I3": 6, "I8": 0} {
		require.Equal(t, n, result(t, report, id).Checked, id)
	}
	for _, one := range report.Results {
		require.Zero(t, one.Pending, "%+v", one)
	}
}

func TestAnEmptyShopHolds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	report := w.run(w.sources())
	require.NoError(t, report.Err())
	require.True(t, report.Drained)
}

func TestI1_AnAmountThatIsNotTheOrders(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.paid()
	order := w.paid()
	w.exec(`UPDATE orders SET total = total + 1 WHERE id = $1`, order.ID)
	w.exec(`UPDATE payments SET amount = amount + 1 WHERE order_id = $1`, order.ID)
	broken := w.requireBroken(w.sources(), "I1", name(order))
	require.Contains(t, broken.Violations[0].Detail, fmt.Sprintf("received %d usd", order.Total.Amount))
}

func TestI1_ACurrencyThatIsNotTheOrders(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	order := w.paid()
	w.exec(`UPDATE orders SET currency = 'eur' WHERE id = $1`, order.ID)
	w.exec(`UPDATE payments SET currency = 'eur' WHERE order_id = $1`, order.ID)
	w.requireBroken(w.sources(), "I1", name(order))
}

// closed plans one more charge of an order and ends it without money, by our books.
func (w *world) closed(o orders.Order, outcome operations.Outcome) operations.Key {
	w.t.Helper()
	in, err := payments.RetryIntent(fmt.Appendf(nil, `{"order_id": %d, "public_id": %q, "amount": %d, "currency": "usd", "attempt": 7}`, o.ID, o.PublicID, o.Total.Amount))
	require.NoError(w.t, err)
	require.NoError(w.t, pgx.BeginFunc(context.Background(), w.pool, func(tx pgx.Tx) error {
		return w.ops.Plan(context.Background(), tx, operations.SourceOperator, in)
	}))
	w.exec(`UPDATE operations SET state = 'done', outcome = $2, finished_at = now() WHERE op_key = $1`, in.Key, outcome)
	return in.Key
}

func TestI1_AnOrderThatWasPaidTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	order := w.paid()
	key := w.closed(order, operations.Declined)
	second := w.intent(key, "pm_card_visa")
	w.exec(`UPDATE operations SET provider_ref = $2 WHERE op_key = $1`, key, second)
	broken := w.requireBroken(w.sources(), "I1", name(order))
	require.Contains(t, broken.Violations[0].Detail, second)
	require.Contains(t, broken.Violations[0].Detail, "2 succeeded")
}

func TestI1_APaidOrderThatTheProviderKnowsNothingOf(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	order := w.paid()
	s := w.sources()
	s.Provider = hiding{w.gateway}
	report := w.run(s)
	require.Equal(t, []verify.Violation{{Subject: name(order), Detail: "it is paid, and the provider has no succeeded PaymentIntent for it"}}, result(t, report, "I1").Violations)
	require.Equal(t, "operation "+string(w.operation(order, payments.ChargeKind).Key), result(t, report, "I7").Violations[0].Subject)
}

// hiding is an account in which nothing was ever paid.
type hiding struct{ verify.Provider }

func (hiding) PaymentIntents(context.Context, time.Time, func(payments.ListedIntent) error) error {
	return nil
}

func TestI2_MoneyForAnOrderThatIsNotPaid(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	order := w.place("pm_card_chargeDeclined")
	w.drain()
	key := w.closed(order, operations.Canceled)
	pi := w.intent(key, "pm_card_visa")
	w.exec(`UPDATE operations SET provider_ref = $2 WHERE op_key = $1`, key, pi)
	w.requireBroken(w.sources(), "I2", pi)
}

func TestI2_MoneyThatIsNotRecordedYetIsPending(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	order := w.place("pm_card_visa")
	w.pass()
	charge := w.operation(order, payments.ChargeKind)
	pi := w.intent(charge.Key, "pm_card_visa")
	report := w.run(w.sources())
	require.NoError(t, report.Err())
	for _, id := range []string{"I2", "I7"} {
		one := result(t, report, id)
		require.EqualValues(t, 1, one.Pending)
		require.Equal(t, pi, one.Unsettled[0].Subject)
	}
	require.False(t, report.Drained)
	w.exec(`UPDATE operations SET state = 'stuck', error = 'nobody knows', provider_ref = $2 WHERE op_key = $1`, charge.Key, pi)
	w.requireBroken(w.sources(), "I2", pi)
}

func TestI2_MoneyThatNobodyAskedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.paid()
	pi := w.intent("", "pm_card_visa")
	s := w.sources()
	s.Simulator = verify.Simulator{}
	report := w.run(s)
	for _, id := range []string{"I2", "I7"} {
		require.Equal(t, pi, result(t, report, id).Violations[0].Subject)
	}
	require.Len(t, report.Broken(), 2)
	s.Since = time.Now().Add(time.Minute) // the provider is asked from a little earlier, for its clock may be behind
	require.NoError(t, w.run(s).Err())
}

func TestI3_APaymentThatIsNotBooked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.paid()
	order := w.paid()
	w.exec(`DELETE FROM payments WHERE order_id = $1`, order.ID)
	w.requireBroken(w.sources(), "I3", name(order))
}

func TestI3_APaymentOfAnotherAmount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	order := w.paid()
	w.exec(`UPDATE payments SET amount = amount - 1 WHERE order_id = $1`, order.ID)
	w.requireBroken(w.sources(), "I3", name(order))
}

func TestI3_APaymentOfAnUnpaidOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	order := w.place("pm_card_chargeDeclined")
	w.drain()
	w.exec(`INSERT INTO payments (order_id, op_key, provider_ref, amount, currency) SELECT subject_id::bigint, op_key, provider_ref, 1, 'usd'
		FROM operations WHERE kind = 'charge'`)
	w.requireBroken(w.sources(), "I3", name(order))
}

func TestI3_AChargeThatDidNotPay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	order := w.place("pm_card_chargeDeclined")
	w.drain()
	w.exec(`UPDATE operations SET outcome = 'succeeded' WHERE kind = 'charge'`)
	w.requireBroken(w.sources(), "I3", name(order))
}

func TestI4_AMessageThatWasNeverWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.paid()
	order := w.place("pm_card_visa")
	w.exec(`DELETE FROM outbox_messages WHERE dispatched_at IS NULL`)
	broken := w.requireBroken(w.sources(), "I4", name(order))
	require.Contains(t, broken.Violations[0].Detail, "order.placed")

	order = w.place("pm_card_visa")
	w.pass()
	require.NoError(t, w.pay.Charge(context.Background(), w.operation(order, payments.ChargeKind).Key, operations.ClaimOptions{}))
	w.exec(`DELETE FROM outbox_messages WHERE topic = 'order.paid' AND dispatched_at IS NULL`)
	report := w.run(w.sources())
	require.Equal(t, name(order), result(t, report, "I4").Violations[1].Subject)
	require.Contains(t, result(t, report, "I4").Violations[1].Detail, "order.paid")
}

func TestI4_AnOldMessageMayBeDeletedOnceItHasLedToItsOperation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.paid()
	w.exec(`DELETE FROM outbox_messages`)
	require.NoError(t, w.run(w.sources()).Err())
}

func TestI4_AMessageThatLedToNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.paid()
	w.place("pm_card_visa")
	report := w.run(w.sources())
	require.NoError(t, report.Err(), "pending is not lost")
	w.exec(`UPDATE outbox_messages SET dispatched_at = now() WHERE dispatched_at IS NULL`)
	var id int64
	require.NoError(t, w.pool.QueryRow(context.Background(), `SELECT max(id) FROM outbox_messages`).Scan(&id))
	w.requireBroken(w.sources(), "I4", fmt.Sprintf("message %d", id))
}

func TestI4_AReceiptThatWasNeverPlanned(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.paid()
	w.exec(`DELETE FROM receipts`)
	w.exec(`DELETE FROM operations WHERE kind = 'receipt-email'`)
	broken := w.requireBroken(w.sources(), "I4", "message 2")
	require.Contains(t, broken.Violations[0].Detail, "order.paid")
}

func TestI5_AReceiptThatTheLedgerDoesNotHave(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.paid()
	order := w.paid()
	w.exec(`DELETE FROM receipts WHERE order_id = $1`, order.ID)
	w.requireBroken(w.sources(), "I5", name(order))
}

func TestI5_ASecondReceiptInTheLedger(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	order := w.paid()
	w.exec(`ALTER TABLE receipts DROP CONSTRAINT receipts_order_id_kind_key, DROP CONSTRAINT receipts_op_key_key`)
	w.exec(`INSERT INTO receipts (order_id, kind, op_key, message_id, recipient, content_hash, provider_response)
		SELECT order_id, kind, op_key, 'other@once.example', recipient, content_hash, provider_response FROM receipts`)
	w.requireBroken(w.sources(), "I5", name(order), name(order))
}

func TestI5_ASecondReceiptInTheInbox(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.paid()
	order := w.paid()
	first := *w.operation(order, receipts.Kind).ProviderRef
	subject := w.subject(first) // as receipts have it, since that is what tells whose a letter is
	copyOf := func(messageID string) {
		_, err := w.mailer.Send(context.Background(), receipts.Mail{MessageID: messageID, To: order.Email, ToName: order.Name,
			Subject: subject, HTML: "<p>again</p>", Text: "again"})
		require.NoError(t, err)
	}

	// The same letter once more: within what SMTP promises, and worth a note.
	copyOf(first)
	report := w.run(w.sources())
	require.NoError(t, report.Err())
	require.Equal(t, []string{name(order) + ": its receipt reached the inbox 2 times under one Message-ID, " + first}, result(t, report, "I5").Notes)
	s := w.sources()
	s.Strict = true
	w.requireBroken(s, "I5", name(order))

	// Another letter about the same thing: the sender made up a Message-ID.
	copyOf("made-up@once.example")
	broken := w.requireBroken(w.sources(), "I5", name(order))
	require.Contains(t, broken.Violations[0].Detail, "made-up@once.example")
}

func TestI5_AFullInboxIsReadToItsEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.paid()
	client, err := smtp.Dial(w.smtp)
	require.NoError(t, err)
	for i := range 1005 { // more than a page of the inbox
		require.NoError(t, client.Mail("news@once.example"))
		require.NoError(t, client.Rcpt("ada@example.com"))
		body, err := client.Data()
		require.NoError(t, err)
		_, err = fmt.Fprintf(body, "Message-ID: <news-%d@once.example>\r\nSubject: News\r\n\r\nNews\r\n", i)
		require.NoError(t, err)
		require.NoError(t, body.Close())
	}
	require.NoError(t, client.Quit())
	report := w.run(w.sources())
	require.NoError(t, report.Err())
	require.EqualValues(t, 1+1006, result(t, report, "I5").Checked, "the receipt came first, so it is on the last page")
}

func TestI6_AResultUnderAnOldFence(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.paid()
	order := w.paid()
	key := w.operation(order, payments.ChargeKind).Key
	w.exec(`UPDATE operations SET fence = fence + 1 WHERE op_key = $1`, key)
	w.requireBroken(w.sources(), "I6", "operation "+string(key))
}

func TestI6_AHolderThatWroteAfterTheNext(t *testing.T) {
	t.Parallel()
	for _, event := range []string{"provider_call", "waiting", "stuck"} {
		w := newWorld(t)
		order := w.place("pm_card_threeDSecure2Required")
		w.drain()
		key := w.operation(order, payments.ChargeKind).Key
		w.exec(`UPDATE operations SET retry_at = now() WHERE op_key = $1`, key)
		require.NoError(t, w.pay.Charge(context.Background(), key, operations.ClaimOptions{}))
		require.NoError(t, w.run(w.sources()).Err(), "two holders, one after the other")
		w.exec(`INSERT INTO operation_events (op_key, type, fence) VALUES ($1, 'fenced_off', 1)`, key)
		require.NoError(t, w.run(w.sources()).Err(), "a refusal is recorded under the old fence")
		w.exec(`INSERT INTO operation_events (op_key, type, fence) VALUES ($1, $2, 1)`, key, event)
		w.requireBroken(w.sources(), "I6", "operation "+string(key))
	}
}

func TestI6_AnOperationThatWasCompletedTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	order := w.paid()
	key := w.operation(order, payments.ChargeKind).Key
	w.exec(`INSERT INTO operation_events (op_key, type, fence) SELECT op_key, type, fence FROM operation_events WHERE op_key = $1 AND type = 'completed'`, key)
	w.requireBroken(w.sources(), "I6", "operation "+string(key))
}

func TestI7_AKeyThatIsNotDerived(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.paid()
	key := w.operation(w.paid(), payments.ChargeKind).Key
	w.exec(`UPDATE operations SET identity = identity || '{"attempt": 2}' WHERE op_key = $1`, key)
	w.requireBroken(w.sources(), "I7", "operation "+string(key))
}

func TestI7_ParametersThatWereChangedAfterFreezing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	key := w.operation(w.paid(), payments.ChargeKind).Key
	w.exec(`UPDATE operations SET params = params || '{"amount": 1}' WHERE op_key = $1`, key)
	w.requireBroken(w.sources(), "I7", "operation "+string(key))
}

func TestI7_PaymentIntentsThatAreNotOurs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.paid()
	const many = 1005 // more than a page of the provider, of the simulator's log and of the copy
	var ids []string
	for i := range many {
		ids = append(ids, w.call("/v1/payment_intents", fmt.Sprint("foreign-", i), url.Values{"amount": {"100"}, "currency": {"usd"},
			"payment_method_types[]": {"card"}, "metadata[operation]": {fmt.Sprint("unknown", i)}}))
	}
	slices.Sort(ids)
	s := w.sources()
	s.Simulator = verify.Simulator{}
	broken := w.requireBroken(s, "I7", ids[:50]...)
	require.EqualValues(t, many, broken.Failed)
	require.ErrorContains(t, w.run(s).Err(), "and 955 more")
	require.EqualValues(t, 2*many, result(t, w.run(w.sources()), "I7").Failed, "and the requests that made them")

	// Seen from a time after them, they are somebody else's business.
	s = w.sources()
	s.Since = time.Now().Add(time.Hour)
	require.NoError(t, w.run(s).Err())
}

func TestI7_AnOperationThatStandsForAnotherPaymentIntent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	order := w.place("pm_card_chargeDeclined")
	w.drain()
	charge := w.operation(order, payments.ChargeKind)
	w.exec(`UPDATE operations SET provider_ref = 'pi_other' WHERE op_key = $1`, charge.Key)
	w.requireBroken(w.sources(), "I7", "operation "+string(charge.Key), *charge.ProviderRef)
}

func TestI7_AKeyThatTheProviderSawAndNobodyDerives(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"", "retry-2", strings.Repeat("a", 64) + ":create", "the operation alone"} {
		w := newWorld(t)
		order := w.place("pm_card_chargeDeclined")
		w.drain()
		charge := w.operation(order, payments.ChargeKind)
		pi := *charge.ProviderRef
		if key == "the operation alone" {
			key = string(charge.Key)
		}
		s := w.sources()
		require.NoError(t, w.run(s).Err())
		w.call("/v1/payment_intents/"+pi, key, url.Values{"description": {"changed"}})
		report := w.run(s)
		require.Len(t, report.Broken(), 1)
		require.EqualValues(t, 1, result(t, report, "I7").Failed)
		require.Contains(t, result(t, report, "I7").Violations[0].Subject, "req_")
	}
}

// busy is a provider that changes while it is being read.
type busy struct {
	verify.Provider
	meanwhile func()
}

func (b busy) Refunds(ctx context.Context, since time.Time, each func(payments.ListedRefund) error) error {
	b.meanwhile()
	return b.Provider.Refunds(ctx, since, each)
}

func TestWhatHappensDuringTheCheckIsNoFalseAlarm(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.paid()
	s := w.sources()
	var order orders.Order
	s.Provider = busy{w.gateway, func() { order = w.paid() }}
	report := w.run(s)
	require.NoError(t, report.Err())
	require.Equal(t, []string{name(order)}, unsettled(result(t, report, "I1")))
	require.NoError(t, w.run(w.sources()).Err())
}

func TestAProviderThatDoesNotAnswerIsAnErrorAndNoVerdict(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.sources()
	s.Provider = payments.NewGateway(payments.GatewayConfig{SecretKey: "sk_live_wrong", BaseURL: w.stripe, Timeout: 5 * time.Second})
	_, err := verify.Run(context.Background(), s)
	require.ErrorContains(t, err, "listing PaymentIntents")
	s = w.sources()
	s.InboxURL = w.stripe
	_, err = verify.Run(context.Background(), s)
	require.ErrorContains(t, err, "reading the inbox")
}

func TestSettleWaitsForWhatMovesByItself(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.place("pm_card_visa")
	open, err := verify.Settle(context.Background(), w.pool, time.Millisecond)
	require.NoError(t, err)
	require.Equal(t, verify.Open{Messages: 1}, open)
	w.place("pm_card_threeDSecure2Required")
	done := make(chan verify.Open)
	go func() {
		open, err := verify.Settle(context.Background(), w.pool, time.Minute)
		if err != nil {
			t.Errorf("settling: %v", err)
		}
		done <- open
	}()
	w.drain()
	require.Equal(t, verify.Open{Shoppers: 1}, <-done)
}

func name(o orders.Order) string { return fmt.Sprintf("order %d", o.ID) }

func unsettled(r verify.Result) (out []string) {
	for _, v := range r.Unsettled {
		out = append(out, v.Subject)
	}
	return out
}
