package stripesim

import (
	"slices"
	"strings"
)

// The statuses of a PaymentIntent. There is no "failed": a declined one goes back
// to requires_payment_method and can still succeed.
const (
	needsMethod       = "requires_payment_method"
	needsConfirmation = "requires_confirmation"
	needsAction       = "requires_action"
	processing        = "processing"
	needsCapture      = "requires_capture"
	succeeded         = "succeeded"
	canceled          = "canceled"
)

// verb is something a client may ask of a PaymentIntent.
type verb string

const (
	verbConfirm verb = "confirm"
	verbCapture verb = "capture"
	verbCancel  verb = "cancel"
	verbUpdate  verb = "update"
)

// transition is one row of the state machine: the statuses a verb may start from
// (in the order Stripe's messages list them) and how a refusal is worded.
// "%s" is replaced by the status, "%l" by the list.
type transition struct {
	from   []string
	refuse string
	also   map[string]string // wording for particular statuses
}

const alreadySucceeded = "You cannot confirm this PaymentIntent because it has already succeeded after being previously confirmed."

// machine is the PaymentIntent state machine.
var machine = map[verb]transition{
	verbConfirm: {
		from:   []string{needsMethod, needsConfirmation, needsAction},
		refuse: "You cannot confirm this PaymentIntent because it has a status of %s. Only a PaymentIntent with one of the following statuses may be confirmed: requires_confirmation, requires_action.",
		also:   map[string]string{succeeded: alreadySucceeded},
	},
	verbCapture: {
		from:   []string{needsCapture},
		refuse: "This PaymentIntent could not be captured because it has a status of %s. Only a PaymentIntent with one of the following statuses may be captured: %l.",
	},
	verbCancel: {
		from:   []string{needsMethod, needsCapture, needsConfirmation, needsAction, processing},
		refuse: "You cannot cancel this PaymentIntent because it has a status of %s. Only a PaymentIntent with one of the following statuses may be canceled: %l.",
	},
	verbUpdate: {
		from:   []string{needsMethod, needsConfirmation, needsAction},
		refuse: "This PaymentIntent's payment details could not be updated because it has a status of %s. You may only update them on a PaymentIntent with one of the following statuses: %l.",
	},
}

// may refuses a verb that the intent's status does not allow. The refusal has
// executed: it is stored under the key, carries the intent and names no param.
func (pi *intent) may(v verb) *apiError {
	t := machine[v]
	if slices.Contains(t.from, pi.Status) {
		return nil
	}
	text, special := t.also[pi.Status]
	if !special {
		text = strings.NewReplacer("%s", pi.Status, "%l", strings.Join(t.from, ", ")).Replace(t.refuse)
	}
	return refused("payment_intent_unexpected_state", "", text).about(pi)
}
