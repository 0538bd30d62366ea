package payments

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/stripe/stripe-go/v76"

	"shop/internal/operations"
)

// ListedIntent is a PaymentIntent as the provider lists it.
type ListedIntent struct {
	ID, Status                 string
	Amount, Received, Refunded int64 // minor units
	Currency                   string
	Charge                     string         // the latest charge; may be empty
	Operation                  operations.Key // ours, from the metadata; may be empty
	Metadata                   map[string]string
	Created                    time.Time // by the provider's clock, whole seconds
}

// ListedRefund is a refund as the provider lists it.
type ListedRefund struct {
	ProviderRefund
	Created time.Time // by the provider's clock, whole seconds
}

// PaymentIntents gives each every PaymentIntent of the account that was made
// since a moment, newest first; the zero time gives all there are. It reads
// pages of 100 and ends with the first error of each or of the provider. It
// lists, and does not search: Stripe's search lags by minutes (docs/stripe-sim.md).
func (g *Gateway) PaymentIntents(ctx context.Context, since time.Time, each func(ListedIntent) error) error {
	params := &stripe.PaymentIntentListParams{CreatedRange: madeSince(since)}
	params.Limit, params.Context = stripe.Int64(100), ctx
	params.AddExpand("data.latest_charge") // what has been refunded stands on the charge
	list := g.api.PaymentIntents.List(params)
	for list.Next() {
		pi := list.PaymentIntent()
		listed := ListedIntent{ID: pi.ID, Status: string(pi.Status), Amount: pi.Amount, Received: pi.AmountReceived,
			Currency: string(pi.Currency), Operation: operations.Key(pi.Metadata[operationMetadata]), Metadata: pi.Metadata,
			Created: time.Unix(pi.Created, 0)}
		if pi.LatestCharge != nil {
			listed.Charge, listed.Refunded = pi.LatestCharge.ID, pi.LatestCharge.AmountRefunded
		}
		if err := each(listed); err != nil {
			return err
		}
	}
	if err := list.Err(); err != nil {
		return fmt.Errorf("listing PaymentIntents: %w", readError(err))
	}
	return nil
}

// Refunds gives each every refund of the account that was made since a moment;
// the zero time gives all there are.
func (g *Gateway) Refunds(ctx context.Context, since time.Time, each func(ListedRefund) error) error {
	return g.listRefunds(ctx, &stripe.RefundListParams{CreatedRange: madeSince(since)}, each)
}

func (g *Gateway) listRefunds(ctx context.Context, params *stripe.RefundListParams, each func(ListedRefund) error) error {
	params.Limit, params.Context = stripe.Int64(100), ctx
	list := g.api.Refunds.List(params)
	for list.Next() {
		r := list.Refund()
		if err := each(ListedRefund{ProviderRefund: readRefund(r), Created: time.Unix(r.Created, 0)}); err != nil {
			return err
		}
	}
	if err := list.Err(); err != nil {
		return fmt.Errorf("listing refunds: %w", readError(err))
	}
	return nil
}

func madeSince(t time.Time) *stripe.RangeQueryParams {
	if t.IsZero() {
		return nil
	}
	return &stripe.RangeQueryParams{GreaterThanOrEqual: t.Unix()}
}

// maxSearched bounds how many objects one search reads.
const maxSearched = 1000

// errEnough ends a search that has read enough.
var errEnough = errors.New("enough has been read")

// FindIntent looks for the PaymentIntent of an operation among those made since
// a moment, and returns its id, or "" when there is none.
func (g *Gateway) FindIntent(ctx context.Context, op operations.Key, since time.Time) (id string, call operations.Call, err error) {
	read := 0
	call, err = g.search(ctx, func(ctx context.Context) error {
		return g.PaymentIntents(ctx, since, func(pi ListedIntent) error {
			if pi.Operation == op {
				id = pi.ID
			}
			if read++; id != "" || read == maxSearched {
				return errEnough
			}
			return nil
		})
	})
	if call.Result = "none"; id != "" {
		call.Result = id
	}
	return id, call, err
}

// RefundsOf lists the refunds of a PaymentIntent, newest first.
func (g *Gateway) RefundsOf(ctx context.Context, intent string) (refunds []ProviderRefund, call operations.Call, err error) {
	call, err = g.search(ctx, func(ctx context.Context) error {
		return g.listRefunds(ctx, &stripe.RefundListParams{PaymentIntent: stripe.String(intent)}, func(r ListedRefund) error {
			if refunds = append(refunds, r.ProviderRefund); len(refunds) == maxSearched {
				return errEnough
			}
			return nil
		})
	})
	call.Result = fmt.Sprintf("%d listed", len(refunds))
	return refunds, call, err
}

// search reads a list under the same pressure and deadline as any other call,
// and describes it for the timeline.
func (g *Gateway) search(ctx context.Context, read func(context.Context) error) (operations.Call, error) {
	ctx, cancel := context.WithTimeout(ctx, g.timeout)
	defer cancel()
	call := operations.Call{Name: "find"}
	done, paused := g.pressure.admit()
	if paused != nil {
		call.Problem = paused.Error()
		return call, paused
	}
	start := time.Now()
	err := read(ctx)
	call.DurationMS = time.Since(start).Milliseconds()
	if err == nil || errors.Is(err, errEnough) {
		done(nil)
		call.Status = http.StatusOK
		return call, nil
	}
	done(err)
	call.Problem = redact(err.Error())
	if problem, ok := errors.AsType[*ProviderError](err); ok {
		call.RequestID, call.Status = problem.RequestID, problem.Status
	}
	return call, err
}
