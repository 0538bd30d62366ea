package templates

import (
	"time"

	"shop/internal/money"
)

// ReceiptView is the receipt of one paid order, for the HTML and for the text
// part of the mail.
type ReceiptView struct {
	Number   string
	PublicID string
	Name     string
	PaidAt   time.Time
	Lines    []LineView
	Total    money.Money
	OrderURL string // absolute
	Demo     bool
}
