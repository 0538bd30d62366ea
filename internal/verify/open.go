package verify

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"shop/internal/payments"
)

type rowQuerier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

func countOpen(ctx context.Context, q rowQuerier) (o Open, err error) {
	err = q.QueryRow(ctx, `SELECT
		(SELECT count(*) FROM operations WHERE state IN ('pending', 'running', 'waiting') AND wait_reason IS DISTINCT FROM @shopper),
		(SELECT count(*) FROM operations WHERE state = 'waiting' AND wait_reason = @shopper),
		(SELECT count(*) FROM outbox_messages WHERE dispatched_at IS NULL),
		(SELECT count(*) FROM operations WHERE state = 'stuck')`, pgx.NamedArgs{"shopper": payments.WaitForShopper}).
		Scan(&o.Operations, &o.Shoppers, &o.Messages, &o.Stuck)
	if err != nil {
		return Open{}, fmt.Errorf("counting what is on its way: %w", err)
	}
	return o, nil
}

// pollEvery is how often Settle looks.
const pollEvery = 200 * time.Millisecond

// Settle waits until the program has nothing left to do, or for at most
// patience, and returns what was open at the last look. Charges that only a
// shopper can move on are not waited for. Running out of patience is no error.
func Settle(ctx context.Context, pool *pgxpool.Pool, patience time.Duration) (Open, error) {
	over := time.NewTimer(patience)
	defer over.Stop()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		open, err := countOpen(ctx, pool)
		if err != nil || open.Operations+open.Messages == 0 {
			return open, err
		}
		select {
		case <-ctx.Done():
			return open, ctx.Err()
		case <-over.C:
			return open, nil
		case <-tick.C:
		}
	}
}
