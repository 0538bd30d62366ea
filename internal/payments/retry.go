package payments

import (
	"context"
	"encoding/json"
	"errors"
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

// errStale rolls a retry back: the form that asked for it had its answer already.
var errStale = errors.New("another attempt has been made since the form was shown")

// Retry asks for another attempt at charging an order whose attempt with the
// number failed was refused definitely. Order and message change in one
// transaction. It returns false and changes nothing when there is nothing to
// retry: the order is paid or expired, somebody clicked first, or the form is
// an old one whose attempt has been made.
func Retry(ctx context.Context, pool *pgxpool.Pool, os *orders.Store, ops *operations.Store, order orders.Order, failed int, m Method) (bool, error) {
	reopened := false
	err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) (err error) {
		if reopened, err = os.Reopen(ctx, tx, order.ID); err != nil || !reopened {
			return err
		}
		// The order is ours until the commit, so no other attempt can begin meanwhile.
		last, ok, err := LastCharge(ctx, ops, tx, order.ID)
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
		if id.Attempt != failed {
			return errStale
		}
		return outbox.Append(ctx, tx, TopicRetry, orders.SubjectType, fmt.Sprint(order.ID), attempt{OrderID: order.ID,
			PublicID: order.PublicID, Amount: order.Total.Amount, Currency: order.Total.Currency, Attempt: id.Attempt + 1, Method: m})
	})
	if errors.Is(err, errStale) {
		return false, nil
	}
	return reopened, err
}

// LastCharge returns the newest charge of an order, read on q; false when there
// is none yet.
func LastCharge(ctx context.Context, ops *operations.Store, q operations.Querier, orderID int64) (operations.Operation, bool, error) {
	all, err := ops.BySubjectIn(ctx, q, orders.SubjectType, fmt.Sprint(orderID))
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
