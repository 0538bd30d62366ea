package operations

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// lockNotAvailable is PostgreSQL's error when lock_timeout passes.
const lockNotAvailable = "55P03"

// RunTx does a local effect exactly once: claim, change and result commit in
// one transaction. A repeat after the commit gets the stored operation and
// replayed is true. A repeat during it waits for at most patience and then gets
// ErrInFlight. When effect fails, the claim rolls back with it, so a later
// delivery starts afresh; a crash anywhere before the commit does the same.
func (s *Store) RunTx(ctx context.Context, in Intent, source Source, patience time.Duration,
	effect func(ctx context.Context, tx pgx.Tx) (Completion, error)) (op Operation, replayed bool, err error) {
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		// A second caller blocks inside the claim, on the first one's
		// uncommitted row: that wait is what lock_timeout bounds.
		if err := setLockTimeout(ctx, tx, patience); err != nil {
			return err
		}
		start := time.Now()
		claimed, err := s.claimOperation(ctx, tx, in, ClaimOptions{Source: source})
		if pgErr, ok := errors.AsType[*pgconn.PgError](err); ok && pgErr.Code == lockNotAvailable {
			return fmt.Errorf("claiming %s %s: %w", in.Kind, in.Key, ErrInFlight)
		}
		if errors.Is(err, pgx.ErrNoRows) {
			done, err := s.explainRefusal(ctx, tx, in, source)
			if err == nil {
				op, replayed = *done, true
			}
			return err
		}
		if err != nil {
			return fmt.Errorf("claiming %s %s: %w", in.Kind, in.Key, err)
		}
		if err := setLockTimeout(ctx, tx, 0); err != nil {
			return err
		}
		completion, err := effect(ctx, tx)
		if err != nil {
			return err
		}
		lease := &Lease{Operation: claimed, Deadline: start.Add(s.ttl)}
		if err := s.completeOperation(ctx, tx, lease, completion); err != nil {
			return err
		}
		op, err = getOperation(ctx, tx, in.Key)
		return err
	})
	if err != nil {
		return Operation{}, false, err
	}
	return op, replayed, nil
}

func setLockTimeout(ctx context.Context, tx pgx.Tx, d time.Duration) error {
	if _, err := tx.Exec(ctx, `SELECT set_config('lock_timeout', $1, true)`, fmt.Sprintf("%dms", d.Milliseconds())); err != nil {
		return fmt.Errorf("setting lock_timeout: %w", err)
	}
	return nil
}
