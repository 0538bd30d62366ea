package operations

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Forget deletes at most limit operations of a kind, with their timelines, that
// have been done for so long. From then on the same key is a new operation, so
// it is only for kinds whose repeats are over by then.
func (s *Store) Forget(ctx context.Context, kind string, after time.Duration, limit int) (int, error) {
	tag, err := s.pool.Exec(ctx, `
		WITH old AS (
			SELECT op_key FROM operations WHERE kind = @kind AND state = 'done'
			  AND finished_at < clock_timestamp() - make_interval(secs => @after)
			ORDER BY finished_at LIMIT @limit FOR UPDATE SKIP LOCKED
		), events AS (
			DELETE FROM operation_events e USING old WHERE e.op_key = old.op_key
		)
		DELETE FROM operations o USING old WHERE o.op_key = old.op_key`,
		pgx.NamedArgs{"kind": kind, "after": after.Seconds(), "limit": limit})
	if err != nil {
		return 0, fmt.Errorf("forgetting old %s operations: %w", kind, err)
	}
	return int(tag.RowsAffected()), nil
}
