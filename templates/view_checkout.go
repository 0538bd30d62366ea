package templates

import (
	"strconv"

	"shop/internal/money"
)

// FieldError is one field of a form that the server refused.
type FieldError struct {
	Field   string // id of the field, such as "email"
	Message string // what was wrong and what is expected
}

// CheckoutView is the page on which a shopper pays.
type CheckoutView struct {
	Shell
	Lines         []LineView
	Total         money.Money
	CheckoutToken string       // makes a repeated submission meet the first order
	ExpectedTotal money.Money  // the total the shopper saw; the server compares it with its own
	Name, Email   string       // what was typed
	Errors        []FieldError // fields "name", "email", "payment" or "cart"
	Notice        Notice
	Card          CardView
}

func (v CheckoutView) errorFor(field string) string { return errorFor(v.Errors, field) }

// CardView is what the card form needs. StripeJS is the address of Stripe.js
// or of its local stand-in; the page is the same with either.
type CardView struct {
	StripeJS       string
	PublishableKey string
	ReturnURL      string // absolute address to which a bank's page returns
	Amount         money.Money
	Name, Email    string // billing details where the form does not ask for them
	TestCards      []TestCard
}

func (c CardView) amount() string { return strconv.FormatInt(c.Amount.Amount, 10) }

// TestCard is a choice offered where scripts do not run; only a test account
// has them.
type TestCard struct {
	PaymentMethod string // such as "pm_card_visa"
	Label         string
}

// DemoTestCards are the cards to choose from without JavaScript. The names are
// Stripe's (docs.stripe.com/testing).
func DemoTestCards() []TestCard {
	return []TestCard{
		{"pm_card_visa", "Visa, succeeds"},
		{"pm_card_visa_chargeDeclined", "Visa, declined"},
		{"pm_card_visa_chargeDeclinedInsufficientFunds", "Visa, insufficient funds"},
	}
}

func errorFor(errs []FieldError, field string) string {
	for _, e := range errs {
		if e.Field == field {
			return e.Message
		}
	}
	return ""
}

// describedBy names the element that explains a field: its error when there is
// one, its hint otherwise.
func describedBy(field, message string) string {
	if message != "" {
		return field + "-error"
	}
	return field + "-hint"
}
