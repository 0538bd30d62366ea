package orders

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"shop/internal/outbox"
)

// TopicExpired says that an order was not paid in time.
const TopicExpired outbox.Topic = "order.expired"

// ExpireUnpaid gives up at most limit orders whose payment was refused and that
// nobody has paid with another card for so long; each with the message about
// it. A charge that was refused has canceled its PaymentIntent before the order
// got into this state, so nothing can be paid afterwards.
func (s *Store) ExpireUnpaid(ctx context.Context, after time.Duration, limit int) (int, error) {
	var ids []int64
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		rows, _ := tx.Query(ctx, `UPDATE orders SET state = 'expired' WHERE id IN (SELECT id FROM orders
			WHERE state = 'payment_failed' AND placed_at < clock_timestamp() - make_interval(secs => $1)
			ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED) RETURNING id`, after.Seconds(), limit)
		var err error
		if ids, err = pgx.CollectRows(rows, pgx.RowTo[int64]); err != nil {
			return fmt.Errorf("expiring unpaid orders: %w", err)
		}
		for _, id := range ids {
			if err := outbox.Append(ctx, tx, TopicExpired, SubjectType, fmt.Sprint(id), Settlement{OrderID: id}); err != nil {
				return err
			}
		}
		return nil
	})
	return len(ids), err
}

// DeleteIdleCarts removes at most limit carts that nobody has touched for so long.
func (s *Store) DeleteIdleCarts(ctx context.Context, idle time.Duration, limit int) (int, error) {
	tag, err := s.pool.Exec(ctx, `DELETE FROM carts WHERE id IN (SELECT id FROM carts
		WHERE updated_at < clock_timestamp() - make_interval(secs => $1) ORDER BY updated_at LIMIT $2 FOR UPDATE SKIP LOCKED)`,
		idle.Seconds(), limit)
	if err != nil {
		return 0, fmt.Errorf("deleting idle carts: %w", err)
	}
	return int(tag.RowsAffected()), nil
}
