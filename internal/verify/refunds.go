package verify

import "context"

// checkRefunds is I8: refunds at the provider are those in our books, and never
// come to more than was received.
func checkRefunds(ctx context.Context, l *look, r *Result) error {
	if err := l.count(ctx, r, `SELECT count(*) FROM provider_refunds WHERE created >= @since`); err != nil {
		return err
	}
	// A refund that failed or was canceled at the provider gave nothing back.
	return l.tally(ctx, r, `
		WITH ours AS (
			SELECT provider_ref AS ref, amount, currency, settled_at AS created_at FROM refunds
			WHERE state = 'succeeded' AND created_at >= @since
		), theirs AS (
			SELECT id, intent, amount, currency, operation FROM provider_refunds
			WHERE status NOT IN ('failed', 'canceled') AND created >= @since
		), returned AS (
			SELECT intent, sum(amount) AS amount FROM theirs GROUP BY intent
		)
		SELECT coalesce(t.id, u.ref, 'a refund without a reference'), CASE
		       WHEN u.ref IS NULL THEN format('the provider gave back %s %s of %s, and nothing here says so', t.amount, t.currency, t.intent)
		       WHEN t.id IS NULL THEN format('%s %s were given back by our books, and the provider lists no such refund', u.amount, u.currency)
		       ELSE format('the provider gave back %s %s, and our books say %s %s', t.amount, t.currency, u.amount, u.currency)
		       END, coalesce(CASE WHEN u.ref IS NULL THEN c.state IN ('pending', 'running', 'waiting') WHEN t.id IS NULL THEN u.created_at >= @seen END, false)
		FROM theirs t FULL JOIN ours u ON u.ref = t.id LEFT JOIN operations c ON c.op_key = t.operation
		WHERE t.id IS NULL OR u.ref IS NULL OR t.amount <> u.amount OR t.currency <> u.currency
		UNION ALL
		SELECT i.id, format('%s %s of it were given back, and it received %s', greatest(i.refunded, b.amount), i.currency, i.received), false
		FROM provider_intents i LEFT JOIN returned b ON b.intent = i.id WHERE greatest(i.refunded, b.amount) > i.received
		ORDER BY 1`)
}
