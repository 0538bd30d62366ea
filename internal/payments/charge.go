package payments

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"shop/internal/operations"
	"shop/internal/orders"
)

// Service charges orders.
type Service struct {
	ops     *operations.Store
	orders  *orders.Store
	gateway *Gateway
	policy  Policy
	log     *slog.Logger
}

// Policy holds the times by which payments decide.
type Policy struct {
	// Resend is how long after the first send a call may be repeated with the
	// same key. Stripe keeps keys for at least 24 hours; 0 means 20 hours.
	Resend time.Duration
	// Action is how long a shopper may take to confirm with the bank; 0 means 15 minutes.
	Action time.Duration
}

// NewService returns a service over its stores and the provider.
func NewService(ops *operations.Store, os *orders.Store, g *Gateway, p Policy, log *slog.Logger) *Service {
	return &Service{ops: ops, orders: os, gateway: g, policy: p.withDefaults(), log: log}
}

func (p Policy) withDefaults() Policy {
	if p.Resend == 0 {
		p.Resend = 20 * time.Hour
	}
	if p.Action == 0 {
		p.Action = 15 * time.Minute
	}
	return p
}

// charge is one claimed charge on its way.
type charge struct {
	claimed
	orders *orders.Store
	policy Policy
	log    *slog.Logger
	params ChargeParams
}

// Charge moves the charge with this key as far as it can go now, through the
// one door of operations.Do.
func (s *Service) Charge(ctx context.Context, key operations.Key, o operations.ClaimOptions) error {
	o.Outside = true
	return s.ops.Do(ctx, ChargeKind, key, o, func(ctx context.Context, lease *operations.Lease) error {
		c := charge{claimed: claimed{s.ops, s.gateway, lease}, orders: s.orders, policy: s.policy, log: s.log}
		if err := json.Unmarshal(lease.Params, &c.params); err != nil {
			return s.ops.StickUnreadable(ctx, lease, err)
		}
		return c.drive(ctx)
	})
}

// clockSlack is how far the provider's clock may be behind the database's.
const clockSlack = 10 * time.Minute

// drive takes the charge from wherever it stands to an outcome or a wait.
func (c charge) drive(ctx context.Context) error {
	// Look before leaping: somebody may have been here before us.
	if c.lease.ProviderRef == nil && c.lease.SentBefore {
		err := c.send(ctx, func(ctx context.Context) (string, operations.Call, error) {
			return c.gateway.FindIntent(ctx, c.lease.Key, c.lease.FirstSentAt.Add(-clockSlack))
		})
		if err != nil {
			return c.refused(ctx, err)
		}
	}
	if c.lease.ProviderRef != nil {
		return c.lookUp(ctx, true)
	}
	if c.lease.SentBefore && c.tooOld() {
		return c.ops.Stick(ctx, c.lease, "the provider never answered whether it made a PaymentIntent, lists none, and its memory of the key may be gone", true)
	}
	err := c.send(ctx, func(ctx context.Context) (string, operations.Call, error) {
		pi, call, err := c.gateway.CreateIntent(ctx, c.lease.Key, c.params)
		return pi.ID, call, err
	})
	if err != nil {
		return c.refused(ctx, err)
	}
	return c.confirm(ctx)
}

// tooOld says whether the keys were first sent so long ago that nothing is sent
// again under them.
func (c charge) tooOld() bool { return c.lease.UpdatedAt.Sub(*c.lease.FirstSentAt) > c.policy.Resend }

func (c charge) confirm(ctx context.Context) error {
	var confirmed PaymentIntent
	var call operations.Call
	err := c.send(ctx, func(ctx context.Context) (_ string, _ operations.Call, err error) {
		confirmed, call, err = c.gateway.ConfirmIntent(ctx, c.lease.Key, *c.lease.ProviderRef, c.params)
		return confirmed.ID, call, err
	})
	if err != nil {
		return c.refused(ctx, err)
	}
	if call.Replayed {
		// A stored answer is a picture of the past; ask how it stands today.
		return c.lookUp(ctx, false)
	}
	return c.settle(ctx, confirmed)
}

// lookUp reads the PaymentIntent and decides by what it is today. mayConfirm is
// false after a confirm has just been tried, so that the two never chase each
// other.
func (c charge) lookUp(ctx context.Context, mayConfirm bool) error {
	var found PaymentIntent
	err := c.send(ctx, func(ctx context.Context) (_ string, call operations.Call, err error) {
		found, call, err = c.gateway.RetrieveIntent(ctx, *c.lease.ProviderRef)
		return found.ID, call, err
	})
	if err != nil {
		return c.refused(ctx, err)
	}
	unconfirmed := found.Status == "requires_confirmation" || found.Status == "requires_payment_method"
	if unconfirmed && found.LastError == nil {
		if c.tooOld() {
			// Nothing was charged, and nobody expects it any more: a confirm whose key the provider forgets would charge the card a day late.
			return c.cancelThen(ctx, ending{Outcome: operations.Canceled, DeclineCode: "provider_unavailable",
				Problem: "the provider did not confirm the PaymentIntent in time", Reason: "The payment could not be made in time. Nothing was charged."})
		}
		if mayConfirm {
			return c.confirm(ctx)
		}
		return c.park(ctx, VerdictUnknown, &ProviderError{Message: fmt.Sprintf("the PaymentIntent %s is %s although a confirm was answered", found.ID, found.Status)})
	}
	return c.settle(ctx, found)
}
