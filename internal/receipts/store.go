package receipts

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"shop/internal/operations"
)

func insertReceipt(ctx context.Context, tx pgx.Tx, key operations.Key, p params, m Mail, response string) error {
	if _, err := tx.Exec(ctx, `INSERT INTO receipts (order_id, kind, op_key, message_id, recipient, content_hash, provider_response)
		VALUES (@order_id, @kind, @op_key, @message_id, @recipient, @hash, @response)`, pgx.NamedArgs{
		"order_id": p.OrderID, "kind": p.Receipt, "op_key": key, "message_id": m.MessageID, "recipient": m.To,
		"hash": m.hash(), "response": response}); err != nil {
		return fmt.Errorf("entering the receipt of order %d: %w", p.OrderID, err)
	}
	return nil
}
