package jobs

import (
	"context"

	"github.com/riverqueue/river"

	"shop/internal/operations"
	"shop/internal/receipts"
)

// SendReceiptArgs asks for one receipt.
type SendReceiptArgs struct {
	OpKey operations.Key `json:"op_key"`
}

// Kind names the job.
func (SendReceiptArgs) Kind() string { return "send_receipt" }

type sendReceipt struct {
	river.WorkerDefaults[SendReceiptArgs]
	receipts *receipts.Service
}

// Work sends the receipt unless it has been sent.
func (w *sendReceipt) Work(ctx context.Context, job *river.Job[SendReceiptArgs]) error {
	return w.receipts.Send(ctx, job.Args.OpKey, operations.ClaimOptions{Source: operations.SourceQueue})
}
