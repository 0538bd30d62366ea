package operations_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"shop/internal/operations"
)

func TestRunTxInFlight(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	ctx := context.Background()
	in := intent(t, "http-request", 1, 100)
	inside, finish := make(chan struct{}), make(chan struct{})
	var first operations.Operation
	var firstErr error
	var wg sync.WaitGroup
	wg.Go(func() {
		first, _, firstErr = s.RunTx(ctx, in, operations.SourceHTTP, time.Second, func(context.Context, pgx.Tx) (operations.Completion, error) {
			close(inside)
			<-finish
			return operations.Completion{Outcome: operations.Succeeded, Result: map[string]int{"order": 7}}, nil
		})
	})
	<-inside
	mustNotRun := func(context.Context, pgx.Tx) (operations.Completion, error) {
		t.Error("the effect ran a second time")
		return operations.Completion{}, errors.New("second run")
	}
	start := time.Now()
	_, _, err := s.RunTx(ctx, in, operations.SourceHTTP, 50*time.Millisecond, mustNotRun)
	require.ErrorIs(t, err, operations.ErrInFlight)
	require.GreaterOrEqual(t, time.Since(start), 50*time.Millisecond, "it waited before it gave up")

	// A patient caller waits inside and gets the stored result.
	var second operations.Operation
	var replayed bool
	var secondErr error
	waiting := make(chan struct{})
	wg.Go(func() {
		close(waiting)
		second, replayed, secondErr = s.RunTx(ctx, in, operations.SourceHTTP, time.Minute, mustNotRun)
	})
	<-waiting
	close(finish)
	wg.Wait()
	require.NoError(t, firstErr)
	require.NoError(t, secondErr)
	require.True(t, replayed)
	require.JSONEq(t, `{"order":7}`, string(second.Result))
	require.Equal(t, first.Result, second.Result)

	_, _, err = s.RunTx(ctx, intent(t, "http-request", 1, 101), operations.SourceHTTP, time.Second, mustNotRun)
	require.ErrorIs(t, err, operations.ErrFingerprint)
}

// docs/peers.md row 36: a first handling that failed had left its mark, and the repeat did nothing.
func TestRow36_AFailedEffectRollsItsClaimBack(t *testing.T) {
	t.Parallel()
	s, pool := newStore(t)
	ctx := context.Background()
	in := intent(t, "stripe-event", "evt_1", 1)
	broken := errors.New("broken half-way")
	_, _, err := s.RunTx(ctx, in, operations.SourceWebhook, time.Second, func(ctx context.Context, tx pgx.Tx) (operations.Completion, error) {
		_, err := tx.Exec(ctx, `INSERT INTO outbox_messages (topic, subject_type, subject_id, payload) VALUES ('half','','','{}')`)
		require.NoError(t, err)
		return operations.Completion{}, broken
	})
	require.ErrorIs(t, err, broken)
	_, err = s.Get(ctx, in.Key)
	require.ErrorIs(t, err, operations.ErrNotFound)
	op, replayed, err := s.RunTx(ctx, in, operations.SourceWebhook, time.Second, func(context.Context, pgx.Tx) (operations.Completion, error) {
		return operations.Completion{Outcome: operations.Succeeded}, nil
	})
	require.NoError(t, err)
	require.False(t, replayed)
	require.EqualValues(t, 1, op.Fence)
	var half int
	require.NoError(t, pool.QueryRow(ctx, `SELECT count(*) FROM outbox_messages`).Scan(&half))
	require.Zero(t, half)
}

// A hundred callers with one key: one effect, one answer.
func TestRunTxRunsTheEffectOnceForManyCallers(t *testing.T) {
	t.Parallel()
	s, pool := newStore(t)
	ctx := context.Background()
	in := intent(t, "http-request", 1, 1)
	var wg sync.WaitGroup
	results := make([]string, 100)
	for i := range results {
		wg.Go(func() {
			op, _, err := s.RunTx(ctx, in, operations.SourceHTTP, time.Minute, func(ctx context.Context, tx pgx.Tx) (operations.Completion, error) {
				_, err := tx.Exec(ctx, `INSERT INTO outbox_messages (topic, subject_type, subject_id, payload) VALUES ('effect','','','{}')`)
				return operations.Completion{Outcome: operations.Succeeded, Result: fmt.Sprint("by caller ", i)}, err
			})
			if err != nil {
				t.Errorf("caller %d: %v", i, err)
			}
			results[i] = string(op.Result)
		})
	}
	wg.Wait()
	var effects int
	require.NoError(t, pool.QueryRow(ctx, `SELECT count(*) FROM outbox_messages`).Scan(&effects))
	require.Equal(t, 1, effects)
	for _, r := range results {
		require.Equal(t, results[0], r)
	}
	op, err := s.Get(ctx, in.Key)
	require.NoError(t, err)
	require.EqualValues(t, 99, op.Replays)
}
