package verify

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"shop/internal/operations"
)

// checkKeys is I7: our keys are what our operations derive, and the provider
// has seen no others.
func checkKeys(ctx context.Context, l *look, r *Result) error {
	if err := l.deriveAgain(ctx, r); err != nil {
		return err
	}
	if err := l.count(ctx, r, `SELECT count(*) FROM provider_intents WHERE created >= @since`); err != nil {
		return err
	}
	if err := l.tally(ctx, r, `
		SELECT i.id, CASE
		       WHEN i.operation = '' THEN 'its metadata names no operation'
		       WHEN c.op_key IS NULL THEN format('its metadata names operation %s, which is not here', i.operation)
		       WHEN c.kind <> @charge THEN format('its metadata names operation %s, which is of the kind %s', i.operation, c.kind)
		       ELSE format('its metadata names operation %s, which stands for %s', i.operation, coalesce(c.provider_ref, 'no PaymentIntent'))
		       END, coalesce(c.kind = @charge AND c.provider_ref IS NULL AND c.state IN ('pending', 'running', 'waiting'), false)
		FROM provider_intents i LEFT JOIN operations c ON c.op_key = i.operation
		WHERE i.created >= @since AND (c.kind IS DISTINCT FROM @charge OR c.provider_ref IS DISTINCT FROM i.id)
		UNION ALL
		SELECT 'operation ' || c.op_key, format('it stands for %s, which the provider does not list', c.provider_ref), c.updated_at >= @seen
		FROM operations c WHERE c.kind = @charge AND c.provider_ref IS NOT NULL AND c.created_at >= @since
		  AND NOT EXISTS (SELECT FROM provider_intents i WHERE i.id = c.provider_ref)
		ORDER BY 1`); err != nil {
		return err
	}
	if l.Simulator.URL == "" {
		r.note("the provider does not tell which keys it saw; they were followed through the metadata")
		return nil
	}
	if err := l.count(ctx, r, `SELECT count(*) FROM provider_requests`); err != nil {
		return err
	}
	return l.tally(ctx, r, `
		SELECT q.id, CASE WHEN q.key = '' THEN format('%s came without an idempotency key', q.endpoint)
		       ELSE format('%s came with the key %s, which no operation here derives', q.endpoint, q.key) END, false
		FROM provider_requests q LEFT JOIN operations o ON o.op_key = split_part(q.key, ':', 1)
		WHERE (o.op_key IS NULL OR q.key !~ '^[0-9a-f]{64}:[a-z0-9_-]+$')
		  -- A refund that somebody made at the provider came with a key of theirs; I8 holds it to the books.
		  AND NOT EXISTS (SELECT FROM refunds f WHERE f.provider_ref = q.object AND f.op_key IS NULL)
		ORDER BY q.id`)
}

type keyed struct {
	Key              operations.Key
	Kind             string
	Identity, Params []byte
	Fingerprint      string
}

// deriveAgain derives the key and the fingerprint of each operation from what
// it is and what it does.
func (l *look) deriveAgain(ctx context.Context, r *Result) error {
	for after := operations.Key(""); ; {
		rows, _ := l.tx.Query(ctx, `SELECT op_key, kind, identity, params, fingerprint FROM operations
			WHERE op_key > $1 ORDER BY op_key LIMIT $2`, after, page)
		ops, err := pgx.CollectRows(rows, pgx.RowToStructByPos[keyed])
		if err != nil || len(ops) == 0 {
			return err
		}
		for _, op := range ops {
			r.Checked++
			if problem := op.problem(); problem != "" {
				r.add(Violation{Subject: "operation " + string(op.Key), Detail: problem}, false)
			}
		}
		after = ops[len(ops)-1].Key
	}
}

func (o keyed) problem() string {
	in, err := operations.NewIntent(operations.Spec{Kind: o.Kind, Identity: o.Identity, Params: o.Params})
	switch {
	case err != nil:
		return err.Error()
	case in.Key != o.Key:
		return fmt.Sprintf("its kind %s and identity %s derive the key %s", o.Kind, o.Identity, in.Key)
	case in.Fingerprint != o.Fingerprint:
		return "its parameters are not those that were frozen with the key"
	}
	return ""
}
