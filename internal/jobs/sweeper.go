package jobs

import (
	"context"
	"log/slog"
	"time"

	"shop/internal/operations"
)

const (
	sweepEvery = time.Second
	sweepGrace = 200 * time.Millisecond
	sweepLimit = 200
)

// Sweeper sends overdue operations round again. Every worker process runs one;
// they share the work by SKIP LOCKED.
type Sweeper struct {
	ops        *operations.Store
	dispatcher *Dispatcher
	log        *slog.Logger
}

// NewSweeper returns a sweeper that queues through d.
func NewSweeper(ops *operations.Store, d *Dispatcher, log *slog.Logger) *Sweeper {
	return &Sweeper{ops: ops, dispatcher: d, log: log}
}

// RunOnce sweeps once and returns how many operations it sent round.
func (s *Sweeper) RunOnce(ctx context.Context) (int, error) {
	n, err := s.ops.Sweep(ctx, sweepGrace, sweepLimit, s.dispatcher.Requeue)
	if n > 0 && err == nil {
		s.log.InfoContext(ctx, "sent overdue operations round again", "count", n)
	}
	return n, err
}

// Run sweeps every second until ctx ends.
func (s *Sweeper) Run(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		if _, err := s.RunOnce(ctx); err != nil && ctx.Err() == nil {
			s.log.ErrorContext(ctx, "sweeping", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
