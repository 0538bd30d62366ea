package payments

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"shop/internal/operations"
	"shop/internal/orders"
	"shop/internal/outbox"
)

// Refunds gives money back.
type Refunds struct {
	pool    *pgxpool.Pool
	ops     *operations.Store
	gateway *Gateway
	policy  Policy
	log     *slog.Logger
}

// NewRefunds returns a service over its stores and the provider.
func NewRefunds(pool *pgxpool.Pool, ops *operations.Store, g *Gateway, p Policy, log *slog.Logger) *Refunds {
	return &Refunds{pool: pool, ops: ops, gateway: g, policy: p.withDefaults(), log: log}
}

// RefundResult is the stored answer of a refund.
type RefundResult struct {
	Refund   string `json:"refund"`
	Amount   int64  `json:"amount"` // minor units
	Currency string `json:"currency"`
}

// refund is one claimed refund on its way.
type refund struct {
	claimed
	params RefundParams
	policy Policy
	log    *slog.Logger
}

// Refund moves the refund with this key as far as it can go now, through the
// one door of operations.Do.
func (s *Refunds) Refund(ctx context.Context, key operations.Key, o operations.ClaimOptions) error {
	o.Outside = true
	return s.ops.Do(ctx, RefundKind, key, o, func(ctx context.Context, lease *operations.Lease) error {
		r := refund{claimed: claimed{s.ops, s.gateway, lease}, policy: s.policy, log: s.log}
		if err := json.Unmarshal(lease.Params, &r.params); err != nil {
			return s.ops.StickUnreadable(ctx, lease, err)
		}
		return r.drive(ctx)
	})
}

// drive takes the refund from wherever it stands to an outcome or a wait.
func (r refund) drive(ctx context.Context) error {
	var found ProviderRefund
	if r.lease.ProviderRef == nil && r.lease.SentBefore {
		err := r.send(ctx, func(ctx context.Context) (string, operations.Call, error) {
			all, call, err := r.gateway.RefundsOf(ctx, r.params.PaymentIntent)
			for _, one := range all {
				if one.Operation == r.lease.Key {
					found, call.Result = one, one.Status
				}
			}
			return found.ID, call, err
		})
		if err != nil {
			return r.refused(ctx, err)
		}
		if found.ID != "" {
			return r.settle(ctx, found)
		}
		if r.lease.UpdatedAt.Sub(*r.lease.FirstSentAt) > r.policy.Resend {
			return r.ops.Stick(ctx, r.lease, "the provider never answered whether it made a refund, lists none, and its memory of the key may be gone", true)
		}
	}
	err := r.send(ctx, func(ctx context.Context) (_ string, call operations.Call, err error) {
		if r.lease.ProviderRef != nil {
			found, call, err = r.gateway.RetrieveRefund(ctx, *r.lease.ProviderRef)
		} else {
			found, call, err = r.gateway.CreateRefund(ctx, r.lease.Key, r.params)
		}
		return found.ID, call, err
	})
	if err != nil {
		return r.refused(ctx, err)
	}
	return r.settle(ctx, found)
}

// settle records what the status of a refund means.
func (r refund) settle(ctx context.Context, found ProviderRefund) error {
	if found.Amount != r.params.Amount || found.Currency != r.params.Currency {
		return r.ops.Stick(ctx, r.lease, fmt.Sprintf("the refund %s gives back %d %s, and %d %s was asked for", found.ID, found.Amount,
			found.Currency, r.params.Amount, r.params.Currency), false)
	}
	switch found.Status {
	case "succeeded":
		return r.over(ctx, operations.Succeeded, found.ID, "")
	case "failed", "canceled":
		return r.over(ctx, operations.Failed, found.ID, "the provider says that the refund "+found.Status)
	}
	return r.ops.Wait(ctx, r.lease, operations.Wait{After: refundPoll, Reason: "the provider is processing"})
}

// refused acts on an error of a call.
func (r refund) refused(ctx context.Context, err error) error {
	if errors.Is(err, operations.ErrLeaseLost) {
		return err
	}
	verdict, problem := judge(err, r.lease.SentBefore)
	switch {
	case verdict == VerdictBug && refusesRefund(problem):
		// A definite no: the money stays where it is, and the amount is free for another request.
		return r.over(ctx, operations.Failed, "", problem.Error())
	case verdict == VerdictBug, verdict == VerdictDeclined, verdict == VerdictLookUp:
		r.log.ErrorContext(ctx, "the provider refused our refund", "op_key", r.lease.Key, "problem", problem.Error())
		return r.ops.Stick(ctx, r.lease, "the provider refused our request as wrong: "+problem.Error(), r.lease.SentBefore)
	}
	return r.park(ctx, verdict, problem)
}

// refusesRefund recognises a refund that cannot be made: nothing is left, or
// the charge is disputed (docs/stripe-sim.md).
func refusesRefund(e *ProviderError) bool {
	return e.Code == "charge_already_refunded" || e.Code == "charge_disputed" || e.Param == "amount"
}

// over ends the refund: operation, row and message in one transaction.
func (r refund) over(ctx context.Context, outcome operations.Outcome, ref, problem string) error {
	state, topic := "succeeded", TopicRefunded
	if outcome != operations.Succeeded {
		state, topic = "failed", TopicRefundFailed
	}
	return r.ops.Complete(ctx, r.lease, operations.Completion{Outcome: outcome, ProviderRef: ref, Problem: problem,
		Result: RefundResult{Refund: ref, Amount: r.params.Amount, Currency: r.params.Currency}},
		func(ctx context.Context, tx pgx.Tx) error {
			if err := settleRefund(ctx, tx, r.lease.Key, state, ref); err != nil {
				return err
			}
			return outbox.Append(ctx, tx, topic, orders.SubjectType, fmt.Sprint(r.params.OrderID), r.params)
		})
}
