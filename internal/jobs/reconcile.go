package jobs

import (
	"context"
	"errors"
	"time"

	"github.com/riverqueue/river"

	"shop/internal/payments"
)

const reconcileEvery = 10 * time.Minute

// ReconcileArgs asks for a comparison with the provider.
type ReconcileArgs struct{}

// Kind names the job.
func (ReconcileArgs) Kind() string { return "reconcile" }

type reconcile struct {
	river.WorkerDefaults[ReconcileArgs]
	reconciler *payments.Reconciler
	wake       func()
}

// Work compares once. A provider that does not answer is asked again at the next time.
func (w *reconcile) Work(ctx context.Context, _ *river.Job[ReconcileArgs]) error {
	defer w.wake()
	_, err := w.reconciler.Run(ctx)
	if _, ok := errors.AsType[*payments.ProviderError](err); ok {
		return river.JobCancel(err)
	}
	return err
}

func reconcilePeriodically() *river.PeriodicJob {
	return river.NewPeriodicJob(river.PeriodicInterval(reconcileEvery), func() (river.JobArgs, *river.InsertOpts) {
		return ReconcileArgs{}, nil
	}, &river.PeriodicJobOpts{ID: "reconcile"})
}
