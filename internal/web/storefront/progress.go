package storefront

import (
	"context"
	"encoding/json"
	"fmt"

	"shop/internal/operations"
	"shop/internal/orders"
	"shop/internal/payments"
	"shop/internal/receipts"
	"shop/templates"
)

// view reads how far an order has come: from the order itself, its newest
// charge and its receipt.
func (s *Storefront) view(ctx context.Context, order orders.Order) (templates.OrderView, error) {
	ops, err := s.Ops.BySubject(ctx, orders.SubjectType, fmt.Sprint(order.ID))
	if err != nil {
		return templates.OrderView{}, err
	}
	var charge, receipt *operations.Operation
	for i := range ops {
		switch ops[i].Kind {
		case payments.ChargeKind:
			charge = &ops[i]
		case receipts.Kind:
			receipt = &ops[i]
		}
	}
	url := s.ShopURL + "/orders/" + order.PublicID
	v := templates.OrderView{Shell: templates.Shell{Demo: s.Demo}, PublicID: order.PublicID, Number: fmt.Sprint(order.ID),
		PlacedAt: order.PlacedAt, Total: order.Total, Email: order.Email, InboxURL: s.InboxURL,
		EventsURL: "/orders/" + order.PublicID + "/events", Attempt: attemptOf(charge),
		Card: templates.CardView{StripeJS: s.StripeJS, PublishableKey: s.PublishableKey, ReturnURL: url + "/return",
			Amount: order.Total, Name: order.Name, Email: order.Email, TestCards: s.testCards()}}
	for _, l := range order.Lines {
		v.Lines = append(v.Lines, templates.LineView{SKU: l.SKU, Name: l.Name, Image: image(l.SKU), Quantity: l.Quantity,
			UnitPrice: l.UnitPrice, Total: l.Total})
	}
	setStep(&v, order, charge, receipt)
	return v, nil
}

// setStep says in the shopper's words where the order stands.
func setStep(v *templates.OrderView, order orders.Order, charge, receipt *operations.Operation) {
	switch order.State {
	case orders.Paid:
		v.Step = templates.StepPaid
		if receipt != nil && receipt.State == operations.Done {
			v.Final = true
			v.Step = templates.StepReceiptSent
			if !receipt.Succeeded() {
				v.Step = templates.StepPaid
				v.Message = "Your payment went through. The receipt could not be delivered to " + order.Email + "; this page stays your receipt."
			}
		}
	case orders.PaymentFailed:
		v.Step, v.Final, v.ReasonWords = templates.StepDeclined, true, order.Reason
		v.RetryURL = "/orders/" + order.PublicID + "/pay"
	case orders.Expired:
		v.Step, v.Final = templates.StepExpired, true
	case orders.NeedsReview:
		v.Step, v.Final = templates.StepNeedsReview, true
	default:
		v.Step, v.ActionURL = chargeStep(charge, order)
	}
}

func chargeStep(charge *operations.Operation, order orders.Order) (step templates.OrderStep, actionURL string) {
	if charge == nil {
		return templates.StepPlaced, ""
	}
	switch charge.State {
	case operations.Running:
		return templates.StepCharging, ""
	case operations.Waiting:
		if charge.WaitReason != nil && *charge.WaitReason == payments.WaitForShopper {
			return templates.StepActionRequired, "/orders/" + order.PublicID + "/authenticate"
		}
		return templates.StepWaiting, ""
	case operations.Stuck:
		return templates.StepNeedsReview, ""
	}
	if charge.Claims > 0 && charge.State == operations.Pending {
		return templates.StepCharging, "" // between two holders
	}
	return templates.StepPlaced, ""
}

func attemptOf(charge *operations.Operation) int {
	var id struct {
		Attempt int `json:"attempt"`
	}
	if charge != nil && json.Unmarshal(charge.Identity, &id) == nil {
		return id.Attempt
	}
	return 1
}
