package payments

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"shop/internal/operations"
	"shop/internal/orders"
	"shop/internal/outbox"
)

// refundPoll is how often a refund that the provider is processing is looked at.
const refundPoll = 30 * time.Second

// RefundsSeen is the payload of refund.seen.
type RefundsSeen struct {
	PaymentIntent string `json:"payment_intent"`
}

// Sync reads the refunds of a PaymentIntent at the provider and enters those
// that are not here: somebody made them at the provider itself. One that is
// ours and still open is moved on through its own door. Whoever comes first,
// the event or our own commit, each refund has one row.
func (s *Refunds) Sync(ctx context.Context, intent string) error {
	pay, err := paymentOf(ctx, s.pool, intent)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil // its charge is not booked; booking looks at the money itself
	}
	if err != nil {
		return err
	}
	all, _, err := s.gateway.RefundsOf(ctx, intent)
	if err != nil {
		return err
	}
	for _, one := range all {
		ours, err := s.isOurs(ctx, pay, one)
		if err != nil {
			return err
		}
		if ours {
			err = s.Refund(ctx, one.Operation, operations.ClaimOptions{Source: operations.SourceWebhook, Early: true})
		} else {
			err = s.enter(ctx, pay, one)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// isOurs says whether a refund of the provider is the effect of an operation
// here. Metadata can be copied, so it has to name a refund of this very order
// that is not known to be another one.
func (s *Refunds) isOurs(ctx context.Context, pay payment, r ProviderRefund) (bool, error) {
	if r.Operation == "" {
		return false, nil
	}
	op, err := s.ops.Get(ctx, r.Operation)
	if errors.Is(err, operations.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return op.Kind == RefundKind && op.SubjectType == orders.SubjectType && op.SubjectID == fmt.Sprint(pay.orderID) &&
		(op.ProviderRef == nil || *op.ProviderRef == r.ID), nil
}

// enter writes a refund that was made at the provider itself.
func (s *Refunds) enter(ctx context.Context, pay payment, r ProviderRefund) error {
	state := map[string]string{"succeeded": "succeeded", "failed": "failed", "canceled": "failed"}[r.Status]
	if state == "" {
		return nil // it is entered when it has come to its end, of which there is an event too
	}
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		entered, err := insertForeignRefund(ctx, tx, pay, r, state)
		if err != nil || !entered || state != "succeeded" {
			return err
		}
		s.log.InfoContext(ctx, "entered a refund that was made at the provider", "order", pay.orderID, "refund", r.ID, "amount", r.Amount)
		return outbox.Append(ctx, tx, TopicRefunded, orders.SubjectType, fmt.Sprint(pay.orderID), RefundParams{RefundID: r.ID,
			OrderID: pay.orderID, PaymentIntent: pay.intent, Amount: r.Amount, Currency: r.Currency})
	})
}
