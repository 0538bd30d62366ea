package jobs

import (
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"

	"shop/internal/access"
	"shop/internal/operations"
	"shop/internal/orders"
	"shop/internal/outbox"
	"shop/internal/payments"
)

// How long things are kept.
const (
	keepUnpaid   = 24 * time.Hour      // an order whose payment was refused, for another card
	keepRequests = 24 * time.Hour      // the answer to an HTTP request with an Idempotency-Key
	keepEvents   = 30 * 24 * time.Hour // an event of the provider; as long as Stripe can send it again
	keepMessages = 30 * 24 * time.Hour // a message that was dispatched
	keepCarts    = 30 * 24 * time.Hour // a cart that nobody touches
)

// requestKind is the kind of an HTTP request with an Idempotency-Key.
const requestKind = "http-request"

const (
	tidyEvery = 10 * time.Minute
	// tidyBatch is how many rows one statement deletes, so that none of them holds locks for long.
	tidyBatch = 500
)

// TidyUpArgs asks for what is over to be given up and deleted.
type TidyUpArgs struct{}

// Kind names the job.
func (TidyUpArgs) Kind() string { return "tidy_up" }

type tidyUp struct {
	river.WorkerDefaults[TidyUpArgs]
	tidier *Tidier
	wake   func()
}

// Work does one round.
func (w *tidyUp) Work(ctx context.Context, _ *river.Job[TidyUpArgs]) error {
	defer w.wake()
	return w.tidier.RunOnce(ctx)
}

// tidyUpPeriodically lets one process insert the job; two that do it change nothing more.
func tidyUpPeriodically() *river.PeriodicJob {
	return river.NewPeriodicJob(river.PeriodicInterval(tidyEvery), func() (river.JobArgs, *river.InsertOpts) {
		return TidyUpArgs{}, nil
	}, &river.PeriodicJobOpts{ID: "tidy_up", RunOnStart: true})
}

// Tidier gives up what nobody will finish and deletes what nobody needs.
type Tidier struct {
	steps []tidyStep
	log   *slog.Logger
}

type tidyStep struct {
	what string
	do   func(ctx context.Context, limit int) (int, error)
}

// NewTidier returns a tidier over the stores.
func NewTidier(pool *pgxpool.Pool, os *orders.Store, ops *operations.Store, people *access.Store, log *slog.Logger) *Tidier {
	return &Tidier{log: log, steps: []tidyStep{
		{"unpaid orders", func(ctx context.Context, n int) (int, error) { return os.ExpireUnpaid(ctx, keepUnpaid, n) }},
		{"idle carts", func(ctx context.Context, n int) (int, error) { return os.DeleteIdleCarts(ctx, keepCarts, n) }},
		{"answers to requests", func(ctx context.Context, n int) (int, error) { return ops.Forget(ctx, requestKind, keepRequests, n) }},
		{"events of the provider", func(ctx context.Context, n int) (int, error) {
			return ops.Forget(ctx, payments.EventKind, keepEvents, n)
		}},
		{"dispatched messages", func(ctx context.Context, n int) (int, error) { return outbox.Forget(ctx, pool, keepMessages, n) }},
		{"links and sessions", people.Forget},
	}}
}

// RunOnce does every step until it finds nothing more, batch by batch.
func (t *Tidier) RunOnce(ctx context.Context) error {
	for _, step := range t.steps {
		total := 0
		for {
			n, err := step.do(ctx, tidyBatch)
			if err != nil {
				return err
			}
			if total += n; n < tidyBatch {
				break
			}
		}
		if total > 0 {
			t.log.InfoContext(ctx, "tidied up", "what", step.what, "count", total)
		}
	}
	return nil
}
