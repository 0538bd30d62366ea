package payments

import (
	"context"

	"github.com/stripe/stripe-go/v76"

	"shop/internal/operations"
)

// ProviderRefund is what we need to know of Stripe's refund.
type ProviderRefund struct {
	ID            string
	Status        string
	Amount        int64 // minor units
	Currency      string
	PaymentIntent string
	Operation     operations.Key // ours, from the metadata; empty for one that was made elsewhere
}

// CreateRefund gives money of a PaymentIntent back.
func (g *Gateway) CreateRefund(ctx context.Context, op operations.Key, p RefundParams) (ProviderRefund, operations.Call, error) {
	params := &stripe.RefundParams{PaymentIntent: stripe.String(p.PaymentIntent), Amount: stripe.Int64(p.Amount)}
	for k, v := range p.Metadata {
		params.AddMetadata(k, v)
	}
	return g.refundCall(ctx, &params.Params, "refund", op.Call("refund"), func() (*stripe.Refund, error) { return g.api.Refunds.New(params) })
}

// RetrieveRefund reads a refund.
func (g *Gateway) RetrieveRefund(ctx context.Context, id string) (ProviderRefund, operations.Call, error) {
	params := &stripe.RefundParams{}
	return g.refundCall(ctx, &params.Params, "retrieve", operations.CallKey{}, func() (*stripe.Refund, error) { return g.api.Refunds.Get(id, params) })
}

func (g *Gateway) refundCall(ctx context.Context, params *stripe.Params, name string, key operations.CallKey,
	do func() (*stripe.Refund, error)) (ProviderRefund, operations.Call, error) {
	r, call, err := exchange(ctx, g, params, name, key, do)
	if err != nil {
		return ProviderRefund{}, call, err
	}
	call.Result = string(r.Status)
	answered(&call, r.LastResponse)
	return readRefund(r), call, nil
}

func readRefund(r *stripe.Refund) ProviderRefund {
	out := ProviderRefund{ID: r.ID, Status: string(r.Status), Amount: r.Amount, Currency: string(r.Currency),
		Operation: operations.Key(r.Metadata[operationMetadata])}
	if r.PaymentIntent != nil {
		out.PaymentIntent = r.PaymentIntent.ID
	}
	return out
}
