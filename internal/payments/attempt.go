// Package payments is everything that would go away with Stripe: charging an
// order, reading what the provider answered, and recording it once.
package payments

import (
	"encoding/json"
	"fmt"

	"shop/internal/operations"
	"shop/internal/orders"
)

// ChargeKind is the kind of the operation that charges an order.
const ChargeKind = "charge"

// Method is how somebody means to pay, as the checkout page or a program sent
// it. It travels in the message about the order and is frozen with the charge.
type Method struct {
	PaymentMethod     string `json:"payment_method,omitempty"`     // pm_…, at most one of the two
	ConfirmationToken string `json:"confirmation_token,omitempty"` // ctoken_…, good for one charge within 12 hours
	ReturnURL         string `json:"return_url,omitempty"`         // where the bank's page sends the shopper back to
}

// chargeIdentity is what a charge is. A new attempt is another charge; it
// starts only after a definite decline or cancellation, never after silence.
type chargeIdentity struct {
	OrderID int64 `json:"orderId"`
	Attempt int   `json:"attempt"`
}

// ChargeParams are the frozen parameters of a charge. A repeat sends exactly
// these, never values read again from a cart, a clock or a configuration.
type ChargeParams struct {
	OrderID     int64             `json:"order_id"`
	Amount      int64             `json:"amount"` // minor units
	Currency    string            `json:"currency"`
	Description string            `json:"description"`
	Metadata    map[string]string `json:"metadata"` // ids only
	Method      Method            `json:"method"`
}

// ChargeIntent turns the payload of order.placed into the charge that it asks for.
func ChargeIntent(payload []byte) (operations.Intent, error) {
	var p orders.Placement
	if err := json.Unmarshal(payload, &p); err != nil {
		return operations.Intent{}, fmt.Errorf("reading an order.placed message: %w", err)
	}
	var m Method
	if err := json.Unmarshal(p.Payment, &m); err != nil {
		return operations.Intent{}, fmt.Errorf("reading how order %d is paid: %w", p.OrderID, err)
	}
	const first = 1
	return operations.NewIntent(operations.Spec{
		Kind: ChargeKind, Identity: chargeIdentity{OrderID: p.OrderID, Attempt: first},
		SubjectType: orders.SubjectType, SubjectID: fmt.Sprint(p.OrderID),
		Params: ChargeParams{OrderID: p.OrderID, Amount: p.Amount, Currency: p.Currency,
			Description: fmt.Sprintf("Order %d", p.OrderID),
			Metadata:    map[string]string{"order_id": fmt.Sprint(p.OrderID), "order": p.PublicID, "attempt": fmt.Sprint(first)},
			Method:      m},
	})
}
