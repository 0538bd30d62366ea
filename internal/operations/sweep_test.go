package operations_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"shop/internal/operations"
)

func sweepAll(t testing.TB, s *operations.Store) (keys []operations.Key) {
	t.Helper()
	_, err := s.Sweep(context.Background(), 0, 100, func(_ context.Context, _ pgx.Tx, overdue []operations.Operation) error {
		for _, op := range overdue {
			keys = append(keys, op.Key)
		}
		return nil
	})
	require.NoError(t, err)
	return keys
}

// docs/peers.md row 74: the reaper needed the lease that it should expire.
func TestRow74_WhateverIsOverdueGoesRoundAgain(t *testing.T) {
	t.Parallel()
	s, pool := newStore(t)
	ctx := context.Background()
	running, waiting := intent(t, "charge", "running", 1), intent(t, "charge", "waiting", 1)
	planned, healthy := intent(t, "charge", "planned", 1), intent(t, "charge", "healthy", 1)
	done, stuck := intent(t, "charge", "done", 1), intent(t, "charge", "stuck", 1)

	stale := mustClaim(t, s, running)
	expire(t, pool, running.Key)
	require.NoError(t, s.Wait(ctx, mustClaim(t, s, waiting), operations.Wait{After: 0, Reason: "backoff"}))
	require.NoError(t, pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error { return s.Plan(ctx, tx, operations.SourceRelay, planned) }))
	_, err := pool.Exec(ctx, `UPDATE operations SET start_by = clock_timestamp() - interval '1 s' WHERE op_key = $1`, planned.Key)
	require.NoError(t, err)
	mustClaim(t, s, healthy)
	require.NoError(t, s.Complete(ctx, mustClaim(t, s, done), operations.Completion{Outcome: operations.Succeeded}, nil))
	require.NoError(t, s.Stick(ctx, mustClaim(t, s, stuck), "a person must look", true))

	require.ElementsMatch(t, []operations.Key{running.Key, waiting.Key, planned.Key}, sweepAll(t, s))
	require.Empty(t, sweepAll(t, s), "what has just been sent round is left alone for a while")
	require.ErrorIs(t, s.Heartbeat(ctx, stale), operations.ErrLeaseLost)
	require.EqualValues(t, 2, mustClaim(t, s, running).Fence)
	require.Equal(t, []string{"claimed", "lease_expired", "fenced_off", "claimed"}, eventTypes(t, s, running.Key))
}

func TestASweepThatCannotQueueLeavesThingsOverdue(t *testing.T) {
	t.Parallel()
	s, pool := newStore(t)
	in := intent(t, "charge", 1, 1)
	mustClaim(t, s, in)
	expire(t, pool, in.Key)
	_, err := s.Sweep(context.Background(), 0, 100, func(context.Context, pgx.Tx, []operations.Operation) error { return errors.New("queue is away") })
	require.Error(t, err)
	require.Equal(t, []operations.Key{in.Key}, sweepAll(t, s))
}

func TestSweepersShareTheWork(t *testing.T) {
	t.Parallel()
	s, pool := newStore(t)
	ctx := context.Background()
	const n = 200
	for i := range n {
		mustClaim(t, s, intent(t, "charge", i, 1))
	}
	_, err := pool.Exec(ctx, `UPDATE operations SET lease_until = clock_timestamp() - interval '1 s'`)
	require.NoError(t, err)
	var mu sync.Mutex
	seen := map[operations.Key]int{}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for {
				swept, err := s.Sweep(ctx, 0, 10, func(_ context.Context, _ pgx.Tx, overdue []operations.Operation) error {
					mu.Lock()
					defer mu.Unlock()
					for _, op := range overdue {
						seen[op.Key]++
					}
					return nil
				})
				if err != nil {
					t.Errorf("sweeping: %v", err)
					return
				}
				if swept == 0 {
					return
				}
			}
		})
	}
	wg.Wait()
	// A sweeper that finds only locked rows goes home; the last one to work finishes the rest.
	for _, k := range sweepAll(t, s) {
		seen[k]++
	}
	require.Len(t, seen, n)
	for k, times := range seen {
		require.Equal(t, 1, times, k)
	}
}

// The constraints keep every combination of columns legal, whoever writes.
func TestTheTableRefusesIllegalStates(t *testing.T) {
	t.Parallel()
	s, pool := newStore(t)
	ctx := context.Background()
	in := intent(t, "charge", 1, 1)
	lease := mustClaim(t, s, in)
	for _, sql := range []string{
		`UPDATE operations SET state = 'done'`,
		`UPDATE operations SET outcome = 'succeeded'`,
		`UPDATE operations SET owner = NULL`,
		`UPDATE operations SET lease_until = NULL`,
		`UPDATE operations SET state = 'waiting'`,
		`UPDATE operations SET state = 'stuck', owner = NULL, lease_until = NULL`,
		`UPDATE operations SET state = 'sleeping'`,
		`UPDATE operations SET fence = 0`,
		`UPDATE operations SET op_key = 'short'`,
		`UPDATE operations SET retry_at = now()`,
	} {
		_, err := pool.Exec(ctx, sql)
		require.ErrorContains(t, err, "violates check constraint", sql)
	}
	require.NoError(t, s.Wait(ctx, lease, operations.Wait{After: time.Hour, Reason: "backoff"}))
	op, err := s.Get(ctx, in.Key)
	require.NoError(t, err)
	require.Equal(t, *op.RetryAt, *op.DueAt, "due_at follows the state")
}
