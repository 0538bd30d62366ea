package payments

import (
	"context"
	"net/http"
	"time"

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

// RefundsOf lists the refunds of a PaymentIntent, newest first.
func (g *Gateway) RefundsOf(ctx context.Context, intent string) (refunds []ProviderRefund, call operations.Call, err error) {
	params := &stripe.RefundListParams{PaymentIntent: stripe.String(intent)}
	params.Limit = stripe.Int64(100)
	ctx, cancel := context.WithTimeout(ctx, g.timeout)
	defer cancel()
	params.Context = ctx
	call = operations.Call{Name: "find"}
	done, paused := g.pressure.admit()
	if paused != nil {
		call.Problem = paused.Error()
		return nil, call, paused
	}
	start := time.Now()
	list := g.api.Refunds.List(params)
	for list.Next() && len(refunds) < maxSearched {
		refunds = append(refunds, readRefund(list.Refund()))
	}
	call.DurationMS = time.Since(start).Milliseconds()
	if err := list.Err(); err != nil {
		problem := readError(err)
		done(problem)
		call.RequestID, call.Status, call.Problem = problem.RequestID, problem.Status, problem.Error()
		return nil, call, problem
	}
	done(nil)
	call.Status = http.StatusOK
	return refunds, call, nil
}

func readRefund(r *stripe.Refund) ProviderRefund {
	out := ProviderRefund{ID: r.ID, Status: string(r.Status), Amount: r.Amount, Currency: string(r.Currency),
		Operation: operations.Key(r.Metadata[operationMetadata])}
	if r.PaymentIntent != nil {
		out.PaymentIntent = r.PaymentIntent.ID
	}
	return out
}
