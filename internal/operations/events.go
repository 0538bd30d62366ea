package operations

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Event is one entry of an operation's timeline.
type Event struct {
	ID     int64           `db:"id"`
	Key    Key             `db:"op_key"`
	At     time.Time       `db:"at"`
	Type   string          `db:"type"`
	Fence  int64           `db:"fence"`
	Owner  *string         `db:"owner"`
	Source *string         `db:"source"`
	Detail json.RawMessage `db:"detail"`
}

// maxTimeline bounds what one page shows; nobody reads more than this.
const maxTimeline = 1000

// Timeline returns the newest events of one operation, oldest first.
func (s *Store) Timeline(ctx context.Context, key Key) ([]Event, error) {
	rows, _ := s.pool.Query(ctx, `SELECT * FROM (
		SELECT id, op_key, at, type, fence, owner, source, detail FROM operation_events
		WHERE op_key = $1 ORDER BY id DESC LIMIT $2) newest ORDER BY id`, key, maxTimeline)
	events, err := pgx.CollectRows(rows, pgx.RowToStructByName[Event])
	if err != nil {
		return nil, fmt.Errorf("reading the timeline of %s: %w", key, err)
	}
	return events, nil
}
