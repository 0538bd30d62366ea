package payments

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"shop/internal/operations"
)

// ChargeResult is the stored answer of a charge.
type ChargeResult struct {
	PaymentIntent string `json:"payment_intent"`
	Charge        string `json:"charge,omitempty"`
	Amount        int64  `json:"amount"` // minor units
	Currency      string `json:"currency"`
	DeclineCode   string `json:"decline_code,omitempty"`
}

// settle records what a PaymentIntent's status means.
func (c charge) settle(ctx context.Context, pi PaymentIntent) error {
	switch pi.Status {
	case "succeeded":
		return c.succeeded(ctx, pi)
	case "requires_action":
		return c.awaitShopper(ctx)
	case "canceled":
		return c.over(ctx, c.whyCanceled(pi))
	case "requires_payment_method":
		problem := pi.LastError
		if problem == nil {
			problem = &ProviderError{Answered: true, Type: "card_error", Message: "the PaymentIntent lost its payment method"}
		}
		return c.declined(ctx, problem)
	case "processing":
		return c.ops.Wait(ctx, c.lease, operations.Wait{After: 5 * time.Second, Reason: "the provider is processing"})
	}
	return c.ops.Stick(ctx, c.lease, fmt.Sprintf("the PaymentIntent %s is %s, which this program does not expect", pi.ID, pi.Status), true)
}

// succeeded books the payment: operation, payment row, order and the message
// about it in one transaction, under the fence.
func (c charge) succeeded(ctx context.Context, pi PaymentIntent) error {
	if pi.Received != c.params.Amount || pi.Currency != c.params.Currency {
		return c.ops.Stick(ctx, c.lease, fmt.Sprintf("the PaymentIntent %s received %d %s, and the order owes %d %s",
			pi.ID, pi.Received, pi.Currency, c.params.Amount, c.params.Currency), false)
	}
	result := ChargeResult{PaymentIntent: pi.ID, Charge: pi.Charge, Amount: pi.Received, Currency: pi.Currency}
	return c.ops.Complete(ctx, c.lease, operations.Completion{Outcome: operations.Succeeded, Result: result, ProviderRef: pi.ID},
		func(ctx context.Context, tx pgx.Tx) error {
			if err := insertPayment(ctx, tx, c.lease.Key, c.params, pi); err != nil {
				return err
			}
			return c.orders.MarkPaid(ctx, tx, c.params.OrderID)
		})
}

// ending is how an attempt is about to end. It is stored before the
// PaymentIntent is canceled, because a canceled one does not say why.
type ending struct {
	Outcome     operations.Outcome `json:"outcome"`
	DeclineCode string             `json:"decline_code"`
	Problem     string             `json:"problem"`     // redacted
	Reason      string             `json:"reason"`      // in words for the shopper
	At          time.Time          `json:"at,omitzero"` // not before; the shopper still has until then
}

func declinedBy(problem *ProviderError) ending {
	return ending{Outcome: operations.Declined, DeclineCode: cmp.Or(problem.DeclineCode, problem.Code), Problem: problem.Error(), Reason: words(problem)}
}

// whyCanceled says why a PaymentIntent is canceled: as we meant to when we did
// it, by its last error when Stripe did, or without a reason.
func (c charge) whyCanceled(pi PaymentIntent) ending {
	var meant ending
	if json.Unmarshal(c.lease.Result, &meant) == nil && meant.Outcome != "" {
		return meant
	}
	if pi.LastError != nil {
		return declinedBy(pi.LastError)
	}
	return ending{Outcome: operations.Canceled, DeclineCode: "canceled", Problem: "the PaymentIntent was canceled", Reason: "The payment was canceled."}
}

// declined ends the attempt after a definite no. A declined PaymentIntent can
// still succeed later, so it is canceled before the attempt is over: an order
// has at most one that lives.
func (c charge) declined(ctx context.Context, problem *ProviderError) error {
	if c.lease.ProviderRef == nil {
		return c.over(ctx, declinedBy(problem)) // refused before there was one
	}
	return c.cancelThen(ctx, declinedBy(problem))
}

// cancelThen cancels the PaymentIntent and ends the attempt. A crash in between
// finds it by its reference, and why by what was stored. If it turns out to
// have succeeded meanwhile, the order is paid.
func (c charge) cancelThen(ctx context.Context, e ending) error {
	if err := c.ops.Intend(ctx, c.lease, e); err != nil {
		return err
	}
	err := c.send(ctx, func(ctx context.Context) (string, operations.Call, error) {
		pi, call, err := c.gateway.CancelIntent(ctx, c.lease.Key, c.lease.Fence, *c.lease.ProviderRef)
		return pi.ID, call, err
	})
	if err != nil {
		return c.refused(ctx, err)
	}
	return c.over(ctx, e)
}

// over ends the attempt without money having moved.
func (c charge) over(ctx context.Context, e ending) error {
	result := ChargeResult{Amount: c.params.Amount, Currency: c.params.Currency, DeclineCode: e.DeclineCode}
	if c.lease.ProviderRef != nil {
		result.PaymentIntent = *c.lease.ProviderRef
	}
	return c.ops.Complete(ctx, c.lease, operations.Completion{Outcome: e.Outcome, Result: result, Problem: e.Problem},
		func(ctx context.Context, tx pgx.Tx) error {
			return c.orders.MarkPaymentFailed(ctx, tx, c.params.OrderID, e.Reason)
		})
}

// awaitShopper parks the charge until the shopper has confirmed with the bank.
// The time counts from the first look at which the bank asked, and is stored
// with how the charge ends when it is over: the PaymentIntent is canceled
// first, and if that says that it has succeeded meanwhile, the order is paid.
func (c charge) awaitShopper(ctx context.Context) error {
	var meant ending
	if json.Unmarshal(c.lease.Result, &meant) != nil || meant.At.IsZero() {
		meant = ending{Outcome: operations.Canceled, DeclineCode: "authentication_abandoned", At: c.lease.UpdatedAt.Add(c.policy.Action),
			Problem: "the shopper did not confirm with the bank in time", Reason: "The payment was not confirmed with the bank in time."}
		if err := c.ops.Intend(ctx, c.lease, meant); err != nil {
			return err
		}
	}
	if left := meant.At.Sub(c.lease.UpdatedAt); left > 0 {
		return c.ops.Wait(ctx, c.lease, operations.Wait{After: left, Reason: WaitForShopper})
	}
	return c.cancelThen(ctx, meant)
}

// WaitForShopper is the wait reason of a charge that the shopper must confirm with the bank.
const WaitForShopper = "customer action"

// refused acts on an error of a call that may have changed something.
func (c charge) refused(ctx context.Context, err error) error {
	if errors.Is(err, operations.ErrLeaseLost) {
		return err
	}
	verdict, problem := judge(err, c.lease.SentBefore)
	switch verdict {
	case VerdictDeclined:
		return c.declined(ctx, problem)
	case VerdictLookUp:
		return c.lookUp(ctx, false)
	case VerdictBug:
		c.log.ErrorContext(ctx, "the provider refused our request", "op_key", c.lease.Key, "problem", problem.Error())
		return c.ops.Stick(ctx, c.lease, "the provider refused our request as wrong: "+problem.Error(), c.lease.SentBefore)
	}
	return c.park(ctx, verdict, problem)
}
