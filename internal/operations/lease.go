package operations

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// held is the condition of every write under a lease. It asks for the fence,
// so a worker that was taken over changes nothing, and for the time, so a
// worker that slept past its lease changes nothing even before somebody else
// comes. The clock is the database's.
const held = `op_key = @key AND fence = @fence AND state = 'running' AND lease_until > clock_timestamp()`

// execHeld runs a statement guarded by held. No row means that the lease is lost.
func (s *Store) execHeld(ctx context.Context, q Querier, l *Lease, what, sql string, args pgx.NamedArgs) error {
	args["key"], args["fence"], args["owner"] = l.Key, l.Fence, s.owner
	rows, _ := q.Query(ctx, sql, args)
	_, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[string])
	switch err {
	case nil:
		return nil
	case pgx.ErrNoRows:
		return fmt.Errorf("%s %s %s under fence %d: %w", what, l.Kind, l.Key, l.Fence, ErrLeaseLost)
	default:
		return fmt.Errorf("%s %s %s: %w", what, l.Kind, l.Key, err)
	}
}

// noted puts a refused write on the timeline, so that it can be seen later. It
// is called when no transaction is open: to ask the pool for a second
// connection while holding one is how a whole process freezes.
func (s *Store) noted(ctx context.Context, l *Lease, what string, err error) error {
	if !errors.Is(err, ErrLeaseLost) {
		return err
	}
	// A failure to note it must not hide the refusal itself.
	_, _ = s.pool.Exec(context.WithoutCancel(ctx), `INSERT INTO operation_events (op_key, type, fence, owner, detail)
		VALUES (@key, 'fenced_off', @fence, @owner, jsonb_build_object('refused', @what::text))`,
		pgx.NamedArgs{"key": l.Key, "fence": l.Fence, "owner": s.owner, "what": what})
	return err
}

// write runs one guarded statement on its own.
func (s *Store) write(ctx context.Context, l *Lease, what, sql string, args pgx.NamedArgs) error {
	return s.noted(ctx, l, what, s.execHeld(ctx, s.pool, l, what, sql, args))
}

// Heartbeat extends the lease by a full TTL. ErrLeaseLost when it has passed.
func (s *Store) Heartbeat(ctx context.Context, l *Lease) error {
	start := time.Now()
	err := s.write(ctx, l, "renewing", `
		UPDATE operations SET lease_until = clock_timestamp() + make_interval(secs => @ttl), updated_at = clock_timestamp()
		WHERE `+held+` RETURNING op_key`, pgx.NamedArgs{"ttl": s.ttl.Seconds()})
	if err == nil {
		l.Deadline = start.Add(s.ttl)
	}
	return err
}

// Call is one call to a provider as the timeline shows it. It holds no secret
// and no personal data.
type Call struct {
	Name       string `json:"call"`                  // "create", "confirm"
	Key        string `json:"key"`                   // the idempotency key that was sent
	RequestID  string `json:"request_id,omitempty"`  // the provider's name for the request
	Status     int    `json:"status,omitempty"`      // HTTP status; 0 when none came
	Replayed   bool   `json:"replayed,omitempty"`    // answered from the provider's own record
	Problem    string `json:"problem,omitempty"`     // redacted
	Result     string `json:"result,omitempty"`      // the status of the object that came back
	DurationMS int64  `json:"duration_ms,omitempty"` // how long the answer took, in milliseconds
}

// Progress records a call and, when ref is not empty, the provider's name for
// the effect; it also renews the lease. A crash right after it loses nothing:
// whoever comes next finds the reference and goes on from there.
func (s *Store) Progress(ctx context.Context, l *Lease, call Call, ref string) error {
	start := time.Now()
	err := s.write(ctx, l, "recording progress of", `
		WITH kept AS (
			UPDATE operations SET lease_until = clock_timestamp() + make_interval(secs => @ttl),
			       provider_ref = coalesce(nullif(@ref, ''), provider_ref), updated_at = clock_timestamp()
			WHERE `+held+` RETURNING op_key, fence
		), event AS (
			INSERT INTO operation_events (op_key, type, fence, owner, detail)
			SELECT op_key, 'provider_call', fence, @owner, @call::jsonb FROM kept
		)
		SELECT op_key FROM kept`, pgx.NamedArgs{"ttl": s.ttl.Seconds(), "ref": ref, "call": call})
	if err == nil {
		l.Deadline = start.Add(s.ttl)
		if ref != "" {
			l.ProviderRef = &ref
		}
	}
	return err
}

// Intend stores how the operation is about to end, before a last call that has
// to come first. Whoever finds that call done then knows why it was made.
func (s *Store) Intend(ctx context.Context, l *Lease, ending any) error {
	encoded, err := Canonical(ending)
	if err != nil {
		return fmt.Errorf("encoding the ending of %s %s: %w", l.Kind, l.Key, err)
	}
	err = s.write(ctx, l, "preparing the end of", `UPDATE operations SET result = @ending, updated_at = clock_timestamp()
		WHERE `+held+` RETURNING op_key`, pgx.NamedArgs{"ending": encoded})
	if err == nil {
		l.Result = encoded
	}
	return err
}

// Wait parks the operation until an automatic next action.
type Wait struct {
	After   time.Duration // until the next automatic action, by the database clock
	Reason  string        // why, in the vocabulary of the domain: "provider unknown"
	Unknown bool          // the provider's last answer did not tell whether the effect happened
	Problem string        // redacted text of the last problem; "" keeps none
}

// Wait gives the lease back and parks the operation. ErrLeaseLost when it has passed.
func (s *Store) Wait(ctx context.Context, l *Lease, w Wait) error {
	return s.write(ctx, l, "parking", `
		WITH kept AS (
			UPDATE operations SET state = 'waiting', owner = NULL, lease_until = NULL,
			       retry_at = clock_timestamp() + make_interval(secs => @after), wait_reason = @reason,
			       outcome_unknown = @unknown, error = nullif(@problem, ''), updated_at = clock_timestamp()
			WHERE `+held+` RETURNING op_key, fence, retry_at
		), event AS (
			INSERT INTO operation_events (op_key, type, fence, owner, detail)
			SELECT op_key, 'waiting', fence, @owner, jsonb_strip_nulls(jsonb_build_object('reason', @reason::text,
			       'until', retry_at, 'unknown', @unknown::boolean, 'problem', nullif(@problem, ''))) FROM kept
		)
		SELECT op_key FROM kept`,
		pgx.NamedArgs{"after": w.After.Seconds(), "reason": w.Reason, "unknown": w.Unknown, "problem": w.Problem})
}

// Stick gives the operation to a person, with the reason. ErrLeaseLost when the lease has passed.
func (s *Store) Stick(ctx context.Context, l *Lease, reason string, unknown bool) error {
	return s.write(ctx, l, "handing over", `
		WITH kept AS (
			UPDATE operations SET state = 'stuck', owner = NULL, lease_until = NULL, error = @reason,
			       outcome_unknown = @unknown, updated_at = clock_timestamp()
			WHERE `+held+` RETURNING op_key, fence
		), event AS (
			INSERT INTO operation_events (op_key, type, fence, owner, detail)
			SELECT op_key, 'stuck', fence, @owner, jsonb_build_object('reason', @reason::text) FROM kept
		)
		SELECT op_key FROM kept`, pgx.NamedArgs{"reason": reason, "unknown": unknown})
}

// Release gives the lease back without a result, so that the next delivery can
// start at once: for a worker that is told to stop before it sent anything.
func (s *Store) Release(ctx context.Context, l *Lease) error {
	return s.write(ctx, l, "releasing", `
		WITH kept AS (
			UPDATE operations SET state = 'pending', owner = NULL, lease_until = NULL, start_by = clock_timestamp(),
			       updated_at = clock_timestamp()
			WHERE `+held+` RETURNING op_key, fence
		), event AS (
			INSERT INTO operation_events (op_key, type, fence, owner) SELECT op_key, 'released', fence, @owner FROM kept
		)
		SELECT op_key FROM kept`, pgx.NamedArgs{})
}
