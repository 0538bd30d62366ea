package payments

import (
	"context"

	"github.com/jackc/pgx/v5"

	"shop/internal/operations"
	"shop/internal/outbox"
)

// TopicCheck asks for a charge to be looked at now, because its answer may have
// come: the shopper is back from the bank, or the provider sent an event.
// Neither proves anything; both only make us ask sooner.
const TopicCheck outbox.Topic = "payment.check_requested"

// Check is the payload of payment.check_requested.
type Check struct {
	OpKey operations.Key `json:"op_key"`
}

// RequestCheck asks for a charge to be looked at, inside the caller's
// transaction. A charge that is done needs no look.
func RequestCheck(ctx context.Context, tx pgx.Tx, charge operations.Operation) error {
	if charge.State == operations.Done {
		return nil
	}
	return outbox.Append(ctx, tx, TopicCheck, charge.SubjectType, charge.SubjectID, Check{OpKey: charge.Key})
}

// NoteReturn asks for a look when the charge waits for the shopper, who is back.
func NoteReturn(ctx context.Context, tx pgx.Tx, charge operations.Operation) error {
	if charge.State != operations.Waiting || charge.WaitReason == nil || *charge.WaitReason != WaitForShopper {
		return nil
	}
	return RequestCheck(ctx, tx, charge)
}
