// Package jobs ties committed facts to River jobs and jobs to the services
// that do the work. It is the only package that knows River.
package jobs

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"shop/internal/operations"
	"shop/internal/orders"
	"shop/internal/outbox"
	"shop/internal/payments"
	"shop/internal/receipts"
)

// Dispatcher turns messages into planned operations and their jobs.
type Dispatcher struct {
	ops    *operations.Store
	client *river.Client[pgx.Tx]
}

// NewDispatcher returns a dispatcher that inserts through client.
func NewDispatcher(ops *operations.Store, client *river.Client[pgx.Tx]) *Dispatcher {
	return &Dispatcher{ops: ops, client: client}
}

// Dispatch plans what the messages ask for and queues a job for each, all in
// the relay's transaction: intent, job and mark commit together.
func (d *Dispatcher) Dispatch(ctx context.Context, tx pgx.Tx, messages []outbox.Message) error {
	var intents []operations.Intent
	var queue []river.InsertManyParams
	for _, m := range messages {
		intent, job, err := route(m)
		if err != nil {
			return fmt.Errorf("dispatching message %d: %w", m.ID, err)
		}
		if intent != nil {
			intents = append(intents, *intent)
		}
		if job != nil {
			queue = append(queue, river.InsertManyParams{Args: job})
		}
	}
	if err := d.ops.Plan(ctx, tx, operations.SourceRelay, intents...); err != nil {
		return err
	}
	return d.enqueue(ctx, tx, queue)
}

// route says what a message leads to: an operation to plan, a job to run, or
// nothing when nobody here listens to its topic.
func route(m outbox.Message) (*operations.Intent, river.JobArgs, error) {
	switch m.Topic {
	case orders.TopicPlaced:
		intent, err := payments.ChargeIntent(m.Payload)
		return &intent, ChargeOrderArgs{OpKey: intent.Key}, err
	case orders.TopicPaid:
		intent, err := receipts.Intent(m.Payload)
		return &intent, SendReceiptArgs{OpKey: intent.Key}, err
	case payments.TopicRetry:
		intent, err := payments.RetryIntent(m.Payload)
		return &intent, ChargeOrderArgs{OpKey: intent.Key}, err
	case payments.TopicRefundRequested:
		intent, err := payments.RefundIntent(m.Payload)
		return &intent, RefundPaymentArgs{OpKey: intent.Key}, err
	case payments.TopicRefundsSeen:
		var seen payments.RefundsSeen
		if err := json.Unmarshal(m.Payload, &seen); err != nil {
			return nil, nil, fmt.Errorf("reading a %s message: %w", m.Topic, err)
		}
		return nil, SyncRefundsArgs{PaymentIntent: seen.PaymentIntent}, nil
	case payments.TopicCheck:
		var check payments.Check
		if err := json.Unmarshal(m.Payload, &check); err != nil {
			return nil, nil, fmt.Errorf("reading a %s message: %w", m.Topic, err)
		}
		return nil, ChargeOrderArgs{OpKey: check.OpKey, Early: true}, nil
	case orders.TopicPaymentFailed, orders.TopicExpired, payments.TopicRefunded, payments.TopicRefundFailed:
		return nil, nil, nil // facts that nobody here acts upon
	}
	return nil, nil, fmt.Errorf("no route for topic %q", m.Topic)
}

// Requeue queues a job for each overdue operation, in the sweeper's transaction.
func (d *Dispatcher) Requeue(ctx context.Context, tx pgx.Tx, overdue []operations.Operation) error {
	var queue []river.InsertManyParams
	for _, op := range overdue {
		switch op.Kind {
		case payments.ChargeKind:
			queue = append(queue, river.InsertManyParams{Args: ChargeOrderArgs{OpKey: op.Key}})
		case payments.RefundKind:
			queue = append(queue, river.InsertManyParams{Args: RefundPaymentArgs{OpKey: op.Key}})
		case receipts.Kind:
			queue = append(queue, river.InsertManyParams{Args: SendReceiptArgs{OpKey: op.Key}})
		case payments.EventKind:
			queue = append(queue, river.InsertManyParams{Args: ApplyEventArgs{OpKey: op.Key}})
		}
	}
	return d.enqueue(ctx, tx, queue)
}

func (d *Dispatcher) enqueue(ctx context.Context, tx pgx.Tx, queue []river.InsertManyParams) error {
	if len(queue) == 0 {
		return nil
	}
	if _, err := d.client.InsertManyFastTx(ctx, tx, queue); err != nil {
		return fmt.Errorf("queueing %d jobs: %w", len(queue), err)
	}
	return nil
}
