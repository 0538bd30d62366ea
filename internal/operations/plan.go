package operations

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// planSQL inserts and reports in one statement. A row that is there already is
// left alone; its fingerprint comes back so that a conflict is seen.
const planSQL = `
WITH planned AS (
	INSERT INTO operations (op_key, kind, identity, subject_type, subject_id, params, fingerprint, state, start_by)
	VALUES (@key, @kind, @identity, @subject_type, @subject_id, @params, @fingerprint, 'pending',
	        clock_timestamp() + make_interval(secs => @start))
	ON CONFLICT (op_key) DO NOTHING
	RETURNING op_key
), event AS (
	INSERT INTO operation_events (op_key, type, fence, source) SELECT op_key, 'planned', 0, @source FROM planned
)
SELECT fingerprint FROM operations WHERE op_key = @key AND NOT EXISTS (SELECT FROM planned)`

// Plan records inside the caller's transaction that operations shall happen.
// The intent commits with the change that asks for it or not at all. Planning
// the same operation again changes nothing; with other parameters it is
// ErrFingerprint.
func (s *Store) Plan(ctx context.Context, tx pgx.Tx, source Source, intents ...Intent) error {
	if len(intents) == 0 {
		return nil
	}
	batch := &pgx.Batch{}
	for _, in := range intents {
		batch.Queue(planSQL, s.intentArgs(in, source)).Query(func(rows pgx.Rows) error {
			existing, err := pgx.CollectRows(rows, pgx.RowTo[string])
			if err != nil {
				return fmt.Errorf("planning %s %s: %w", in.Kind, in.Key, err)
			}
			if len(existing) == 1 && existing[0] != in.Fingerprint {
				return fmt.Errorf("planning %s %s: %w", in.Kind, in.Key, ErrFingerprint)
			}
			return nil
		})
	}
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return err
	}
	return nil
}

func (s *Store) intentArgs(in Intent, source Source) pgx.NamedArgs {
	return pgx.NamedArgs{"key": in.Key, "kind": in.Kind, "identity": in.Identity, "subject_type": in.SubjectType,
		"subject_id": in.SubjectID, "params": in.Params, "fingerprint": in.Fingerprint, "source": source,
		"start": s.start.Seconds(), "owner": s.owner, "ttl": s.ttl.Seconds()}
}
