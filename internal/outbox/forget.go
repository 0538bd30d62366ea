package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Forget deletes at most limit messages that were dispatched so long ago. A
// message that is pending is never deleted.
func Forget(ctx context.Context, pool *pgxpool.Pool, after time.Duration, limit int) (int, error) {
	tag, err := pool.Exec(ctx, `DELETE FROM outbox_messages WHERE id IN (SELECT id FROM outbox_messages
		WHERE dispatched_at < clock_timestamp() - make_interval(secs => $1) ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED)`,
		after.Seconds(), limit)
	if err != nil {
		return 0, fmt.Errorf("forgetting dispatched messages: %w", err)
	}
	return int(tag.RowsAffected()), nil
}
