package payments

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"shop/internal/apperr"
	"shop/internal/money"
	"shop/internal/operations"
)

// payment is what refunds need to know of a payment.
type payment struct {
	id, orderID      int64
	intent, currency string
	amount           int64 // minor units, as is refunded
	refunded         int64 // asked for, on its way or back already
}

const paymentSQL = `SELECT p.id, p.order_id, p.provider_ref, p.currency, p.amount,
	(SELECT coalesce(sum(r.amount), 0) FROM refunds r WHERE r.payment_id = p.id AND r.state <> 'failed') FROM payments p WHERE `

func scanPayment(row pgx.Row) (p payment, err error) {
	err = row.Scan(&p.id, &p.orderID, &p.intent, &p.currency, &p.amount, &p.refunded)
	return p, err
}

// lockPayment reads the payment of an order and holds it until the transaction
// ends. The sum of its refunds is read in a statement of its own, after the
// lock: in the same one it would be of the moment before the wait.
func lockPayment(ctx context.Context, tx pgx.Tx, orderID int64) (payment, error) {
	var id int64
	err := tx.QueryRow(ctx, `SELECT id FROM payments WHERE order_id = $1 ORDER BY id LIMIT 1 FOR UPDATE`, orderID).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return payment{}, apperr.New(apperr.Conflict, "The order has not been paid, so there is nothing to give back.")
	}
	if err != nil {
		return payment{}, fmt.Errorf("locking the payment of order %d: %w", orderID, err)
	}
	p, err := scanPayment(tx.QueryRow(ctx, paymentSQL+`p.id = $1`, id))
	if err != nil {
		return payment{}, fmt.Errorf("reading the payment of order %d: %w", orderID, err)
	}
	return p, nil
}

// rowQuerier is what a pool and a transaction have in common.
type rowQuerier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// paymentOf reads the payment that a PaymentIntent is; pgx.ErrNoRows when there is none.
func paymentOf(ctx context.Context, q rowQuerier, intent string) (payment, error) {
	p, err := scanPayment(q.QueryRow(ctx, paymentSQL+`p.provider_ref = $1`, intent))
	if err != nil {
		return p, fmt.Errorf("reading the payment %s: %w", intent, err)
	}
	return p, nil
}

func findRefund(ctx context.Context, tx pgx.Tx, publicID string) (r Refund, found bool, err error) {
	err = tx.QueryRow(ctx, `SELECT id, public_id, order_id, payment_id, op_key, provider_ref, amount, currency, state, reason, requested_by
		FROM refunds WHERE public_id = $1`, publicID).Scan(&r.ID, &r.PublicID, &r.OrderID, &r.PaymentID, &r.OpKey, &r.ProviderRef,
		&r.Amount.Amount, &r.Amount.Currency, &r.State, &r.Reason, &r.RequestedBy)
	if errors.Is(err, pgx.ErrNoRows) {
		return Refund{}, false, nil
	}
	if err != nil {
		return Refund{}, false, fmt.Errorf("reading refund %s: %w", publicID, err)
	}
	return r, true, nil
}

func insertRefund(ctx context.Context, tx pgx.Tx, req RefundRequest, p payment, key operations.Key) (Refund, error) {
	r := Refund{PublicID: req.ID, OrderID: p.orderID, PaymentID: p.id, OpKey: &key, State: "requested", Reason: req.Reason,
		RequestedBy: req.Actor, Amount: money.Money{Amount: req.Amount, Currency: p.currency}}
	if err := tx.QueryRow(ctx, `INSERT INTO refunds (public_id, order_id, payment_id, op_key, amount, currency, state, reason, requested_by)
		VALUES (@public_id, @order_id, @payment_id, @op_key, @amount, @currency, 'requested', @reason, @actor) RETURNING id`,
		pgx.NamedArgs{"public_id": r.PublicID, "order_id": r.OrderID, "payment_id": r.PaymentID, "op_key": key, "amount": req.Amount,
			"currency": p.currency, "reason": req.Reason, "actor": req.Actor}).Scan(&r.ID); err != nil {
		return Refund{}, fmt.Errorf("entering refund %s: %w", req.ID, err)
	}
	return r, nil
}

// insertForeignRefund enters a refund of the provider once; false when it is here already.
func insertForeignRefund(ctx context.Context, tx pgx.Tx, p payment, r ProviderRefund, state string) (bool, error) {
	tag, err := tx.Exec(ctx, `INSERT INTO refunds (public_id, order_id, payment_id, provider_ref, amount, currency, state, reason, requested_by, settled_at)
		VALUES (@ref, @order_id, @payment_id, @ref, @amount, @currency, @state, 'made at the provider', 'provider', clock_timestamp())
		ON CONFLICT DO NOTHING`, pgx.NamedArgs{"ref": r.ID, "order_id": p.orderID, "payment_id": p.id, "amount": r.Amount,
		"currency": r.Currency, "state": state})
	if err != nil {
		return false, fmt.Errorf("entering the refund %s: %w", r.ID, err)
	}
	return tag.RowsAffected() == 1, nil
}

func settleRefund(ctx context.Context, tx pgx.Tx, key operations.Key, state, ref string) error {
	tag, err := tx.Exec(ctx, `UPDATE refunds SET state = @state, provider_ref = coalesce(nullif(@ref, ''), provider_ref),
		settled_at = clock_timestamp() WHERE op_key = @key AND state = 'requested'`, pgx.NamedArgs{"state": state, "ref": ref, "key": key})
	if err != nil {
		return fmt.Errorf("settling the refund of %s: %w", key, err)
	}
	if tag.RowsAffected() != 1 {
		return fmt.Errorf("settling the refund of %s: it has no open row", key)
	}
	return nil
}
