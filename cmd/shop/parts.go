package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"

	"shop/internal/access"
	"shop/internal/database"
	"shop/internal/jobs"
	"shop/internal/operations"
	"shop/internal/orders"
	"shop/internal/outbox"
	"shop/internal/payments"
	"shop/internal/receipts"
)

// core is what web and worker have in common: the database, the stores over
// it, and a relay.
type core struct {
	pool       *pgxpool.Pool
	orders     *orders.Store
	ops        *operations.Store
	dispatcher *jobs.Dispatcher
	relay      *outbox.Relay
	log        *slog.Logger
}

func openCore(ctx context.Context, role string, db databaseConfig, lease leaseConfig, log *slog.Logger) (*core, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("asking for the name of this machine: %w", err)
	}
	owner := fmt.Sprintf("%s/%s/%d", role, host, os.Getpid())
	pool, err := database.Open(ctx, db.DatabaseURL, database.Options{MaxConns: int32(db.DBConns), Name: "shop " + role})
	if err != nil {
		return nil, err
	}
	c := &core{pool: pool, log: log, orders: orders.NewStore(pool),
		// A lost job is noticed as fast as a lost worker.
		ops: operations.NewStore(pool, operations.Options{Owner: owner, TTL: time.Duration(lease.Lease), Start: time.Duration(lease.Lease), Log: log})}
	inserter, err := jobs.NewInserter(pool, log)
	if err != nil {
		pool.Close()
		return nil, err
	}
	c.dispatcher = jobs.NewDispatcher(c.ops, inserter)
	c.relay = outbox.NewRelay(pool, c.dispatcher.Dispatch, 0, log)
	return c, nil
}

func newGateway(c stripeConfig) *payments.Gateway {
	return payments.NewGateway(payments.GatewayConfig{SecretKey: c.StripeSecretKey, BaseURL: c.StripeAPIBase, Timeout: time.Duration(c.StripeTimeout)})
}

// workerConfig is all that a worker needs beyond the core.
type workerConfig struct {
	Workers    count    `name:"workers" env:"SHOP_WORKERS" default:"32" help:"Jobs at a time; more than connections, since most of a job is waiting."`
	JobTimeout duration `name:"job-timeout" env:"SHOP_JOB_TIMEOUT" default:"1m" help:"Longest time that one job may take; longer than the lease."`
}

// rescueAfter is when River clears away the jobs of a dead process.
const rescueAfter = 5 * time.Minute

// validateWorker holds the order in which the times have to nest: an answer
// comes within the lease, a lease within the job, a job before its rescue.
func validateWorker(s stripeConfig, l leaseConfig, w workerConfig) error {
	// A lease holds one call and the time to record its answer.
	if need := time.Duration(s.StripeTimeout) + 3*time.Second; time.Duration(l.Lease) < need {
		return &configError{"SHOP_LEASE", time.Duration(l.Lease).String(), fmt.Sprintf("with STRIPE_TIMEOUT at %s a lease must last %s at least",
			time.Duration(s.StripeTimeout), need), "15s, or shorten STRIPE_TIMEOUT"}
	}
	if w.JobTimeout <= l.Lease {
		return &configError{"SHOP_JOB_TIMEOUT", time.Duration(w.JobTimeout).String(), fmt.Sprintf("it must be longer than SHOP_LEASE, which is %s",
			time.Duration(l.Lease)), "1m"}
	}
	if time.Duration(w.JobTimeout) >= rescueAfter {
		return &configError{"SHOP_JOB_TIMEOUT", time.Duration(w.JobTimeout).String(), fmt.Sprintf("a job is taken for dead after %s, so it must be shorter", rescueAfter), "1m"}
	}
	if w.Workers < 1 || w.Workers > 10_000 {
		return &configError{"SHOP_WORKERS", fmt.Sprint(w.Workers), "it must be from 1 to 10000", "32"}
	}
	return nil
}

// startWorker begins to work jobs and to sweep. The returned function stops it:
// running jobs get a while to finish and are canceled then.
func (c *core) startWorker(ctx context.Context, s stripeConfig, m mailConfig, shop shopConfig, w workerConfig) (stop func(), err error) {
	mailer, err := receipts.NewSMTP(m.SMTPURL, m.MailFrom)
	if err != nil {
		return nil, err
	}
	gateway := newGateway(s)
	client, err := jobs.NewWorker(c.pool, jobs.Config{Workers: int(w.Workers), Timeout: time.Duration(w.JobTimeout), Rescue: rescueAfter,
		Wake: c.relay.Wake}, jobs.Services{
		Payments:   payments.NewService(c.ops, c.orders, gateway, payments.Policy{}, c.log),
		Refunds:    payments.NewRefunds(c.pool, c.ops, gateway, payments.Policy{}, c.log),
		Events:     payments.NewEvents(c.pool, c.ops, c.log),
		Reconciler: payments.NewReconciler(c.pool, c.ops, gateway, c.log),
		Receipts:   receipts.NewService(c.ops, c.orders, mailer, receipts.Config{ShopURL: shop.ShopURL, From: m.MailFrom, Demo: shop.Demo}, c.log),
		Tidier:     jobs.NewTidier(c.pool, c.orders, c.ops, access.NewStore(c.pool), c.log),
	}, c.log)
	if err != nil {
		return nil, err
	}
	// Started with the signal's context, River would cancel every running job at once.
	if err := client.Start(context.WithoutCancel(ctx)); err != nil {
		return nil, fmt.Errorf("starting the worker: %w", err)
	}
	c.log.Info("deadlines nest", "stripe_timeout", time.Duration(s.StripeTimeout).String(), "lease", c.ops.TTL().String(),
		"job_timeout", time.Duration(w.JobTimeout).String(), "rescue_after", rescueAfter.String())
	sweepCtx, stopSweeping := context.WithCancel(context.WithoutCancel(ctx))
	swept := make(chan struct{})
	go func() {
		defer close(swept)
		jobs.NewSweeper(c.ops, c.dispatcher, c.log).Run(sweepCtx)
	}()
	return func() {
		stopSweeping()
		<-swept
		stopClient(client, c.log)
	}, nil
}

func stopClient(client *river.Client[pgx.Tx], log *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	if err := client.Stop(ctx); err == nil {
		return
	}
	// What is cut off here keeps its lease and its keys; somebody else goes on with it.
	hard, cancelHard := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancelHard()
	if err := client.StopAndCancel(hard); err != nil {
		log.Warn("stopping the worker", "error", err)
	}
}
