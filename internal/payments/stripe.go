package payments

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/stripe/stripe-go/v76"
	"github.com/stripe/stripe-go/v76/client"

	"shop/internal/operations"
)

// GatewayConfig says how Stripe is reached.
type GatewayConfig struct {
	SecretKey string
	BaseURL   string        // "" is the real Stripe
	Timeout   time.Duration // of one HTTP call; it must be shorter than the lease
}

// Gateway speaks to Stripe through stripe-go v76, one client an instance: the
// package-level key and backends of the library are shared by a whole process.
type Gateway struct {
	api      *client.API
	timeout  time.Duration
	pressure *pressure
}

// NewGateway returns a gateway. Retries are left to the operations: a library
// that sleeps and retries on its own would outlive the lease (docs/stripe-sim.md).
func NewGateway(c GatewayConfig) *Gateway {
	backend := &stripe.BackendConfig{
		HTTPClient:        &http.Client{Timeout: c.Timeout, Transport: keyedTransport{base: newTransport()}},
		MaxNetworkRetries: stripe.Int64(0),
		EnableTelemetry:   stripe.Bool(false),
		// What goes wrong is recorded, redacted, on the operation's timeline.
		LeveledLogger: &stripe.LeveledLogger{Level: stripe.LevelNull},
	}
	if c.BaseURL != "" {
		backend.URL = stripe.String(c.BaseURL)
	}
	b := stripe.GetBackendWithConfig(stripe.APIBackend, backend)
	return &Gateway{api: client.New(c.SecretKey, &stripe.Backends{API: b, Uploads: b, Connect: b}), timeout: c.Timeout, pressure: newPressure()}
}

func newTransport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = 64
	return t
}

// net/http repeats a request by itself when a kept connection breaks before the
// answer, but only one that carries an Idempotency-Key: the same key and body,
// within the same deadline, so it is the repeat that the operation would make.

// keyedTransport refuses to send a change without an idempotency key.
// stripe-go sends none when a call is made with nil parameters.
type keyedTransport struct{ base http.RoundTripper }

var errNoKey = errors.New("refusing to send a POST to the provider without an Idempotency-Key; pass a CallKey")

func (t keyedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPost && r.Header.Get("Idempotency-Key") == "" {
		return nil, errNoKey
	}
	return t.base.RoundTrip(r)
}

// Timeout is how long one call may take at most.
func (g *Gateway) Timeout() time.Duration { return g.timeout }

// PaymentIntent is what we need to know of Stripe's object.
type PaymentIntent struct {
	ID        string
	Status    string
	Amount    int64 // minor units
	Received  int64 // minor units
	Currency  string
	Charge    string // the latest charge; may be empty
	ActionURL string // where the shopper confirms with the bank; may be empty
	LastError *ProviderError
}

// CreateIntent makes the PaymentIntent of a charge without confirming it.
// Create first, confirm second: a confirm that is repeated after Stripe forgot
// its key is refused on a paid PaymentIntent, while a one-call create and
// confirm would be a new charge (docs/stripe-sim.md).
func (g *Gateway) CreateIntent(ctx context.Context, op operations.Key, p ChargeParams) (PaymentIntent, operations.Call, error) {
	params := &stripe.PaymentIntentParams{
		Amount: stripe.Int64(p.Amount), Currency: stripe.String(p.Currency), Description: stripe.String(p.Description),
		PaymentMethodTypes: stripe.StringSlice(p.MethodTypes),
	}
	for k, v := range p.Metadata {
		params.AddMetadata(k, v)
	}
	return g.call(ctx, &params.Params, "create", op.Call("create"), func() (*stripe.PaymentIntent, error) {
		return g.api.PaymentIntents.New(params)
	})
}

// ConfirmIntent asks for the money.
func (g *Gateway) ConfirmIntent(ctx context.Context, op operations.Key, id string, p ChargeParams) (PaymentIntent, operations.Call, error) {
	params := &stripe.PaymentIntentConfirmParams{}
	if p.Method.ConfirmationToken != "" {
		params.ConfirmationToken = stripe.String(p.Method.ConfirmationToken)
	} else {
		params.PaymentMethod = stripe.String(p.Method.PaymentMethod)
	}
	if p.ReturnURL != "" {
		params.ReturnURL = stripe.String(p.ReturnURL)
	}
	return g.call(ctx, &params.Params, "confirm", op.Call("confirm"), func() (*stripe.PaymentIntent, error) {
		return g.api.PaymentIntents.Confirm(id, params)
	})
}

// CancelIntent takes a PaymentIntent back before it is paid. It moves no money
// and a PaymentIntent is canceled once, so each holder of the lease has a key of
// its own: one that is bound to a stored 500 would hold a decline back for a day.
func (g *Gateway) CancelIntent(ctx context.Context, op operations.Key, fence int64, id string) (PaymentIntent, operations.Call, error) {
	params := &stripe.PaymentIntentCancelParams{CancellationReason: stripe.String("abandoned")}
	return g.call(ctx, &params.Params, "cancel", op.Call(fmt.Sprintf("cancel-%d", fence)), func() (*stripe.PaymentIntent, error) {
		return g.api.PaymentIntents.Cancel(id, params)
	})
}

// RetrieveIntent reads a PaymentIntent; it changes nothing and needs no key.
func (g *Gateway) RetrieveIntent(ctx context.Context, id string) (PaymentIntent, operations.Call, error) {
	params := &stripe.PaymentIntentParams{}
	return g.call(ctx, &params.Params, "retrieve", operations.CallKey{}, func() (*stripe.PaymentIntent, error) {
		return g.api.PaymentIntents.Get(id, params)
	})
}

// call is exchange for a PaymentIntent.
func (g *Gateway) call(ctx context.Context, params *stripe.Params, name string, key operations.CallKey,
	do func() (*stripe.PaymentIntent, error)) (PaymentIntent, operations.Call, error) {
	pi, call, err := exchange(ctx, g, params, name, key, do)
	if err != nil {
		return PaymentIntent{}, call, err
	}
	call.Result = string(pi.Status)
	answered(&call, pi.LastResponse)
	return readIntent(pi), call, nil
}

// exchange runs one request and describes it for the timeline. The error is a
// *ProviderError always: whatever the library returns is read here and nowhere
// else, because the text of its card errors contains the client secret.
func exchange[T any](ctx context.Context, g *Gateway, params *stripe.Params, name string, key operations.CallKey,
	do func() (T, error)) (out T, call operations.Call, err error) {
	ctx, cancel := context.WithTimeout(ctx, g.timeout)
	defer cancel()
	params.Context = ctx
	call = operations.Call{Name: name, Key: key.String()}
	if call.Key != "" {
		params.SetIdempotencyKey(call.Key)
	}
	done, paused := g.pressure.admit()
	if paused != nil {
		call.Problem = paused.Error()
		return out, call, paused
	}
	start := time.Now()
	out, err = do()
	call.DurationMS = time.Since(start).Milliseconds()
	if err != nil {
		problem := readError(err)
		done(problem)
		call.RequestID, call.Status, call.Replayed, call.Problem = problem.RequestID, problem.Status, problem.Replayed, problem.Error()
		return out, call, problem
	}
	done(nil)
	return out, call, nil
}

// answered completes the description of a call with its answer.
func answered(call *operations.Call, r *stripe.APIResponse) {
	if r != nil {
		call.RequestID, call.Status, call.Replayed = r.RequestID, r.StatusCode, replayed(r.Header)
	}
}

func replayed(h http.Header) bool { return h.Get("Idempotent-Replayed") == "true" }

func readIntent(pi *stripe.PaymentIntent) PaymentIntent {
	out := PaymentIntent{ID: pi.ID, Status: string(pi.Status), Amount: pi.Amount, Received: pi.AmountReceived,
		Currency: string(pi.Currency)}
	if pi.LatestCharge != nil {
		out.Charge = pi.LatestCharge.ID
	}
	if pi.NextAction != nil && pi.NextAction.RedirectToURL != nil {
		out.ActionURL = pi.NextAction.RedirectToURL.URL
	}
	if pi.LastPaymentError != nil {
		e := readStripeError(pi.LastPaymentError)
		out.LastError = &e
	}
	return out
}

func readError(err error) *ProviderError {
	stripeErr, ok := errors.AsType[*stripe.Error](err)
	if !ok {
		// No answer that could be read: the effect may have happened.
		return &ProviderError{Message: redact(fmt.Sprintf("no usable answer: %v", err)), NotSent: errors.Is(err, errNoKey)}
	}
	e := readStripeError(stripeErr)
	return &e
}

func readStripeError(e *stripe.Error) ProviderError {
	out := ProviderError{Type: string(e.Type), Code: string(e.Code), DeclineCode: string(e.DeclineCode), Param: e.Param,
		Message: redact(e.Msg), Status: e.HTTPStatusCode, RequestID: e.RequestID, Answered: true}
	if e.LastResponse != nil {
		out.Replayed = replayed(e.LastResponse.Header)
	}
	return out
}
