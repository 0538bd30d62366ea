package jobs_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"shop/internal/access"
	"shop/internal/jobs"
	"shop/internal/operations"
)

// What is over goes, what somebody may still need stays.
func TestTidyingUp(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	ctx := context.Background()
	people := access.NewStore(s.pool)
	tidier := jobs.NewTidier(s.pool, s.orders, s.ops, people, quiet)

	for _, kind := range []string{"http-request", "stripe-event", "charge"} {
		for _, age := range []string{"1 hour", "25 hours", "31 days"} {
			in, err := operations.NewIntent(operations.Spec{Kind: kind, Identity: age, SubjectType: "test", SubjectID: "1", Params: 1})
			require.NoError(t, err)
			lease, _, err := s.ops.Claim(ctx, in, operations.ClaimOptions{})
			require.NoError(t, err)
			require.NoError(t, s.ops.Complete(ctx, lease, operations.Completion{Outcome: operations.Succeeded}, nil))
			_, err = s.pool.Exec(ctx, `UPDATE operations SET finished_at = clock_timestamp() - $2::interval WHERE op_key = $1`, in.Key, age)
			require.NoError(t, err)
		}
	}
	stuck, err := operations.NewIntent(operations.Spec{Kind: "http-request", Identity: "stuck", SubjectType: "test", SubjectID: "1", Params: 1})
	require.NoError(t, err)
	require.NoError(t, pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error { return s.ops.Plan(ctx, tx, operations.SourceHTTP, stuck) }))

	_, err = s.orders.AddToCart(ctx, "", "enamel-mug", 1)
	require.NoError(t, err)
	old, err := s.orders.AddToCart(ctx, "", "enamel-mug", 1)
	require.NoError(t, err)
	_, err = s.pool.Exec(ctx, `UPDATE carts SET updated_at = clock_timestamp() - interval '31 days' WHERE id = $1`, old)
	require.NoError(t, err)
	_, err = s.pool.Exec(ctx, `INSERT INTO outbox_messages (topic, subject_type, subject_id, payload, dispatched_at)
		VALUES ('old', '', '', '{}', now() - interval '31 days'), ('new', '', '', '{}', now()), ('pending', '', '', '{}', NULL)`)
	require.NoError(t, err)
	require.NoError(t, people.AddLink(ctx, "old", "x", -48*time.Hour))
	require.NoError(t, people.AddLink(ctx, "new", "x", time.Hour))

	var orderIDs []int64
	for i, c := range []struct{ state, age string }{{"payment_failed", "25 hours"}, {"payment_failed", "1 hour"}, {"placed", "25 hours"}} {
		o := s.place("ada@example.com", "pm_card_visa")
		orderIDs = append(orderIDs, o.ID)
		_, err := s.pool.Exec(ctx, `UPDATE orders SET state = $2, placed_at = clock_timestamp() - $3::interval WHERE id = $1`, o.ID, c.state, c.age)
		require.NoError(t, err, i)
	}

	for range 2 {
		require.NoError(t, tidier.RunOnce(ctx))
	}
	require.Equal(t, 1+1, s.count(`SELECT count(*) FROM operations WHERE kind = 'http-request'`), "an hour old, and one that is not done")
	require.Equal(t, 2, s.count(`SELECT count(*) FROM operations WHERE kind = 'stripe-event'`))
	require.Equal(t, 3, s.count(`SELECT count(*) FROM operations WHERE kind = 'charge'`), "charges are kept")
	require.Zero(t, s.count(`SELECT count(*) FROM operation_events WHERE op_key NOT IN (SELECT op_key FROM operations)`))
	require.Equal(t, 1, s.count(`SELECT count(*) FROM carts`))
	require.Equal(t, 1, s.count(`SELECT count(*) FROM sign_in_links`))
	require.Zero(t, s.count(`SELECT count(*) FROM outbox_messages WHERE topic = 'old'`))
	require.Equal(t, 2, s.count(`SELECT count(*) FROM outbox_messages WHERE topic IN ('new', 'pending')`))
	require.Equal(t, 1, s.count(`SELECT count(*) FROM orders WHERE state = 'expired' AND id = $1`, orderIDs[0]))
	require.Equal(t, 1, s.count(`SELECT count(*) FROM orders WHERE state = 'expired'`), "one that is being charged is not given up")
	require.Equal(t, 1, s.count(`SELECT count(*) FROM outbox_messages WHERE topic = 'order.expired' AND subject_id = $1`, fmt.Sprint(orderIDs[0])))
}
