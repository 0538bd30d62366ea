package jobs

import (
	"context"
	"errors"
	"time"

	"github.com/riverqueue/river"

	"shop/internal/operations"
	"shop/internal/payments"
)

// RefundPaymentArgs asks for one refund.
type RefundPaymentArgs struct {
	OpKey operations.Key `json:"op_key"`
}

// Kind names the job.
func (RefundPaymentArgs) Kind() string { return "refund_payment" }

type refundPayment struct {
	river.WorkerDefaults[RefundPaymentArgs]
	refunds *payments.Refunds
	wake    func()
}

// Work moves the refund on; a second delivery does nothing.
func (w *refundPayment) Work(ctx context.Context, job *river.Job[RefundPaymentArgs]) error {
	defer w.wake()
	return w.refunds.Refund(ctx, job.Args.OpKey, operations.ClaimOptions{Source: operations.SourceQueue})
}

// SyncRefundsArgs asks for the refunds of a PaymentIntent to be compared with ours.
type SyncRefundsArgs struct {
	PaymentIntent string `json:"payment_intent"`
}

// Kind names the job.
func (SyncRefundsArgs) Kind() string { return "sync_refunds" }

type syncRefunds struct {
	river.WorkerDefaults[SyncRefundsArgs]
	refunds *payments.Refunds
	wake    func()
}

// Work enters what is missing here. A provider that is down for a moment is
// asked again, and so is a refund that somebody holds.
func (w *syncRefunds) Work(ctx context.Context, job *river.Job[SyncRefundsArgs]) error {
	defer w.wake()
	err := w.refunds.Sync(ctx, job.Args.PaymentIntent)
	if _, ok := errors.AsType[*payments.ProviderError](err); ok || errors.Is(err, operations.ErrLeaseHeld) {
		return river.JobSnooze(5 * time.Second)
	}
	return err
}
