// Package payments is everything that would go away with Stripe: charging an
// order, reading what the provider answered, and recording it once.
package payments

import (
	"encoding/json"
	"fmt"
	"regexp"

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
	ShopURL           string `json:"shop_url,omitempty"`           // origin to which the bank's page sends the shopper back
}

// means is the form of Stripe's names for what a shopper pays with.
var means = regexp.MustCompile(`^(pm|ctoken)_[A-Za-z0-9_]{1,120}$`)

// IsMeans says whether a text can be the name of a payment method or of a
// confirmation token.
func IsMeans(name string) bool { return means.MatchString(name) }

// chargeIdentity is what a charge is. A new attempt is another charge; it
// starts only after a definite decline or cancellation, never after silence.
type chargeIdentity struct {
	OrderID int64 `json:"orderId"`
	Attempt int   `json:"attempt"`
}

// ChargeParams are the frozen parameters of a charge. A repeat sends exactly
// these, never values read again from a cart, a clock, a configuration or a
// newer release of this program: with anything else the provider refuses the key.
type ChargeParams struct {
	OrderID     int64             `json:"order_id"`
	Amount      int64             `json:"amount"` // minor units
	Currency    string            `json:"currency"`
	Description string            `json:"description"`
	Metadata    map[string]string `json:"metadata"` // ids only
	MethodTypes []string          `json:"payment_method_types"`
	Method      Method            `json:"method"`
	ReturnURL   string            `json:"return_url,omitempty"`
}

// ChargeIntent turns the payload of order.placed into the first charge of the order.
func ChargeIntent(payload []byte) (operations.Intent, error) {
	var p orders.Placement
	if err := json.Unmarshal(payload, &p); err != nil {
		return operations.Intent{}, fmt.Errorf("reading an order.placed message: %w", err)
	}
	var m Method
	if err := json.Unmarshal(p.Payment, &m); err != nil {
		return operations.Intent{}, fmt.Errorf("reading how order %d is paid: %w", p.OrderID, err)
	}
	return attempt{OrderID: p.OrderID, PublicID: p.PublicID, Amount: p.Amount, Currency: p.Currency, Attempt: 1, Method: m}.intent()
}

// attempt is one try at charging an order.
type attempt struct {
	OrderID  int64  `json:"order_id"`
	PublicID string `json:"public_id"`
	Amount   int64  `json:"amount"` // minor units
	Currency string `json:"currency"`
	Attempt  int    `json:"attempt"`
	Method   Method `json:"method"`
}

func (a attempt) intent() (operations.Intent, error) {
	returnURL := ""
	if a.Method.ShopURL != "" {
		returnURL = a.Method.ShopURL + "/orders/" + a.PublicID + "/return"
	}
	identity := chargeIdentity{OrderID: a.OrderID, Attempt: a.Attempt}
	key, _, err := operations.Derive(ChargeKind, identity)
	if err != nil {
		return operations.Intent{}, err
	}
	return operations.NewIntent(operations.Spec{Kind: ChargeKind, Identity: identity, SubjectType: orders.SubjectType, SubjectID: fmt.Sprint(a.OrderID),
		Params: ChargeParams{OrderID: a.OrderID, Amount: a.Amount, Currency: a.Currency, Description: fmt.Sprintf("Order %d", a.OrderID),
			Metadata: map[string]string{"order_id": fmt.Sprint(a.OrderID), "order": a.PublicID, "attempt": fmt.Sprint(a.Attempt),
				operationMetadata: string(key)},
			MethodTypes: []string{"card"}, Method: a.Method, ReturnURL: returnURL}})
}

// operationMetadata is the metadata by which an object of the provider is known
// as ours when the answer with its id was lost.
const operationMetadata = "operation"
