package verify

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// checkReceipts is I5: our ledger, and the inbox when there is one to look into.
func checkReceipts(ctx context.Context, l *look, r *Result) error {
	if err := l.count(ctx, r, `SELECT count(*) FROM operations WHERE kind = @receipt`); err != nil {
		return err
	}
	if err := l.tally(ctx, r, `
		WITH entered AS (SELECT op_key, count(*) AS n FROM receipts GROUP BY op_key),
		sent AS (SELECT op_key, subject_id FROM operations WHERE kind = @receipt AND state = 'done' AND outcome = 'succeeded')
		SELECT 'order ' || coalesce(s.subject_id, 'unknown'), format('operation %s sent its receipt, and the ledger has %s of it', s.op_key, coalesce(e.n, 0)), false
		FROM sent s LEFT JOIN entered e ON e.op_key = s.op_key WHERE e.n IS DISTINCT FROM 1
		UNION ALL
		SELECT 'order ' || c.order_id, format('the ledger has receipt %s, and operation %s did not send one', c.message_id, c.op_key), false
		FROM receipts c WHERE NOT EXISTS (SELECT FROM sent s WHERE s.op_key = c.op_key)
		UNION ALL
		SELECT 'order ' || c.order_id, format('receipt %s is for an order that is %s', c.message_id, o.state), false
		FROM receipts c JOIN orders o ON o.id = c.order_id WHERE o.state <> 'paid'
		UNION ALL
		SELECT 'order ' || c.order_id, format('the ledger has %s receipts of the kind %s', count(*), c.kind), false
		FROM receipts c GROUP BY c.order_id, c.kind HAVING count(*) > 1
		ORDER BY 1`); err != nil {
		return err
	}
	if l.InboxURL == "" {
		r.note("the inbox was not looked into")
		return nil
	}
	return l.checkInbox(ctx, r)
}

// checkInbox counts the letters of each order. A letter belongs to an order by
// the operation in its Message-ID; one with any other Message-ID by its subject
// and recipient, since a sender that makes up a new Message-ID each time is what
// this looks for.
func (l *look) checkInbox(ctx context.Context, r *Result) error {
	if err := l.count(ctx, r, `SELECT count(*) FROM inbox_mails`); err != nil {
		return err
	}
	if err := l.tally(ctx, r, `
		WITH letters AS (
			SELECT m.message_id, m.recipient, m.received, c.op_key IS NOT NULL AS ours,
			       coalesce(c.subject_id, substring(m.subject FROM 'receipt for order ([0-9]+)')) AS order_id
			FROM inbox_mails m LEFT JOIN operations c ON c.op_key = split_part(m.message_id, '@', 1) AND c.kind = @receipt
		)
		SELECT 'order ' || o.id, format('%s different receipts reached the inbox: %s', count(DISTINCT t.message_id),
		       string_agg(DISTINCT t.message_id, ', ')), false
		FROM letters t JOIN orders o ON o.id::text = t.order_id
		WHERE t.ours OR (lower(t.recipient) = lower(o.email) AND t.received >= o.placed_at)
		GROUP BY o.id HAVING count(DISTINCT t.message_id) > 1
		ORDER BY o.id`); err != nil {
		return err
	}
	rows, err := l.tx.Query(ctx, `
		SELECT 'order ' || c.subject_id, m.message_id, count(*) FROM inbox_mails m
		JOIN operations c ON c.op_key = split_part(m.message_id, '@', 1) AND c.kind = @receipt
		GROUP BY c.subject_id, m.message_id HAVING count(*) > 1 ORDER BY 1`, l.args)
	if err != nil {
		return err
	}
	var subject, id string
	var n int64
	_, err = pgx.ForEachRow(rows, []any{&subject, &id, &n}, func() error {
		if l.Strict {
			r.add(Violation{Subject: subject, Detail: "its receipt reached the inbox more than once, as " + id}, false)
			return nil
		}
		r.note("%s: its receipt reached the inbox %d times under one Message-ID, %s", subject, n, id)
		return nil
	})
	return err
}
