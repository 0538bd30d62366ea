package operations_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"shop/internal/operations"
)

// staleWrites are all the writes that a holder can make.
func staleWrites(s *operations.Store) map[string]func(context.Context, *operations.Lease) error {
	return map[string]func(context.Context, *operations.Lease) error{
		"heartbeat": s.Heartbeat,
		"release":   s.Release,
		"progress": func(ctx context.Context, l *operations.Lease) error {
			return s.Progress(ctx, l, operations.Call{Name: "create"}, "pi_stale")
		},
		"wait": func(ctx context.Context, l *operations.Lease) error {
			return s.Wait(ctx, l, operations.Wait{After: time.Second, Reason: "stale"})
		},
		"stick": func(ctx context.Context, l *operations.Lease) error { return s.Stick(ctx, l, "stale", true) },
		"complete": func(ctx context.Context, l *operations.Lease) error {
			return s.Complete(ctx, l, operations.Completion{Outcome: operations.Failed, Result: "stale"},
				func(ctx context.Context, tx pgx.Tx) error {
					_, err := tx.Exec(ctx, `INSERT INTO outbox_messages (topic, subject_type, subject_id, payload) VALUES ('stale','','','{}')`)
					return err
				})
		},
	}
}

// docs/peers.md rows 71 and 72: a worker that slept past its lease renewed it,
// released it and wrote its result over its successor's.
func TestRow71_AStaleWorkerWritesNothing(t *testing.T) {
	t.Parallel()
	for _, takenOver := range []bool{true, false} {
		s, pool := newStore(t)
		ctx := context.Background()
		n := 0
		for name, write := range staleWrites(s) {
			n++
			in := intent(t, "charge", n, 100)
			stale := mustClaim(t, s, in)
			expire(t, pool, in.Key)
			if takenOver {
				second := store(pool, "worker/2", time.Minute)
				next := mustClaim(t, second, in)
				require.Greater(t, next.Fence, stale.Fence)
			}
			before, err := s.Get(ctx, in.Key)
			require.NoError(t, err)

			require.ErrorIs(t, write(ctx, stale), operations.ErrLeaseLost, "%s, taken over: %v", name, takenOver)

			after, err := s.Get(ctx, in.Key)
			require.NoError(t, err)
			require.Equal(t, before, after, "%s changed the row, taken over: %v", name, takenOver)
			types := eventTypes(t, s, in.Key)
			require.Equal(t, "fenced_off", types[len(types)-1], "the refusal is on the timeline")
		}
		var messages int
		require.NoError(t, pool.QueryRow(ctx, `SELECT count(*) FROM outbox_messages`).Scan(&messages))
		require.Zero(t, messages, "the effects of a refused completion did not run")
	}
}

func TestASuccessorIsShownAsATakeover(t *testing.T) {
	t.Parallel()
	s, pool := newStore(t)
	in := intent(t, "charge", 1, 100)
	mustClaim(t, s, in)
	expire(t, pool, in.Key)
	next := mustClaim(t, store(pool, "worker/2", time.Minute), in)
	require.EqualValues(t, 2, next.Fence)
	require.Equal(t, []string{"claimed", "taken_over"}, eventTypes(t, s, in.Key))
	require.NoError(t, s.Complete(context.Background(), next, operations.Completion{Outcome: operations.Succeeded}, nil))
}

// docs/peers.md row 73: leases are judged by the database's clock. A lease counts
// from what the database said, and its local deadline from a monotonic clock
// read before the claim was sent; the wall clock of the process has no part in
// it. The test moves the times in the row, as a skewed clock would have.
func TestRow73_LeasesFollowTheDatabaseClock(t *testing.T) {
	t.Parallel()
	s, pool := newStore(t)
	ctx := context.Background()
	in := intent(t, "charge", 1, 100)
	sent := time.Now()
	lease := mustClaim(t, s, in)
	require.False(t, lease.Deadline.After(time.Now().Add(s.TTL())))
	require.False(t, lease.Deadline.Before(sent.Add(s.TTL())))

	// The session believes that it is in another zone and the process that it is another day: nothing changes.
	_, err := pool.Exec(ctx, `SET timezone = 'Pacific/Kiritimati'`)
	require.NoError(t, err)
	skewed := *lease
	skewed.Deadline = time.Now().Add(-24 * time.Hour)
	require.NoError(t, s.Heartbeat(ctx, &skewed), "a local clock that is a day ahead does not lose a lease that the database still holds")
	_, _, err = s.Claim(ctx, in, operations.ClaimOptions{})
	require.ErrorIs(t, err, operations.ErrLeaseHeld)

	expire(t, pool, in.Key)
	skewed.Deadline = time.Now().Add(24 * time.Hour)
	require.ErrorIs(t, s.Heartbeat(ctx, &skewed), operations.ErrLeaseLost, "a local clock that is a day behind does not keep one that has passed")
}

// docs/peers.md row 73, first half: with the database away, a heartbeat fails loudly.
func TestRow73_AHeartbeatWithoutADatabaseIsAnError(t *testing.T) {
	t.Parallel()
	s, pool := newStore(t)
	lease := mustClaim(t, s, intent(t, "charge", 1, 100))
	before := lease.Deadline
	pool.Close()
	require.Error(t, s.Heartbeat(context.Background(), lease))
	require.Equal(t, before, lease.Deadline, "an unanswered heartbeat does not extend what the worker believes")
}

func TestReleaseLetsTheNextOneInAtOnce(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	in := intent(t, "charge", 1, 100)
	require.NoError(t, s.Release(context.Background(), mustClaim(t, s, in)))
	require.EqualValues(t, 2, mustClaim(t, s, in).Fence)
}

func TestProgressKeepsTheReference(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	ctx := context.Background()
	lease := mustClaim(t, s, intent(t, "charge", 1, 100))
	require.NoError(t, s.Progress(ctx, lease, operations.Call{Name: "create", Status: 200}, "pi_1"))
	require.NoError(t, s.Progress(ctx, lease, operations.Call{Name: "confirm", Status: 500}, ""))
	op, err := s.Get(ctx, lease.Key)
	require.NoError(t, err)
	require.Equal(t, "pi_1", *op.ProviderRef)
}
