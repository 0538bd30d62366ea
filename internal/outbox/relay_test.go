package outbox_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"shop/internal/database/dbtest"
	"shop/internal/outbox"
)

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

func appendOne(t *testing.T, pool *pgxpool.Pool, subject string) {
	t.Helper()
	require.NoError(t, pgx.BeginFunc(context.Background(), pool, func(tx pgx.Tx) error {
		return outbox.Append(context.Background(), tx, "order.placed", "order", subject, map[string]string{"n": subject})
	}))
}

// sink counts what was dispatched, and refuses what it is told to.
type sink struct {
	mu     sync.Mutex
	seen   map[string]int
	refuse map[string]bool
}

func newSink(refuse ...string) *sink {
	s := &sink{seen: map[string]int{}, refuse: map[string]bool{}}
	for _, r := range refuse {
		s.refuse[r] = true
	}
	return s
}

// dispatch writes its effect in the relay's transaction, as the real one does.
func (s *sink) dispatch(ctx context.Context, tx pgx.Tx, messages []outbox.Message) error {
	for _, m := range messages {
		if s.refuse[m.SubjectID] {
			return errors.New("cannot be dispatched")
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range messages {
		s.seen[m.SubjectID]++
	}
	return nil
}

func pending(t *testing.T, pool *pgxpool.Pool) (n int) {
	t.Helper()
	require.NoError(t, pool.QueryRow(context.Background(), `SELECT count(*) FROM outbox_messages WHERE dispatched_at IS NULL`).Scan(&n))
	return n
}

// docs/peers.md row 67: a relay that remembers the highest id it has seen loses the
// rows whose transactions commit later than those with higher ids.
func TestRow67_MessagesThatCommitOutOfOrderAreAllRelayed(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	ctx := context.Background()
	s := newSink()
	relay := outbox.NewRelay(pool, s.dispatch, 0, quiet)

	slow, err := pool.Begin(ctx)
	require.NoError(t, err)
	require.NoError(t, outbox.Append(ctx, slow, "order.placed", "order", "lower id, later commit", nil))
	appendOne(t, pool, "higher id, earlier commit")
	n, err := relay.RunOnce(ctx)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Equal(t, map[string]int{"higher id, earlier commit": 1}, s.seen)
	require.NoError(t, slow.Commit(ctx))
	_, err = relay.RunOnce(ctx)
	require.NoError(t, err)
	require.Equal(t, map[string]int{"higher id, earlier commit": 1, "lower id, later commit": 1}, s.seen)
	require.Zero(t, pending(t, pool))
}

func TestAMessageOfARolledBackChangeIsNeverSent(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	ctx := context.Background()
	tx, err := pool.Begin(ctx)
	require.NoError(t, err)
	require.NoError(t, outbox.Append(ctx, tx, "order.placed", "order", "1", nil))
	require.NoError(t, tx.Rollback(ctx))
	s := newSink()
	_, err = outbox.NewRelay(pool, s.dispatch, 0, quiet).RunOnce(ctx)
	require.NoError(t, err)
	require.Empty(t, s.seen)
}

// docs/peers.md row 68: every replica relayed every row.
func TestRow68_ManyRelaysShareTheMessages(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	ctx := context.Background()
	const messages = 1200
	_, err := pool.Exec(ctx, `INSERT INTO outbox_messages (topic, subject_type, subject_id, payload)
		SELECT 'order.placed', 'order', n::text, '{}' FROM generate_series(1, $1) n`, messages)
	require.NoError(t, err)
	s := newSink()
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			relay := outbox.NewRelay(pool, s.dispatch, 0, quiet)
			for {
				n, err := relay.RunOnce(ctx)
				if err != nil {
					t.Errorf("relaying: %v", err)
					return
				}
				if n == 0 {
					return
				}
			}
		})
	}
	wg.Wait()
	require.Zero(t, pending(t, pool))
	require.Len(t, s.seen, messages)
	for subject, times := range s.seen {
		require.Equal(t, 1, times, subject)
	}
}

// A message that can never be dispatched must not hold up the others.
func TestAPoisonMessageIsPassed(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	ctx := context.Background()
	for _, subject := range []string{"1", "poison", "3"} {
		appendOne(t, pool, subject)
	}
	s := newSink("poison")
	relay := outbox.NewRelay(pool, s.dispatch, 0, quiet)
	_, err := relay.RunOnce(ctx)
	require.NoError(t, err)
	require.Equal(t, map[string]int{"1": 1, "3": 1}, s.seen)
	require.Equal(t, 1, pending(t, pool), "it is kept, not lost")
	var attempts int
	var cause string
	require.NoError(t, pool.QueryRow(ctx, `SELECT attempts, last_error FROM outbox_messages WHERE dispatched_at IS NULL`).Scan(&attempts, &cause))
	require.Equal(t, 1, attempts)
	require.Contains(t, cause, "cannot be dispatched")

	delete(s.refuse, "poison")
	n, err := relay.RunOnce(ctx)
	require.NoError(t, err)
	require.Zero(t, n, "it waits a while before it is tried again")
	_, err = pool.Exec(ctx, `UPDATE outbox_messages SET not_before = '-infinity'`)
	require.NoError(t, err)
	_, err = relay.RunOnce(ctx)
	require.NoError(t, err)
	require.Equal(t, 1, s.seen["poison"])
	require.Zero(t, pending(t, pool))
}

func TestAFailedCommitLeavesEverythingPending(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	ctx, cancel := context.WithCancel(context.Background())
	appendOne(t, pool, "1")
	relay := outbox.NewRelay(pool, func(context.Context, pgx.Tx, []outbox.Message) error { cancel(); return nil }, 0, quiet)
	_, err := relay.RunOnce(ctx)
	require.Error(t, err)
	require.Equal(t, 1, pending(t, pool))
}

func TestAWakeUpMovesAMessageAtOnce(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	ctx, cancel := context.WithCancel(context.Background())
	moved := make(chan string, 1)
	relay := outbox.NewRelay(pool, func(_ context.Context, _ pgx.Tx, m []outbox.Message) error {
		moved <- m[0].SubjectID
		return nil
	}, time.Hour, quiet)
	var wg sync.WaitGroup
	wg.Go(func() { relay.Run(ctx) })
	appendOne(t, pool, "1")
	relay.Wake()
	relay.Wake() // never blocks
	select {
	case subject := <-moved:
		require.Equal(t, "1", subject)
	case <-time.After(20 * time.Second):
		t.Error("the wake-up was not heard and polling is an hour away")
	}
	cancel()
	wg.Wait()
}
