package main

import (
	"context"
	"net/http"
	"sync"
)

type workerCmd struct {
	Addr string `name:"addr" env:"SHOP_WORKER_ADDR" placeholder:"ADDR" help:"Address of a health check at /healthz; empty opens none."`

	databaseConfig
	stripeConfig
	leaseConfig
	shopConfig
	mailConfig
	workerConfig
}

// Validate is called by the parser.
func (c *workerCmd) Validate() error {
	for _, check := range []func() error{c.databaseConfig.Validate, c.stripeConfig.Validate, c.shopConfig.Validate, c.mailConfig.Validate} {
		if err := check(); err != nil {
			return err
		}
	}
	if c.Addr != "" {
		if err := checkAddr("SHOP_WORKER_ADDR", c.Addr); err != nil {
			return err
		}
	}
	return validateWorker(c.stripeConfig, c.leaseConfig, c.workerConfig)
}

// Run works until ctx ends.
func (c *workerCmd) Run(ctx context.Context, e *env) error {
	core, err := openCore(ctx, "worker", c.databaseConfig, c.leaseConfig, e.log)
	if err != nil {
		return err
	}
	defer core.pool.Close()
	stop, err := core.startWorker(ctx, c.stripeConfig, c.mailConfig, c.shopConfig, c.workerConfig)
	if err != nil {
		return err
	}
	defer stop()
	var wg sync.WaitGroup
	wg.Go(func() { core.relay.Run(ctx) })
	defer wg.Wait()
	e.log.Info("working")
	if c.Addr == "" {
		<-ctx.Done()
		return nil
	}
	return serveHTTP(ctx, c.Addr, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := core.pool.Ping(r.Context()); err != nil {
			http.Error(w, "the database does not answer", http.StatusServiceUnavailable)
		}
	}), e.log)
}
