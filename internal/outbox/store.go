package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// takePending locks the oldest pending messages that no other relay holds.
func takePending(ctx context.Context, tx pgx.Tx, limit int) ([]Message, error) {
	rows, _ := tx.Query(ctx, `SELECT id, topic, subject_type, subject_id, payload, created_at, attempts
		FROM outbox_messages WHERE dispatched_at IS NULL AND not_before <= clock_timestamp()
		ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED`, limit)
	messages, err := pgx.CollectRows(rows, pgx.RowToStructByName[Message])
	if err != nil {
		return nil, fmt.Errorf("taking pending messages: %w", err)
	}
	return messages, nil
}

func markDispatched(ctx context.Context, tx pgx.Tx, messages []Message) error {
	ids := make([]int64, len(messages))
	for i, m := range messages {
		ids[i] = m.ID
	}
	if _, err := tx.Exec(ctx, `UPDATE outbox_messages SET dispatched_at = clock_timestamp(), last_error = NULL
		WHERE id = ANY($1)`, ids); err != nil {
		return fmt.Errorf("marking %d messages as dispatched: %w", len(ids), err)
	}
	return nil
}

// postpone keeps a message pending and lets the others pass it.
func postpone(ctx context.Context, tx pgx.Tx, m Message, cause error, after time.Duration) error {
	if _, err := tx.Exec(ctx, `UPDATE outbox_messages SET attempts = attempts + 1, last_error = @cause,
		not_before = clock_timestamp() + make_interval(secs => @after) WHERE id = @id`,
		pgx.NamedArgs{"cause": cause.Error(), "after": after.Seconds(), "id": m.ID}); err != nil {
		return fmt.Errorf("postponing message %d: %w", m.ID, err)
	}
	return nil
}
