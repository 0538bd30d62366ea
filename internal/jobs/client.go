package jobs

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"shop/internal/payments"
	"shop/internal/receipts"
)

// Config of a worker.
type Config struct {
	Workers int           // jobs at a time; more than connections, because most of a job is waiting
	Timeout time.Duration // the longest that one job may take
	Rescue  time.Duration // after which River takes a running job for dead; longer than Timeout
	Wake    func()        // tells the relay of this process that a message may have committed
}

// NewInserter returns a client that queues jobs and works none.
func NewInserter(pool *pgxpool.Pool, log *slog.Logger) (*river.Client[pgx.Tx], error) {
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{Logger: log})
	if err != nil {
		return nil, fmt.Errorf("preparing the job queue: %w", err)
	}
	return client, nil
}

// Services do the work of the jobs.
type Services struct {
	Payments   *payments.Service
	Refunds    *payments.Refunds
	Events     *payments.Events
	Reconciler *payments.Reconciler
	Receipts   *receipts.Service
	Tidier     *Tidier
}

// NewWorker returns a client that works every kind of job there is.
func NewWorker(pool *pgxpool.Pool, c Config, s Services, log *slog.Logger) (*river.Client[pgx.Tx], error) {
	workers := river.NewWorkers()
	river.AddWorker(workers, &chargeOrder{payments: s.Payments, wake: c.Wake})
	river.AddWorker(workers, &sendReceipt{receipts: s.Receipts})
	river.AddWorker(workers, &applyEvent{events: s.Events, wake: c.Wake})
	river.AddWorker(workers, &refundPayment{refunds: s.Refunds, wake: c.Wake})
	river.AddWorker(workers, &syncRefunds{refunds: s.Refunds, wake: c.Wake})
	river.AddWorker(workers, &reconcile{reconciler: s.Reconciler, wake: c.Wake})
	river.AddWorker(workers, &tidyUp{tidier: s.Tidier, wake: c.Wake})
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{
		Logger:  log,
		Workers: workers,
		Queues:  map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: c.Workers}},
		// A wake-up comes by notification; polling is only the net.
		FetchCooldown:     2 * time.Millisecond,
		FetchPollInterval: 500 * time.Millisecond,
		JobTimeout:        c.Timeout,
		// Recovery is the sweeper's business and takes a lease, not an hour.
		// This only clears away the rows of jobs whose process died.
		RescueStuckJobsAfter: c.Rescue,
		// What a job could not do, the sweeper sends round again.
		MaxAttempts: 3,
		// Every process names the same jobs: only the leader's are run.
		PeriodicJobs: []*river.PeriodicJob{tidyUpPeriodically(), reconcilePeriodically()},
	})
	if err != nil {
		return nil, fmt.Errorf("preparing the worker: %w", err)
	}
	return client, nil
}
