package orders

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"shop/internal/outbox"
)

// MarkPaid records inside the caller's transaction that an order is paid, and
// tells the others. A failed or expired order can still become paid: money that
// has moved is a fact. An order that is paid already is an error, because the
// caller is about to book a second payment.
func (s *Store) MarkPaid(ctx context.Context, tx pgx.Tx, orderID int64) error {
	if err := moveOrder(ctx, tx, orderID, Paid, "", Placed, PaymentFailed, Expired); err != nil {
		return err
	}
	return outbox.Append(ctx, tx, TopicPaid, SubjectType, fmt.Sprint(orderID), Settlement{OrderID: orderID})
}

// MarkPaymentFailed records inside the caller's transaction that an attempt was
// refused definitely, with the reason in words for the shopper. An order that
// has been paid meanwhile stays paid, and nothing is said.
func (s *Store) MarkPaymentFailed(ctx context.Context, tx pgx.Tx, orderID int64, reason string) error {
	order, err := getOrder(ctx, tx, "id = $1 FOR UPDATE", orderID)
	if err != nil {
		return err
	}
	if order.State == Paid || order.State == NeedsReview {
		return nil
	}
	if err := moveOrder(ctx, tx, orderID, PaymentFailed, reason, Placed, PaymentFailed, Expired); err != nil {
		return err
	}
	return outbox.Append(ctx, tx, TopicPaymentFailed, SubjectType, fmt.Sprint(orderID), Settlement{OrderID: orderID})
}

// Reopen takes an order whose payment failed back to placed, for another
// attempt, inside the caller's transaction. It returns false and changes
// nothing when the order is in any other state: somebody was faster.
func (s *Store) Reopen(ctx context.Context, tx pgx.Tx, orderID int64) (bool, error) {
	order, err := getOrder(ctx, tx, "id = $1 FOR UPDATE", orderID)
	if err != nil || order.State != PaymentFailed {
		return false, err
	}
	return true, moveOrder(ctx, tx, orderID, Placed, "", PaymentFailed)
}
