package verify

import "context"

// owners finds the order of each PaymentIntent: through the operation that its
// metadata names, or by the public id of the order when that is not ours.
const owners = `owners AS (
	SELECT i.id, i.status, i.received, i.currency, i.created, c.state AS charge_state, c.outcome AS charge_outcome,
	       coalesce(c.subject_id, p.id::text) AS order_id
	FROM provider_intents i
	LEFT JOIN operations c ON c.op_key = i.operation AND c.kind = @charge
	LEFT JOIN orders p ON p.public_id = i.order_ref
)`

// checkPaidOrders is I1. An order that was paid after the provider was read may
// lack its PaymentIntent there.
func checkPaidOrders(ctx context.Context, l *look, r *Result) error {
	if err := l.count(ctx, r, `SELECT count(*) FROM orders WHERE state = 'paid' AND placed_at >= @since`); err != nil {
		return err
	}
	return l.tally(ctx, r, `
		WITH `+owners+`, settled AS (
			SELECT order_id, count(*) AS n, min(received) AS amount, min(currency) AS currency, string_agg(id, ', ' ORDER BY id) AS ids
			FROM owners WHERE status = 'succeeded' GROUP BY order_id
		)
		SELECT 'order ' || o.id, CASE
		       WHEN s.n IS NULL THEN 'it is paid, and the provider has no succeeded PaymentIntent for it'
		       WHEN s.n > 1 THEN format('it has %s succeeded PaymentIntents: %s', s.n, s.ids)
		       ELSE format('the provider received %s %s with %s, and the order comes to %s %s', s.amount, s.currency, s.ids, o.total, o.currency)
		       END, s.n IS NULL AND o.paid_at >= @seen
		FROM orders o LEFT JOIN settled s ON s.order_id = o.id::text
		WHERE o.state = 'paid' AND o.placed_at >= @since AND (s.n IS DISTINCT FROM 1 OR s.amount <> o.total OR s.currency <> o.currency)
		ORDER BY o.id`)
}

// checkSucceededIntents is I2. While the charge is open, the order may still become paid.
func checkSucceededIntents(ctx context.Context, l *look, r *Result) error {
	if err := l.count(ctx, r, `SELECT count(*) FROM provider_intents WHERE status = 'succeeded' AND created >= @since`); err != nil {
		return err
	}
	return l.tally(ctx, r, `
		WITH `+owners+`
		SELECT w.id, CASE
		       WHEN o.id IS NULL THEN format('it received %s %s for no order that is here', w.received, w.currency)
		       ELSE format('it received %s %s for order %s, which is %s; the charge is %s', w.received, w.currency, o.id, o.state,
		                   coalesce(w.charge_outcome, w.charge_state, 'not here'))
		       END, coalesce(w.charge_state IN ('pending', 'running', 'waiting') AND o.id IS NOT NULL, false)
		FROM owners w LEFT JOIN orders o ON o.id::text = w.order_id
		WHERE w.status = 'succeeded' AND w.created >= @since AND o.state IS DISTINCT FROM 'paid'
		ORDER BY w.id`)
}

// checkBooks is I3.
func checkBooks(ctx context.Context, l *look, r *Result) error {
	if err := l.count(ctx, r, `SELECT count(*) FROM orders`); err != nil {
		return err
	}
	return l.tally(ctx, r, `
		WITH charged AS (
			SELECT subject_id, count(*) AS n, min(op_key) AS op_key, min(provider_ref) AS ref FROM operations
			WHERE kind = @charge AND state = 'done' AND outcome = 'succeeded' GROUP BY subject_id
		), booked AS (
			SELECT order_id, count(*) AS n, min(op_key) AS op_key, min(provider_ref) AS ref, min(amount) AS amount, min(currency) AS currency
			FROM payments GROUP BY order_id
		)
		SELECT 'order ' || coalesce(o.id::text, c.subject_id), CASE
		       WHEN (c.n, b.n) IS DISTINCT FROM (1::bigint, 1::bigint) OR o.state <> 'paid' OR o.id IS NULL
		       THEN format('the order is %s, charges that succeeded: %s, payments booked: %s', coalesce(o.state, 'not here'), coalesce(c.n, 0), coalesce(b.n, 0))
		       ELSE format('the payment booked is %s %s with %s by operation %s; the order comes to %s %s, its charge is %s by operation %s',
		                   b.amount, b.currency, b.ref, b.op_key, o.total, o.currency, coalesce(c.ref, 'nothing'), c.op_key)
		       END, false
		FROM orders o FULL JOIN charged c ON c.subject_id = o.id::text LEFT JOIN booked b ON b.order_id = o.id
		WHERE coalesce(c.n, 0) <> coalesce((o.state = 'paid')::int, 0) OR coalesce(b.n, 0) <> coalesce((o.state = 'paid')::int, 0)
		   OR o.id IS NULL OR b.op_key <> c.op_key OR b.ref IS DISTINCT FROM c.ref OR b.amount <> o.total OR b.currency <> o.currency
		ORDER BY o.id`)
}
