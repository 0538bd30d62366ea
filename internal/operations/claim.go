package operations

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// claimSQL is the heart of the whole program: one conditional statement that
// makes the row or takes it over, and gives out the next fencing token. Two
// statements (look, then take) let several contenders in: on PostgreSQL 15
// sixteen of them raced to more than one holder in 299 of 300 rounds.
//
// A crash right after it leaves a lease that passes by the database's clock;
// the next delivery of the same operation goes through this same statement.
const claimSQL = `
WITH before AS (
	SELECT state, owner FROM operations WHERE op_key = @key
), claimed AS (
	INSERT INTO operations AS o (op_key, kind, identity, subject_type, subject_id, params, fingerprint, state, start_by,
	                             owner, lease_until, fence, claims, first_sent_at)
	VALUES (@key, @kind, @identity, @subject_type, @subject_id, @params, @fingerprint, 'running', clock_timestamp(),
	        @owner, clock_timestamp() + make_interval(secs => @ttl), 1, 1,
	        CASE WHEN @outside THEN clock_timestamp() END)
	ON CONFLICT (op_key) DO UPDATE SET
		state = 'running', owner = @owner, lease_until = clock_timestamp() + make_interval(secs => @ttl),
		fence = o.fence + 1, claims = o.claims + 1, retry_at = NULL, wait_reason = NULL, updated_at = clock_timestamp(),
		first_sent_at = CASE WHEN @outside THEN coalesce(o.first_sent_at, clock_timestamp()) ELSE o.first_sent_at END
	WHERE o.fingerprint = @fingerprint
	  AND (o.state = 'pending'
	    OR (o.state = 'running' AND o.lease_until <= clock_timestamp())
	    OR (o.state = 'waiting' AND (@early OR o.retry_at <= clock_timestamp()))
	    OR (o.state = 'stuck' AND @early AND o.outcome_unknown))
	RETURNING ` + columns + `
), event AS (
	INSERT INTO operation_events (op_key, type, fence, owner, source, detail)
	SELECT c.op_key, CASE WHEN b.state = 'running' THEN 'taken_over' ELSE 'claimed' END, c.fence, c.owner, @source,
	       CASE WHEN b.state = 'running' THEN jsonb_build_object('from', b.owner) END
	FROM claimed c LEFT JOIN before b ON true
)
SELECT * FROM claimed`

// Lease is the right to do an operation and to record it, until Deadline.
type Lease struct {
	Operation
	// Deadline is when the lease passes, on this process's monotonic clock. It
	// is counted from before the claim was sent, so it is never later than what
	// the database holds, however wrong the wall clock of this machine is.
	Deadline time.Time
	// SentBefore: an earlier holder may have reached the provider with these
	// keys. It comes from the claim itself: what was read before it may be old.
	SentBefore bool
}

// ClaimOptions say how a claim is made.
type ClaimOptions struct {
	Source Source
	// Early takes a waiting operation before its retry_at, and one that is stuck
	// because its outcome is unknown: the answer that it waits for may have come.
	Early bool
	// Outside marks an effect beyond the database. The first such claim sets
	// first_sent_at: from then on the provider may have seen the key.
	Outside bool
}

// Claim takes the lease of an operation, making the row when it is not there.
// When it is done already the stored operation comes back instead and the
// repeat is counted: exactly one of lease and done is non-nil on success.
// Otherwise the error is ErrLeaseHeld, ErrNotDue, ErrStuck or ErrFingerprint.
func (s *Store) Claim(ctx context.Context, in Intent, o ClaimOptions) (lease *Lease, done *Operation, err error) {
	start := time.Now()
	op, err := s.claimOperation(ctx, s.pool, in, o)
	if err == nil {
		return &Lease{Operation: op, Deadline: start.Add(s.ttl), SentBefore: op.Claims > 1}, nil, nil
	}
	if !errors.Is(err, pgx.ErrNoRows) {
		return nil, nil, fmt.Errorf("claiming %s %s: %w", in.Kind, in.Key, err)
	}
	done, err = s.explainRefusal(ctx, s.pool, in, o.Source)
	return nil, done, err
}

func (s *Store) claimOperation(ctx context.Context, q Querier, in Intent, o ClaimOptions) (Operation, error) {
	args := s.intentArgs(in, o.Source)
	args["early"], args["outside"] = o.Early, o.Outside
	rows, _ := q.Query(ctx, claimSQL, args)
	return pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Operation])
}

// explainRefusal says why a row could not be claimed. It decides nothing: the
// claim already did.
func (s *Store) explainRefusal(ctx context.Context, q Querier, in Intent, source Source) (*Operation, error) {
	op, err := getOperation(ctx, q, in.Key)
	if err != nil {
		return nil, err
	}
	refuse := func(why error) (*Operation, error) {
		return nil, fmt.Errorf("claiming %s %s: %w", in.Kind, in.Key, why)
	}
	switch {
	case op.Fingerprint != in.Fingerprint:
		return refuse(ErrFingerprint)
	case op.State == Done:
		if err := recordReplay(ctx, q, op.Key, source); err != nil {
			return nil, err
		}
		return &op, nil
	case op.State == Stuck:
		return refuse(ErrStuck)
	case op.State == Waiting:
		return refuse(ErrNotDue)
	default:
		return refuse(ErrLeaseHeld)
	}
}

const replaySQL = `
WITH counted AS (
	UPDATE operations SET replays = replays + 1 WHERE op_key = @key AND state = 'done' RETURNING op_key, fence
)
INSERT INTO operation_events (op_key, type, fence, source) SELECT op_key, 'replayed', fence, @source FROM counted`

// recordReplay counts a repeat that was answered from the stored result.
func recordReplay(ctx context.Context, q Querier, key Key, source Source) error {
	rows, err := q.Query(ctx, replaySQL, pgx.NamedArgs{"key": key, "source": source})
	if err == nil {
		rows.Close()
		err = rows.Err()
	}
	if err != nil {
		return fmt.Errorf("counting a repeat of %s: %w", key, err)
	}
	return nil
}
