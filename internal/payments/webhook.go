package payments

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v76"
	"github.com/stripe/stripe-go/v76/webhook"

	"shop/internal/operations"
)

// tolerance is how old or how far ahead the signature of an event may be.
// Stripe signs each delivery anew (docs/stripe-sim.md).
const tolerance = 5 * time.Minute

// ErrSignature: the event was not signed with any of our secrets, or too long ago.
var ErrSignature = errors.New("the event is not signed with a secret of ours, or not now")

// Event is what we need to know of an event of the provider. What it says about
// amounts and states is not kept: the provider is asked when it matters, so
// neither the order of events nor their age can mislead us.
type Event struct {
	ID            string         `json:"id"`
	Type          string         `json:"type"`
	Created       int64          `json:"created"` // Unix seconds
	APIVersion    string         `json:"api_version"`
	Object        string         `json:"object"`         // id of the object that it is about
	PaymentIntent string         `json:"payment_intent"` // of the payment that it is about; may be empty
	Operation     operations.Key `json:"operation"`      // ours, from the metadata; may be empty
	RequestKey    string         `json:"request_key"`    // idempotency key of the request that caused it; may be empty
}

// Foreign says whether the event was rendered in another version of the API
// than the one that this program was built for.
func (e Event) Foreign() bool { return e.APIVersion != stripe.APIVersion }

// ReadEvent checks the signature of a raw body against each secret, of which
// there are two while one is being rolled, and reads the event. The body must
// be the very bytes that arrived.
func ReadEvent(body []byte, signature string, secrets []string, now time.Time) (Event, error) {
	if tooEarly(signature, now) {
		return Event{}, ErrSignature // ConstructEvent only minds the past
	}
	for _, secret := range secrets {
		event, err := webhook.ConstructEventWithOptions(body, signature, secret,
			webhook.ConstructEventOptions{Tolerance: tolerance, IgnoreAPIVersionMismatch: true})
		if err == nil {
			return readEvent(event)
		}
		if _, ok := errors.AsType[*json.SyntaxError](err); ok {
			return Event{}, fmt.Errorf("reading a signed event: %w", err)
		}
	}
	return Event{}, ErrSignature
}

// tooEarly says whether the signature is dated further ahead than clocks differ.
func tooEarly(signature string, now time.Time) bool {
	for part := range strings.SplitSeq(signature, ",") {
		if text, ok := strings.CutPrefix(part, "t="); ok {
			seconds, err := strconv.ParseInt(text, 10, 64)
			return err != nil || time.Unix(seconds, 0).After(now.Add(tolerance))
		}
	}
	return false
}

func readEvent(e stripe.Event) (Event, error) {
	if e.ID == "" || e.Data == nil {
		return Event{}, errors.New("reading a signed event: it has no id or no data")
	}
	var object struct {
		ID            string            `json:"id"`
		Object        string            `json:"object"`
		PaymentIntent string            `json:"payment_intent"`
		Metadata      map[string]string `json:"metadata"`
	}
	if err := json.Unmarshal(e.Data.Raw, &object); err != nil {
		return Event{}, fmt.Errorf("reading the object of event %s: %w", e.ID, err)
	}
	out := Event{ID: e.ID, Type: string(e.Type), Created: e.Created, APIVersion: e.APIVersion, Object: object.ID,
		PaymentIntent: object.PaymentIntent, Operation: operations.Key(object.Metadata[operationMetadata])}
	if object.Object == "payment_intent" {
		out.PaymentIntent = object.ID
	}
	if e.Request != nil {
		out.RequestKey = e.Request.IdempotencyKey
	}
	if strings.ContainsRune(out.ID+out.Type+out.APIVersion+out.Object+out.PaymentIntent+string(out.Operation)+out.RequestKey, 0) {
		return Event{}, fmt.Errorf("reading event %q: it contains the character NUL", e.ID)
	}
	return out, nil
}
