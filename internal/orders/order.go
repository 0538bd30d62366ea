package orders

import (
	"crypto/rand"
	"encoding/json"
	"strings"
	"time"

	"shop/internal/money"
	"shop/internal/outbox"
)

// State says where an order stands.
type State string

// The states of an order.
const (
	Placed        State = "placed"         // waits for its payment
	Paid          State = "paid"           // paid in full, once
	PaymentFailed State = "payment_failed" // the last attempt was refused definitely
	Expired       State = "expired"        // was not paid in time
	NeedsReview   State = "needs_review"   // what was paid and what was owed differ
)

// The facts about orders that others hear through the outbox.
const (
	TopicPlaced        outbox.Topic = "order.placed"
	TopicPaid          outbox.Topic = "order.paid"
	TopicPaymentFailed outbox.Topic = "order.payment_failed"
)

// SubjectType is the subject under which operations and messages of an order are filed.
const SubjectType = "order"

// Order is a purchase with its lines and total frozen at placing.
type Order struct {
	ID          int64
	PublicID    string // unguessable; names the order in URLs
	Email, Name string
	Total       money.Money
	State       State
	Reason      string // why the state is what it is, in words for the shopper; may be empty
	PlacedAt    time.Time
	PaidAt      *time.Time
	Lines       []Line
}

// Line is one product of an order at the price of that day.
type Line struct {
	SKU, Name string
	UnitPrice money.Money
	Quantity  int
	Total     money.Money
}

// Placement is the payload of order.placed: what was agreed, which never
// changes again, and what the payment side needs, which orders does not read.
type Placement struct {
	OrderID  int64           `json:"order_id"`
	PublicID string          `json:"public_id"`
	Amount   int64           `json:"amount"`
	Currency string          `json:"currency"`
	Payment  json.RawMessage `json:"payment"`
}

// Settlement is the payload of order.paid and order.payment_failed.
type Settlement struct {
	OrderID int64 `json:"order_id"`
}

// newToken returns 130 random bits in lower-case letters and digits.
func newToken() string { return strings.ToLower(rand.Text()) }
