package payments

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"shop/internal/operations"
)

func insertPayment(ctx context.Context, tx pgx.Tx, key operations.Key, p ChargeParams, pi PaymentIntent) error {
	if _, err := tx.Exec(ctx, `INSERT INTO payments (order_id, op_key, provider_ref, amount, currency)
		VALUES (@order_id, @op_key, @ref, @amount, @currency)`, pgx.NamedArgs{
		"order_id": p.OrderID, "op_key": key, "ref": pi.ID, "amount": pi.Received, "currency": pi.Currency}); err != nil {
		return fmt.Errorf("booking the payment of order %d: %w", p.OrderID, err)
	}
	return nil
}
