package operations

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Completion is how an operation ended.
type Completion struct {
	Outcome     Outcome
	Result      any    // stored as JSON and given to every repeat; no secrets
	ProviderRef string // the provider's name for the effect; "" keeps what is stored
	Problem     string // redacted text, for outcomes other than succeeded
}

const completeSQL = `
WITH kept AS (
	UPDATE operations SET state = 'done', outcome = @outcome, result = @result, owner = NULL, lease_until = NULL,
	       provider_ref = coalesce(nullif(@ref, ''), provider_ref), error = nullif(@problem, ''),
	       outcome_unknown = false, finished_at = clock_timestamp(), updated_at = clock_timestamp()
	WHERE ` + held + ` RETURNING op_key, fence
), event AS (
	INSERT INTO operation_events (op_key, type, fence, owner, detail)
	SELECT op_key, 'completed', fence, @owner, jsonb_build_object('outcome', @outcome::text) FROM kept
)
SELECT op_key FROM kept`

// Complete stores the outcome under the fence and runs effects in the same
// transaction: the row, what it means for the domain and the next outbox
// message commit together. With the lease lost it returns ErrLeaseLost, and
// effects has not run.
//
// A crash before the commit leaves the lease to pass; the next worker asks the
// provider with the same key and arrives here again.
func (s *Store) Complete(ctx context.Context, l *Lease, c Completion, effects func(ctx context.Context, tx pgx.Tx) error) error {
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if err := s.completeOperation(ctx, tx, l, c); err != nil {
			return err
		}
		if effects == nil {
			return nil
		}
		return effects(ctx, tx)
	})
	return s.noted(ctx, l, "completing", err)
}

func (s *Store) completeOperation(ctx context.Context, tx pgx.Tx, l *Lease, c Completion) error {
	result, err := Canonical(c.Result)
	if err != nil {
		return fmt.Errorf("encoding the result of %s %s: %w", l.Kind, l.Key, err)
	}
	return s.execHeld(ctx, tx, l, "completing", completeSQL, pgx.NamedArgs{
		"outcome": c.Outcome, "result": result, "ref": c.ProviderRef, "problem": c.Problem})
}
