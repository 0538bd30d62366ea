package operations

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Filter selects operations for a list. Empty fields do not filter.
type Filter struct {
	State State
	Kind  string
	// Before is the cursor: only operations made before this one, in the order
	// of (created_at, op_key). The zero cursor starts at the newest.
	Before Cursor
	Limit  int
}

// Cursor names a place in a list, so that paging never counts rows.
type Cursor struct {
	CreatedAt time.Time
	Key       Key
}

// List returns operations newest first.
func (s *Store) List(ctx context.Context, f Filter) ([]Operation, error) {
	if f.Before.CreatedAt.IsZero() {
		f.Before = Cursor{CreatedAt: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)}
	}
	rows, _ := s.pool.Query(ctx, `SELECT `+columns+` FROM operations
		WHERE (created_at, op_key) < (@at, @key) AND (@state = '' OR state = @state) AND (@kind = '' OR kind = @kind)
		ORDER BY created_at DESC, op_key DESC LIMIT @limit`,
		pgx.NamedArgs{"at": f.Before.CreatedAt, "key": f.Before.Key, "state": f.State, "kind": f.Kind, "limit": f.Limit})
	ops, err := pgx.CollectRows(rows, pgx.RowToStructByName[Operation])
	if err != nil {
		return nil, fmt.Errorf("listing operations: %w", err)
	}
	return ops, nil
}

// SubjectProgress is how far the operations of one subject have come; two equal
// values mean that nothing has changed.
type SubjectProgress struct {
	SubjectID string    `db:"subject_id"`
	Changed   time.Time `db:"changed"`
	Count     int64     `db:"count"`
}

// SubjectChanges returns for each subject when one of its operations last
// changed. One query serves every page that is being watched.
func (s *Store) SubjectChanges(ctx context.Context, subjectType string, ids []string) ([]SubjectProgress, error) {
	rows, _ := s.pool.Query(ctx, `SELECT subject_id, max(updated_at) AS changed, count(*) AS count FROM operations
		WHERE subject_type = $1 AND subject_id = ANY($2) GROUP BY subject_id`, subjectType, ids)
	changes, err := pgx.CollectRows(rows, pgx.RowToStructByName[SubjectProgress])
	if err != nil {
		return nil, fmt.Errorf("reading the changes of %d %ss: %w", len(ids), subjectType, err)
	}
	return changes, nil
}
