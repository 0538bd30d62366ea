package payments

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"shop/internal/operations"
	"shop/internal/orders"
	"shop/internal/outbox"
)

// TopicRetry asks for another attempt at charging an order.
const TopicRetry outbox.Topic = "payment.requested"

// RetryIntent turns the payload of payment.requested into the charge that it asks for.
func RetryIntent(payload []byte) (operations.Intent, error) {
	var a attempt
	if err := json.Unmarshal(payload, &a); err != nil {
		return operations.Intent{}, fmt.Errorf("reading a payment.requested message: %w", err)
	}
	return a.intent()
}

// Retry asks for another attempt at charging an order whose last one was
// refused definitely. Order and message change in one transaction. It returns
// false when there is nothing to retry, because the order is paid, expired, or
// somebody clicked first.
func Retry(ctx context.Context, pool *pgxpool.Pool, os *orders.Store, ops *operations.Store, order orders.Order, m Method) (reopened bool, err error) {
	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		if reopened, err = os.Reopen(ctx, tx, order.ID); err != nil || !reopened {
			return err
		}
		// The order is ours until the commit, so no other attempt can begin meanwhile.
		last, ok, err := LastCharge(ctx, ops, order.ID)
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("order %d failed without a charge", order.ID)
		}
		var id chargeIdentity
		if err := json.Unmarshal(last.Identity, &id); err != nil {
			return fmt.Errorf("reading the identity of charge %s: %w", last.Key, err)
		}
		return outbox.Append(ctx, tx, TopicRetry, orders.SubjectType, fmt.Sprint(order.ID), attempt{OrderID: order.ID,
			PublicID: order.PublicID, Amount: order.Total.Amount, Currency: order.Total.Currency, Attempt: id.Attempt + 1, Method: m})
	})
	return reopened, err
}

// LastCharge returns the newest charge of an order; false when there is none yet.
func LastCharge(ctx context.Context, ops *operations.Store, orderID int64) (operations.Operation, bool, error) {
	all, err := ops.BySubject(ctx, orders.SubjectType, fmt.Sprint(orderID))
	if err != nil {
		return operations.Operation{}, false, err
	}
	for _, op := range slices.Backward(all) {
		if op.Kind == ChargeKind {
			return op, true, nil
		}
	}
	return operations.Operation{}, false, nil
}
