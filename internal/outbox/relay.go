package outbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Dispatch hands messages on inside the relay's transaction. What it does must
// commit or roll back with tx.
type Dispatch func(ctx context.Context, tx pgx.Tx, messages []Message) error

// batchSize is how many messages one transaction moves at most.
const batchSize = 500

// maxBackoff bounds how long a message that cannot be dispatched is left alone.
const maxBackoff = 5 * time.Minute

// Relay moves pending messages on. Any number of relays may run at once, in
// one process or in many.
type Relay struct {
	pool     *pgxpool.Pool
	dispatch Dispatch
	log      *slog.Logger
	wake     chan struct{}
	poll     time.Duration
}

// NewRelay returns a relay that looks every poll for messages that nobody woke
// it for; 0 means 500 ms.
func NewRelay(pool *pgxpool.Pool, dispatch Dispatch, poll time.Duration, log *slog.Logger) *Relay {
	if poll == 0 {
		poll = 500 * time.Millisecond
	}
	return &Relay{pool: pool, dispatch: dispatch, log: log, wake: make(chan struct{}, 1), poll: poll}
}

// Wake tells the relay of this process that a message has just committed. It
// never blocks; a wake-up that is lost is made good by polling.
func (r *Relay) Wake() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Run moves messages until ctx ends. Errors are logged and tried again: the
// messages are still there.
func (r *Relay) Run(ctx context.Context) {
	tick := time.NewTicker(r.poll)
	defer tick.Stop()
	for {
		n, err := r.RunOnce(ctx)
		if err != nil && ctx.Err() == nil {
			r.log.ErrorContext(ctx, "relaying messages", "error", err)
		}
		if err == nil && n == batchSize {
			continue // more may be waiting
		}
		select {
		case <-ctx.Done():
			return
		case <-r.wake:
		case <-tick.C:
		}
	}
}

// RunOnce moves at most 500 messages in one transaction and returns how many
// it took. When a batch cannot be dispatched, its messages are tried one by
// one, so that a message which never can be does not hold up the others.
//
// A crash before the commit leaves every message pending and every job unmade.
func (r *Relay) RunOnce(ctx context.Context) (int, error) {
	n, err := r.moveBatch(ctx)
	if err == nil || ctx.Err() != nil {
		return n, err
	}
	r.log.WarnContext(ctx, "dispatching a batch failed, trying its messages one by one", "error", err)
	return r.moveSingly(ctx)
}

func (r *Relay) moveBatch(ctx context.Context) (n int, err error) {
	err = pgx.BeginFunc(ctx, r.pool, func(tx pgx.Tx) error {
		messages, err := takePending(ctx, tx, batchSize)
		if n = len(messages); err != nil || n == 0 {
			return err
		}
		if err := r.dispatch(ctx, tx, messages); err != nil {
			return fmt.Errorf("dispatching %d messages: %w", n, err)
		}
		return markDispatched(ctx, tx, messages)
	})
	return n, err
}

func (r *Relay) moveSingly(ctx context.Context) (n int, err error) {
	err = pgx.BeginFunc(ctx, r.pool, func(tx pgx.Tx) error {
		messages, err := takePending(ctx, tx, batchSize)
		if n = len(messages); err != nil {
			return err
		}
		for _, m := range messages {
			if err := r.moveOne(ctx, tx, m); err != nil {
				return err
			}
		}
		return nil
	})
	return n, err
}

// moveOne dispatches one message under a savepoint.
func (r *Relay) moveOne(ctx context.Context, tx pgx.Tx, m Message) error {
	cause := pgx.BeginFunc(ctx, tx, func(savepoint pgx.Tx) error {
		if err := r.dispatch(ctx, savepoint, []Message{m}); err != nil {
			return err
		}
		return markDispatched(ctx, savepoint, []Message{m})
	})
	if cause == nil {
		return nil
	}
	if ctx.Err() != nil || errors.Is(cause, context.Canceled) {
		return cause
	}
	wait := min(time.Second<<min(m.Attempts, 10), maxBackoff)
	r.log.ErrorContext(ctx, "a message cannot be dispatched", "message", m.ID, "topic", m.Topic, "attempts", m.Attempts+1,
		"retry_in", wait, "error", cause)
	return postpone(ctx, tx, m, cause, wait)
}
