package operations

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// sweepSQL sends round again whatever is past its due_at plus a grace. It
// takes the lease away from a holder that let it pass; the fence stays as it
// is, and the next claim raises it, so the old holder is refused either way.
// The new start_by keeps a row from being swept again while its job is under
// way; when that job is lost too, the sweeper comes by once more.
const sweepSQL = `
WITH late AS (
	SELECT op_key, state, owner, fence FROM operations
	WHERE due_at < clock_timestamp() - make_interval(secs => @grace)
	ORDER BY due_at LIMIT @limit FOR UPDATE SKIP LOCKED
), swept AS (
	UPDATE operations o SET state = 'pending', owner = NULL, lease_until = NULL, retry_at = NULL, wait_reason = NULL,
	       start_by = clock_timestamp() + make_interval(secs => @start), updated_at = clock_timestamp()
	FROM late WHERE o.op_key = late.op_key
	RETURNING o.*
), event AS (
	INSERT INTO operation_events (op_key, type, fence, owner, source)
	SELECT op_key, CASE state WHEN 'running' THEN 'lease_expired' ELSE 'swept' END, fence, owner, 'sweeper' FROM late
)
SELECT ` + columns + ` FROM swept`

// Sweep finds at most limit overdue operations, makes them claimable and hands
// them to dispatch in the same transaction, which queues a job for each. Any
// number of processes may sweep at once. It returns how many it found.
//
// A crash before the commit leaves them overdue for the next sweep.
func (s *Store) Sweep(ctx context.Context, grace time.Duration, limit int,
	dispatch func(ctx context.Context, tx pgx.Tx, overdue []Operation) error) (int, error) {
	n := 0
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		rows, _ := tx.Query(ctx, sweepSQL, pgx.NamedArgs{"grace": grace.Seconds(), "limit": limit, "start": s.start.Seconds()})
		overdue, err := pgx.CollectRows(rows, pgx.RowToStructByName[Operation])
		if err != nil {
			return fmt.Errorf("looking for overdue operations: %w", err)
		}
		if n = len(overdue); n == 0 {
			return nil
		}
		return dispatch(ctx, tx, overdue)
	})
	return n, err
}
