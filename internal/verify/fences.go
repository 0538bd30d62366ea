package verify

import "context"

// checkFences is I6. Only the events of a holder are judged: a refusal and a
// lost lease are recorded under the old fence on purpose. Events of one
// operation are written under its row lock, so their ids are in the order of
// what happened.
func checkFences(ctx context.Context, l *look, r *Result) error {
	if err := l.count(ctx, r, `SELECT count(*) FROM operation_events WHERE type IN ('completed', 'waiting', 'stuck', 'provider_call')`); err != nil {
		return err
	}
	return l.tally(ctx, r, `
		WITH ordered AS (
			SELECT id, op_key, type, fence, max(fence) OVER (PARTITION BY op_key ORDER BY id
			       ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS given_out
			FROM operation_events
		)
		SELECT 'operation ' || op_key, format('event %s, %s, was written under fence %s after fence %s had been given out', id, type, fence, given_out), false
		FROM ordered WHERE type IN ('completed', 'waiting', 'stuck', 'provider_call') AND fence < given_out
		UNION ALL
		SELECT 'operation ' || o.op_key, format('event %s, %s, bears fence %s, and the last fence of the operation is %s', e.id, e.type, e.fence, o.fence), false
		FROM operation_events e JOIN operations o ON o.op_key = e.op_key
		WHERE e.fence > o.fence OR (e.type = 'completed' AND e.fence <> o.fence)
		UNION ALL
		SELECT 'operation ' || op_key, format('it was completed %s times', count(*)), false
		FROM operation_events WHERE type = 'completed' GROUP BY op_key HAVING count(*) > 1
		ORDER BY 1`)
}
