package verify

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"shop/internal/operations"
	"shop/internal/orders"
	"shop/internal/outbox"
	"shop/internal/payments"
	"shop/internal/receipts"
)

// checkMessages is I4. A message that is pending has not been lost, however
// often it could not be dispatched. One that was dispatched long ago has been
// deleted; the operation to which it led is then the proof that it arrived.
func checkMessages(ctx context.Context, l *look, r *Result) error {
	if err := l.count(ctx, r, `SELECT count(*) FROM orders`); err != nil {
		return err
	}
	if err := l.tally(ctx, r, `
		SELECT 'order ' || o.id, format('it is %s, and there is neither a message %s about it nor a %s operation', o.state, t.topic, t.kind), false
		FROM orders o CROSS JOIN (VALUES (@placed::text, @charge::text), (@paid::text, @receipt::text)) AS t (topic, kind)
		WHERE (t.topic = @placed OR o.state = 'paid')
		  AND NOT EXISTS (SELECT FROM outbox_messages m WHERE m.topic = t.topic AND m.subject_type = 'order' AND m.subject_id = o.id::text)
		  AND NOT EXISTS (SELECT FROM operations c WHERE c.kind = t.kind AND c.subject_type = 'order' AND c.subject_id = o.id::text)
		ORDER BY o.id`); err != nil {
		return err
	}
	if err := l.tally(ctx, r, `
		SELECT 'refund ' || u.public_id, format('it was asked for, and there is neither a message about it nor operation %s', u.op_key), false
		FROM refunds u
		WHERE u.op_key IS NOT NULL AND NOT EXISTS (SELECT FROM operations c WHERE c.op_key = u.op_key)
		  AND NOT EXISTS (SELECT FROM outbox_messages m WHERE m.topic = @refund_requested AND m.subject_type = 'order'
		                  AND m.subject_id = u.order_id::text AND m.payload ->> 'refund_id' = u.public_id)
		ORDER BY u.id`); err != nil {
		return err
	}
	for after := int64(0); ; {
		page, err := l.dispatchedAfter(ctx, after)
		if err != nil || len(page) == 0 {
			return err
		}
		if err := l.followMessages(ctx, r, page); err != nil {
			return err
		}
		after = page[len(page)-1].ID
	}
}

// page is how many of our rows are in memory at a time.
const page = 1000

type dispatched struct {
	ID      int64
	Topic   outbox.Topic
	Payload []byte
}

func (l *look) dispatchedAfter(ctx context.Context, id int64) ([]dispatched, error) {
	rows, _ := l.tx.Query(ctx, `SELECT id, topic, payload FROM outbox_messages
		WHERE id > $1 AND dispatched_at IS NOT NULL ORDER BY id LIMIT $2`, id, page)
	return pgx.CollectRows(rows, pgx.RowToStructByPos[dispatched])
}

// followMessages looks whether what the messages lead to is there.
func (l *look) followMessages(ctx context.Context, r *Result, messages []dispatched) error {
	leads := make(map[int64]operations.Key, len(messages))
	keys := make([]string, 0, len(messages))
	for _, m := range messages {
		key, err := leadsTo(m)
		if err != nil {
			r.add(Violation{Subject: fmt.Sprintf("message %d", m.ID), Detail: err.Error()}, false)
		}
		if key != "" {
			leads[m.ID] = key
			keys = append(keys, string(key))
		}
	}
	r.Checked += int64(len(messages))
	rows, _ := l.tx.Query(ctx, `SELECT op_key FROM operations WHERE op_key = ANY($1)`, keys)
	found, err := pgx.CollectRows(rows, pgx.RowTo[operations.Key])
	if err != nil {
		return err
	}
	here := make(map[operations.Key]bool, len(found))
	for _, key := range found {
		here[key] = true
	}
	for _, m := range messages {
		if key := leads[m.ID]; key != "" && !here[key] {
			r.add(Violation{Subject: fmt.Sprintf("message %d", m.ID),
				Detail: fmt.Sprintf("it was dispatched as %s, and operation %s, to which it leads, is not here", m.Topic, key)}, false)
		}
	}
	return nil
}

// leadsTo is the operation that a message asks for, derived again from what it
// says; none when its topic asks for nothing.
func leadsTo(m dispatched) (operations.Key, error) {
	switch m.Topic {
	case orders.TopicPlaced:
		in, err := payments.ChargeIntent(m.Payload)
		return in.Key, err
	case payments.TopicRetry:
		in, err := payments.RetryIntent(m.Payload)
		return in.Key, err
	case payments.TopicRefundRequested:
		in, err := payments.RefundIntent(m.Payload)
		return in.Key, err
	case orders.TopicPaid:
		in, err := receipts.Intent(m.Payload)
		return in.Key, err
	}
	var other struct {
		OpKey operations.Key `json:"op_key"`
	}
	if err := json.Unmarshal(m.Payload, &other); err != nil {
		return "", fmt.Errorf("reading a %s message: %w", m.Topic, err)
	}
	return other.OpKey, nil
}
