package payments

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"shop/internal/operations"
	"shop/internal/orders"
	"shop/internal/outbox"
)

// TopicReturned says that a shopper is back from the bank's page. It proves
// nothing; it only makes us ask sooner.
const TopicReturned outbox.Topic = "payment.returned"

// Returned is the payload of payment.returned.
type Returned struct {
	OpKey operations.Key `json:"op_key"`
}

// NoteReturn records that the shopper came back, when the charge waits for that.
func NoteReturn(ctx context.Context, tx pgx.Tx, orderID int64, charge operations.Operation) error {
	if charge.State != operations.Waiting || charge.WaitReason == nil || *charge.WaitReason != WaitForShopper {
		return nil
	}
	return outbox.Append(ctx, tx, TopicReturned, orders.SubjectType, fmt.Sprint(orderID), Returned{OpKey: charge.Key})
}
