package operations_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"shop/internal/operations"
)

// Sixteen contenders race for one operation, three hundred times over: each
// round has one holder, whether the row was planned before or not.
func TestClaimHasOneHolderUnderContention(t *testing.T) {
	t.Parallel()
	const contenders, rounds = 16, 300
	s, pool := newStore(t)
	ctx := context.Background()
	for round := range rounds {
		in := intent(t, "race", round, 1)
		if round%2 == 0 {
			require.NoError(t, pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error { return s.Plan(ctx, tx, operations.SourceRelay, in) }))
		}
		var holders, held atomic.Int64
		var ready, wg sync.WaitGroup
		start := make(chan struct{})
		ready.Add(contenders)
		for range contenders {
			wg.Go(func() {
				ready.Done()
				<-start
				lease, done, err := s.Claim(ctx, in, operations.ClaimOptions{Source: operations.SourceQueue})
				switch {
				case err == nil && lease != nil && done == nil:
					holders.Add(1)
				case errors.Is(err, operations.ErrLeaseHeld):
					held.Add(1)
				default:
					t.Errorf("round %d: lease %v, done %v, error %v", round, lease, done, err)
				}
			})
		}
		ready.Wait()
		close(start)
		wg.Wait()
		require.EqualValues(t, 1, holders.Load(), "holders in round %d", round)
		require.EqualValues(t, contenders-1, held.Load(), "refused in round %d", round)
	}
}

func TestClaimRefusesForTheRightReason(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	ctx := context.Background()
	other := intent(t, "charge", 1, 999)

	lease := mustClaim(t, s, intent(t, "charge", 1, 100))
	_, _, err := s.Claim(ctx, intent(t, "charge", 1, 100), operations.ClaimOptions{})
	require.ErrorIs(t, err, operations.ErrLeaseHeld)
	_, _, err = s.Claim(ctx, other, operations.ClaimOptions{})
	require.ErrorIs(t, err, operations.ErrFingerprint)

	require.NoError(t, s.Wait(ctx, lease, operations.Wait{After: time.Hour, Reason: "provider unknown", Unknown: true}))
	_, _, err = s.Claim(ctx, intent(t, "charge", 1, 100), operations.ClaimOptions{})
	require.ErrorIs(t, err, operations.ErrNotDue)
	lease, _, err = s.Claim(ctx, intent(t, "charge", 1, 100), operations.ClaimOptions{Early: true})
	require.NoError(t, err)
	require.EqualValues(t, 2, lease.Fence)
	require.True(t, lease.OutcomeUnknown, "what was not known stays unknown until somebody finds out")

	require.NoError(t, s.Stick(ctx, lease, "nobody can tell", true))
	_, _, err = s.Claim(ctx, intent(t, "charge", 1, 100), operations.ClaimOptions{})
	require.ErrorIs(t, err, operations.ErrStuck)
	lease, _, err = s.Claim(ctx, intent(t, "charge", 1, 100), operations.ClaimOptions{Early: true})
	require.NoError(t, err, "evidence may have come for what nobody could tell")
	require.NoError(t, s.Stick(ctx, lease, "the amounts differ", false))
	_, _, err = s.Claim(ctx, intent(t, "charge", 1, 100), operations.ClaimOptions{Early: true})
	require.ErrorIs(t, err, operations.ErrStuck, "what is known and wrong waits for a person")
}

func TestARepeatIsAnsweredFromTheStoredResult(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	ctx := context.Background()
	in := intent(t, "charge", 1, 100)
	lease := mustClaim(t, s, in)
	require.NoError(t, s.Complete(ctx, lease, operations.Completion{Outcome: operations.Succeeded,
		Result: map[string]any{"charge": "ch_1"}, ProviderRef: "pi_1"}, nil))
	for range 5 {
		lease, done, err := s.Claim(ctx, in, operations.ClaimOptions{Source: operations.SourceQueue, Early: true})
		require.NoError(t, err)
		require.Nil(t, lease)
		require.True(t, done.Succeeded())
		require.JSONEq(t, `{"charge":"ch_1"}`, string(done.Result))
	}
	op, err := s.Get(ctx, in.Key)
	require.NoError(t, err)
	require.EqualValues(t, 5, op.Replays)
	require.EqualValues(t, 1, op.Claims)
	require.Equal(t, []string{"claimed", "completed", "replayed", "replayed", "replayed", "replayed", "replayed"}, eventTypes(t, s, in.Key))

	_, _, err = s.Claim(ctx, intent(t, "charge", 1, 101), operations.ClaimOptions{})
	require.ErrorIs(t, err, operations.ErrFingerprint, "the same key with another amount is a conflict even when done")
}

func TestPlanningTwiceChangesNothing(t *testing.T) {
	t.Parallel()
	s, pool := newStore(t)
	ctx := context.Background()
	plan := func(in ...operations.Intent) error {
		return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error { return s.Plan(ctx, tx, operations.SourceRelay, in...) })
	}
	in := intent(t, "charge", 1, 100)
	require.NoError(t, plan(in, intent(t, "charge", 2, 100)))
	require.NoError(t, plan(in))
	require.ErrorIs(t, plan(intent(t, "charge", 3, 100), intent(t, "charge", 1, 999)), operations.ErrFingerprint)
	ops, err := s.BySubject(ctx, "order", "1042")
	require.NoError(t, err)
	require.Len(t, ops, 2, "the refused plan left nothing of itself behind")
	require.Equal(t, []string{"planned"}, eventTypes(t, s, in.Key))

	_, _, err = s.Claim(ctx, intent(t, "charge", 1, 999), operations.ClaimOptions{})
	require.ErrorIs(t, err, operations.ErrFingerprint, "a planned operation is not claimed with other parameters")
	op, err := s.Get(ctx, in.Key)
	require.NoError(t, err)
	require.Equal(t, operations.Pending, op.State)
}

// first_sent_at is when the provider may first have seen the key; later claims keep it.
func TestFirstSentAtIsSetOnceForOutsideEffects(t *testing.T) {
	t.Parallel()
	s, pool := newStore(t)
	ctx := context.Background()
	in := intent(t, "charge", 1, 100)
	first, _, err := s.Claim(ctx, in, operations.ClaimOptions{Outside: true})
	require.NoError(t, err)
	require.NotNil(t, first.FirstSentAt)
	expire(t, pool, in.Key)
	second, _, err := s.Claim(ctx, in, operations.ClaimOptions{Outside: true})
	require.NoError(t, err)
	require.Equal(t, *first.FirstSentAt, *second.FirstSentAt)
	require.Nil(t, mustClaim(t, s, intent(t, "local", 1, 1)).FirstSentAt)
}
