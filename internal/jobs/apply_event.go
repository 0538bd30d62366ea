package jobs

import (
	"context"

	"github.com/riverqueue/river"

	"shop/internal/operations"
	"shop/internal/payments"
)

// ApplyEventArgs asks for a parked event of the provider to be applied.
type ApplyEventArgs struct {
	OpKey operations.Key `json:"op_key"`
}

// Kind names the job.
func (ApplyEventArgs) Kind() string { return "apply_event" }

type applyEvent struct {
	river.WorkerDefaults[ApplyEventArgs]
	events *payments.Events
	wake   func()
}

// Work applies the event unless it has been applied.
func (w *applyEvent) Work(ctx context.Context, job *river.Job[ApplyEventArgs]) error {
	defer w.wake()
	return w.events.Apply(ctx, job.Args.OpKey)
}
