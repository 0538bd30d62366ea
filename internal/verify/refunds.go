package verify

import "context"

// checkRefunds is I8. A refund that failed or was canceled at the provider gave
// nothing back. One that was made at the provider itself has no operation here;
// it belongs in the books as well, and is entered when its event has come.
func checkRefunds(ctx context.Context, l *look, r *Result) error {
	if err := l.count(ctx, r, `SELECT count(*) FROM provider_refunds WHERE created >= @since`); err != nil {
		return err
	}
	if err := l.count(ctx, r, `SELECT count(*) FROM refunds WHERE created_at >= @since`); err != nil {
		return err
	}
	for _, sql := range []string{refundsElsewhere, refundsHere, refundsAbove} {
		if err := l.tally(ctx, r, sql); err != nil {
			return err
		}
	}
	return nil
}

const refundsElsewhere = `
	SELECT t.id, CASE
	       WHEN u.id IS NULL THEN format('the provider gave back %s %s of %s, and our books do not say so', t.amount, t.currency, t.intent)
	       ELSE format('the provider gave back %s %s, and in our books refund %s over %s %s %s', t.amount, t.currency, u.public_id, u.amount, u.currency, u.state)
	       END, u.id IS NULL AND coalesce(c.state IN ('pending', 'running', 'waiting'), t.operation = '' AND t.status <> 'succeeded')
	FROM provider_refunds t LEFT JOIN refunds u ON u.provider_ref = t.id LEFT JOIN operations c ON c.op_key = t.operation
	WHERE t.status NOT IN ('failed', 'canceled') AND t.created >= @since
	  AND (u.id IS NULL OR u.amount <> t.amount OR u.currency <> t.currency OR u.state <> 'succeeded')
	ORDER BY t.id`

const refundsHere = `
	SELECT 'refund ' || u.public_id, format('%s %s went back as %s by our books, and the provider says nothing of it', u.amount, u.currency, u.provider_ref),
	       u.settled_at >= @seen
	FROM refunds u
	WHERE u.state = 'succeeded' AND u.created_at >= @since AND NOT EXISTS (
		SELECT FROM provider_refunds t WHERE t.id = u.provider_ref AND t.status NOT IN ('failed', 'canceled'))
	UNION ALL
	SELECT 'refund ' || u.public_id, format('the refund is %s, and its operation %s is %s', u.state, c.op_key, coalesce(c.outcome, c.state)), false
	FROM refunds u JOIN operations c ON c.op_key = u.op_key
	WHERE (u.state = 'succeeded') <> (c.state = 'done' AND c.outcome = 'succeeded') OR (c.state = 'done' AND u.state = 'requested')
	UNION ALL
	SELECT 'operation ' || c.op_key, 'it gave money back, and no refund is entered for it', false
	FROM operations c
	WHERE c.kind = @refund AND c.state = 'done' AND c.outcome = 'succeeded' AND NOT EXISTS (SELECT FROM refunds u WHERE u.op_key = c.op_key)
	ORDER BY 1`

const refundsAbove = `
	SELECT 'order ' || p.order_id, format('refunds of %s are asked for or made, and %s %s was paid', sum(u.amount), p.amount, p.currency), false
	FROM payments p JOIN refunds u ON u.payment_id = p.id WHERE u.state <> 'failed'
	GROUP BY p.id HAVING sum(u.amount) > p.amount
	UNION ALL
	SELECT i.id, format('%s %s of it were given back, and it received %s', greatest(i.refunded, b.amount), i.currency, i.received), false
	FROM provider_intents i LEFT JOIN (
		SELECT intent, sum(amount) AS amount FROM provider_refunds WHERE status NOT IN ('failed', 'canceled') GROUP BY intent
	) b ON b.intent = i.id
	WHERE greatest(i.refunded, b.amount) > i.received
	ORDER BY 1`
