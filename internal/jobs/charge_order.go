package jobs

import (
	"context"
	"errors"
	"time"

	"github.com/riverqueue/river"

	"shop/internal/operations"
	"shop/internal/payments"
)

// ChargeOrderArgs asks for one charge. The key is all it needs: what to charge
// is frozen in the operation.
type ChargeOrderArgs struct {
	OpKey operations.Key `json:"op_key"`
	// Early: an answer may have come before the time that the charge waits for.
	Early bool `json:"early,omitempty"`
}

// Kind names the job.
func (ChargeOrderArgs) Kind() string { return "charge_order" }

type chargeOrder struct {
	river.WorkerDefaults[ChargeOrderArgs]
	payments *payments.Service
	wake     func()
}

// Work moves the charge on. A second delivery finds the operation done or held
// and does nothing. What it leaves in the outbox leaves at once.
func (w *chargeOrder) Work(ctx context.Context, job *river.Job[ChargeOrderArgs]) error {
	defer w.wake()
	err := w.payments.Charge(ctx, job.Args.OpKey, operations.ClaimOptions{Source: operations.SourceQueue, Early: job.Args.Early})
	if errors.Is(err, operations.ErrLeaseHeld) {
		return river.JobSnooze(time.Second) // a lease ends, so this does too
	}
	return err
}
