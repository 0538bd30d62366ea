package payments

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"shop/internal/apperr"
	"shop/internal/money"
	"shop/internal/operations"
	"shop/internal/orders"
	"shop/internal/outbox"
)

// RefundKind is the kind of the operation that gives money back.
const RefundKind = "refund"

// Topics of refunds.
const (
	TopicRefundRequested outbox.Topic = "refund.requested"
	TopicRefunded        outbox.Topic = "refund.succeeded"
	TopicRefundFailed    outbox.Topic = "refund.failed"
	// TopicRefundsSeen says that something about the refunds of a PaymentIntent has changed at the provider.
	TopicRefundsSeen outbox.Topic = "refund.seen"
)

// RefundRequest asks for money of an order to be given back.
type RefundRequest struct {
	// ID names the request. It is minted once, when somebody asks: a double
	// click or a repeat sends the same one and meets the same refund.
	ID      string
	OrderID int64
	Amount  int64 // minor units; 0 is all that is left
	Reason  string
	Actor   string
}

// NewRefundID mints the id of a request.
func NewRefundID() string { return "rfd_" + strings.ToLower(rand.Text()) }

// Refund is money on its way back, or back already.
type Refund struct {
	ID          int64
	PublicID    string
	OrderID     int64
	PaymentID   int64
	OpKey       *operations.Key // nil for a refund that was made at the provider itself
	ProviderRef *string
	Amount      money.Money
	State       string
	Reason      string
	RequestedBy string
}

// refundIdentity is what a refund is.
type refundIdentity struct {
	OrderID  int64  `json:"orderId"`
	RefundID string `json:"refundId"`
}

// RefundParams are the frozen parameters of a refund.
type RefundParams struct {
	RefundID      string            `json:"refund_id"`
	OrderID       int64             `json:"order_id"`
	PaymentIntent string            `json:"payment_intent"`
	Amount        int64             `json:"amount"` // minor units
	Currency      string            `json:"currency"`
	Metadata      map[string]string `json:"metadata"`
}

// RefundIntent turns the payload of refund.requested into the refund that it asks for.
func RefundIntent(payload []byte) (operations.Intent, error) {
	var p RefundParams
	if err := json.Unmarshal(payload, &p); err != nil {
		return operations.Intent{}, fmt.Errorf("reading a %s message: %w", TopicRefundRequested, err)
	}
	return operations.NewIntent(operations.Spec{Kind: RefundKind, Identity: refundIdentity{OrderID: p.OrderID, RefundID: p.RefundID},
		SubjectType: orders.SubjectType, SubjectID: fmt.Sprint(p.OrderID), Params: p})
}

// RequestRefund enters a refund and the message that leads to it, in one
// transaction. All that is asked for, on its way or back already counts under
// the lock on the payment, so that any number of requests at once never give
// back more than was paid. The same id with the same amount is the same refund
// (repeat is true); with another amount it is a Conflict.
func RequestRefund(ctx context.Context, pool *pgxpool.Pool, r RefundRequest) (refund Refund, repeat bool, err error) {
	if r.ID == "" || strings.TrimSpace(r.Reason) == "" || r.Actor == "" {
		return Refund{}, false, apperr.New(apperr.Invalid, "A refund needs an id, a reason and somebody who asks for it.")
	}
	if r.Amount < 0 {
		return Refund{}, false, apperr.New(apperr.Invalid, "The amount of a refund must be positive.")
	}
	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		pay, err := lockPayment(ctx, tx, r.OrderID)
		if err != nil {
			return err
		}
		if refund, repeat, err = findRefund(ctx, tx, r.ID); err != nil {
			return err
		}
		if repeat {
			if refund.OrderID != r.OrderID || (r.Amount != 0 && refund.Amount.Amount != r.Amount) {
				return apperr.New(apperr.Conflict, "The refund %s exists for another order or amount.", r.ID)
			}
			return nil
		}
		left := pay.amount - pay.refunded
		if r.Amount == 0 {
			r.Amount = left
		}
		if r.Amount > left || left == 0 {
			return apperr.New(apperr.Invalid, "Of this payment, %s is left to give back.", money.Money{Amount: left, Currency: pay.currency})
		}
		key, _, err := operations.Derive(RefundKind, refundIdentity{OrderID: r.OrderID, RefundID: r.ID})
		if err != nil {
			return err
		}
		params := RefundParams{RefundID: r.ID, OrderID: r.OrderID, PaymentIntent: pay.intent, Amount: r.Amount, Currency: pay.currency,
			Metadata: map[string]string{"order_id": fmt.Sprint(r.OrderID), "refund_id": r.ID, operationMetadata: string(key)}}
		if refund, err = insertRefund(ctx, tx, r, pay, key); err != nil {
			return err
		}
		return outbox.Append(ctx, tx, TopicRefundRequested, orders.SubjectType, fmt.Sprint(r.OrderID), params)
	})
	return refund, repeat, err
}
