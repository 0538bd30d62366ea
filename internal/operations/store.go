package operations

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Source says through which door a delivery or a repeat came.
type Source string

// The sources.
const (
	SourceQueue    Source = "queue"
	SourceHTTP     Source = "http"
	SourceWebhook  Source = "webhook"
	SourceOperator Source = "operator"
	SourceRelay    Source = "relay"
	SourceSweeper  Source = "sweeper"
)

// Store keeps operations in PostgreSQL for one process.
type Store struct {
	pool  *pgxpool.Pool
	owner string
	ttl   time.Duration
	start time.Duration
	log   *slog.Logger
}

// Options of a Store.
type Options struct {
	Owner string        // who holds the leases, such as "worker/host/4711"
	TTL   time.Duration // how long a lease lasts without a heartbeat; 0 means 15 s
	Start time.Duration // within how long a planned operation should be claimed; 0 means 5 s
	Log   *slog.Logger  // nil means slog.Default
}

// NewStore returns a store whose claims are held by o.Owner.
func NewStore(pool *pgxpool.Pool, o Options) *Store {
	if o.TTL == 0 {
		o.TTL = 15 * time.Second
	}
	if o.Start == 0 {
		o.Start = 5 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return &Store{pool: pool, owner: o.Owner, ttl: o.TTL, start: o.Start, log: o.Log}
}

// TTL is how long a lease lasts without a heartbeat.
func (s *Store) TTL() time.Duration { return s.ttl }

const columns = `op_key, kind, identity, subject_type, subject_id, params, fingerprint, state, outcome, fence, owner,
	lease_until, retry_at, wait_reason, due_at, first_sent_at, outcome_unknown, provider_ref, result, error, claims,
	replays, created_at, updated_at, finished_at`

// Querier is what a pool and a transaction have in common.
type Querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// Get reads one operation. ErrNotFound when there is none.
func (s *Store) Get(ctx context.Context, key Key) (Operation, error) {
	return getOperation(ctx, s.pool, key)
}

func getOperation(ctx context.Context, q Querier, key Key) (Operation, error) {
	rows, _ := q.Query(ctx, `SELECT `+columns+` FROM operations WHERE op_key = $1`, key)
	op, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Operation])
	if errors.Is(err, pgx.ErrNoRows) {
		return Operation{}, fmt.Errorf("reading operation %s: %w", key, ErrNotFound)
	}
	if err != nil {
		return Operation{}, fmt.Errorf("reading operation %s: %w", key, err)
	}
	return op, nil
}

// FindEffect finds an operation of a kind by its key or by the provider's name
// for its effect; ErrNotFound when neither is known. An empty key or reference
// finds nothing.
func (s *Store) FindEffect(ctx context.Context, q Querier, kind string, key Key, ref string) (Operation, error) {
	rows, _ := q.Query(ctx, `SELECT `+columns+` FROM operations
		WHERE kind = @kind AND (op_key = @key OR (provider_ref = @ref AND @ref <> '')) ORDER BY op_key = @key DESC LIMIT 1`,
		pgx.NamedArgs{"kind": kind, "key": key, "ref": ref})
	op, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Operation])
	if errors.Is(err, pgx.ErrNoRows) {
		return Operation{}, fmt.Errorf("looking for the %s of %q: %w", kind, ref, ErrNotFound)
	}
	if err != nil {
		return Operation{}, fmt.Errorf("looking for the %s of %q: %w", kind, ref, err)
	}
	return op, nil
}

// BySubject returns the operations that belong to one thing, oldest first.
func (s *Store) BySubject(ctx context.Context, subjectType, subjectID string) ([]Operation, error) {
	return s.BySubjectIn(ctx, s.pool, subjectType, subjectID)
}

// BySubjectIn is BySubject on a connection that the caller holds.
func (s *Store) BySubjectIn(ctx context.Context, q Querier, subjectType, subjectID string) ([]Operation, error) {
	rows, _ := q.Query(ctx, `SELECT `+columns+` FROM operations
		WHERE subject_type = $1 AND subject_id = $2 ORDER BY created_at, op_key LIMIT 500`, subjectType, subjectID)
	ops, err := pgx.CollectRows(rows, pgx.RowToStructByName[Operation])
	if err != nil {
		return nil, fmt.Errorf("reading the operations of %s %s: %w", subjectType, subjectID, err)
	}
	return ops, nil
}

// Now returns the database's clock, the only one by which leases are judged.
func (s *Store) Now(ctx context.Context) (now time.Time, err error) {
	if err = s.pool.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&now); err != nil {
		return now, fmt.Errorf("reading the database clock: %w", err)
	}
	return now, nil
}
