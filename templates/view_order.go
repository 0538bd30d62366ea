package templates

import (
	"strconv"
	"time"

	"shop/internal/money"
)

// OrderStep is how far an order has come, as its page tells it.
type OrderStep string

// The steps of an order. The first, StepCharging, StepPaid and StepReceiptSent
// are the journey; the others are where it pauses or ends.
const (
	StepPlaced         OrderStep = "placed"
	StepCharging       OrderStep = "charging"
	StepWaiting        OrderStep = "waiting"         // the provider has not answered; nobody acts twice
	StepActionRequired OrderStep = "action_required" // the bank wants the shopper
	StepDeclined       OrderStep = "declined"
	StepPaid           OrderStep = "paid"
	StepReceiptSent    OrderStep = "receipt_sent"
	StepNeedsReview    OrderStep = "needs_review"
	StepExpired        OrderStep = "expired"
)

// OrderView is the page of one order. Lines and Total are those frozen when
// the order was placed.
type OrderView struct {
	Shell
	PublicID    string // ord_…
	Number      string // what people say on the telephone
	PlacedAt    time.Time
	Lines       []LineView
	Total       money.Money
	Email       string
	Step        OrderStep
	Message     string // replaces the usual sentence of the step when not empty
	ReasonWords string // why the card was declined, in human words
	RetryURL    string // where another card is sent; empty hides the form
	ActionURL   string // the bank's page
	Attempt     int    // number of the charge attempt, sent back with another card
	Final       bool   // nothing more will happen by itself
	EventsURL   string // server-sent events: "status" carries OrderStatus, then "done"
	InboxURL    string // the demo's inbox, linked once the receipt is sent
	Card        CardView
	Errors      []FieldError // field "payment", after a refused retry
}

// waitsForPerson reports whether the page shows something to fill in or to
// follow. Such a page must not reload under the shopper's hands.
func (v OrderView) waitsForPerson() bool {
	return v.offersRetry() || (v.Step == StepActionRequired && v.ActionURL != "")
}

// offersRetry reports whether another card may be tried. The step decides as
// well as the address: a page of a paid order never offers to pay.
func (v OrderView) offersRetry() bool { return v.Step == StepDeclined && v.RetryURL != "" }

// mayTakeCard reports whether this page may yet show the card form.
func (v OrderView) mayTakeCard() bool {
	return v.offersRetry() || (!v.Final && v.Step != StepPaid && v.Step != StepReceiptSent)
}

// stateKey changes whenever the status fragment shows another state, so that
// the script does not replace a form in which someone is typing.
func (v OrderView) stateKey() string { return string(v.Step) + "-" + strconv.Itoa(v.Attempt) }

func (v OrderView) head() head {
	h := head{
		Title:       "Order " + v.Number,
		Description: "The progress of your order, from placed to receipt sent.",
		Refresh:     !v.Final && !v.waitsForPerson(),
	}
	if !v.Final && v.EventsURL != "" {
		h.Scripts = append(h.Scripts, "order.js")
	}
	if v.mayTakeCard() {
		h.StripeJS = v.Card.StripeJS
		h.Scripts = append(h.Scripts, "checkout.js")
	}
	return h
}
