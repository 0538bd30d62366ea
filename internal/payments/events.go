package payments

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"shop/internal/operations"
	"shop/internal/outbox"
)

// EventKind is the kind of the operation that handles an event of the provider.
const EventKind = "stripe-event"

// Events handles what the provider reports. An event never changes an order by
// itself: it makes the charge that it is about be looked at, through the same
// fenced door as everything else. So a duplicate, a late one and any order of
// arrival end in one state.
type Events struct {
	pool *pgxpool.Pool
	ops  *operations.Store
	log  *slog.Logger
}

// NewEvents returns a handler of events.
func NewEvents(pool *pgxpool.Pool, ops *operations.Store, log *slog.Logger) *Events {
	return &Events{pool: pool, ops: ops, log: log}
}

const (
	// eventPatience is how long a delivery waits for another of the same event.
	eventPatience = 2 * time.Second
	// parkFor is how long an event without an order of ours is kept for later.
	parkFor = 10 * time.Minute
	// parkPause is how often a parked event is tried again.
	parkPause = 5 * time.Second
)

// eventResult is the stored answer of an event.
type eventResult struct {
	Charge  operations.Key `json:"charge,omitempty"` // the charge that it made us look at
	Ignored bool           `json:"ignored,omitzero"`
	Orphan  bool           `json:"orphan,omitzero"` // money that no order of ours asked for
	Foreign string         `json:"foreign_api_version,omitempty"`
}

// Receive handles a delivery. nil means that the event is safe with us: it has
// been handled, now or before, or it is parked. After an error it must come again.
//
// Claim, effect and mark commit together; a failure in between leaves nothing,
// so the next delivery starts afresh.
func (s *Events) Receive(ctx context.Context, e Event) error {
	if e.Foreign() {
		s.log.ErrorContext(ctx, "an event came in another version of the API; set the endpoint's version to the one of stripe-go v76",
			"event", e.ID, "type", e.Type, "api_version", e.APIVersion)
	}
	in, err := eventIntent(e)
	if err != nil {
		return err
	}
	_, _, err = s.ops.RunTx(ctx, in, operations.SourceWebhook, eventPatience, func(ctx context.Context, tx pgx.Tx) (operations.Completion, error) {
		return s.apply(ctx, tx, e)
	})
	switch {
	case errors.Is(err, errUnmatched), errors.Is(err, operations.ErrLeaseHeld), errors.Is(err, operations.ErrNotDue):
		// Nothing of ours is known under its name, yet. It may have overtaken
		// our own commit, so it is kept and tried again.
		return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error { return s.ops.Plan(ctx, tx, operations.SourceWebhook, in) })
	case errors.Is(err, operations.ErrFingerprint):
		// The same event in another rendering, from a second endpoint or before a release. We only look, and have looked.
		s.log.WarnContext(ctx, "a known event came again in another form", "event", e.ID)
		return nil
	case errors.Is(err, operations.ErrStuck):
		return nil
	}
	return err
}

func eventIntent(e Event) (operations.Intent, error) {
	return operations.NewIntent(operations.Spec{Kind: EventKind, Identity: map[string]string{"eventId": e.ID},
		SubjectType: "payment_intent", SubjectID: e.PaymentIntent, Params: e})
}

var errUnmatched = errors.New("the event is about no charge that is known here")

// aboutPayments says whether an event can be about a charge of ours.
func aboutPayments(e Event) bool {
	return e.PaymentIntent != "" && (strings.HasPrefix(e.Type, "payment_intent.") || strings.HasPrefix(e.Type, "charge.") || strings.HasPrefix(e.Type, "refund."))
}

// apply makes the charge of an event be looked at. errUnmatched when there is none.
func (s *Events) apply(ctx context.Context, tx pgx.Tx, e Event) (operations.Completion, error) {
	result := eventResult{}
	if e.Foreign() {
		result.Foreign = e.APIVersion
	}
	if !aboutPayments(e) {
		result.Ignored = true
		return operations.Completion{Outcome: operations.Succeeded, Result: result}, nil
	}
	charge, err := s.findCharge(ctx, tx, e)
	if err != nil {
		return operations.Completion{}, err
	}
	result.Charge = charge.Key
	return operations.Completion{Outcome: operations.Succeeded, Result: result}, requestLook(ctx, tx, e, charge)
}

// requestLook makes what the event is about be looked at: the refunds of a
// payment, or the charge.
func requestLook(ctx context.Context, tx pgx.Tx, e Event, charge operations.Operation) error {
	if e.Type == "charge.refunded" || strings.HasPrefix(e.Type, "charge.refund.") || strings.HasPrefix(e.Type, "refund.") {
		return outbox.Append(ctx, tx, TopicRefundsSeen, charge.SubjectType, charge.SubjectID, RefundsSeen{PaymentIntent: e.PaymentIntent})
	}
	return RequestCheck(ctx, tx, charge)
}

// findCharge finds the charge that an event is about, by the operation that its
// metadata names or by the PaymentIntent.
func (s *Events) findCharge(ctx context.Context, q operations.Querier, e Event) (operations.Operation, error) {
	charge, err := s.ops.FindEffect(ctx, q, ChargeKind, e.Operation, e.PaymentIntent)
	if errors.Is(err, operations.ErrNotFound) {
		return charge, errUnmatched
	}
	return charge, err
}

// Apply tries a parked event again. When no order has turned up in time, it is
// kept as an orphan for a person to see, and not tried for ever.
func (s *Events) Apply(ctx context.Context, key operations.Key) error {
	return s.ops.Do(ctx, EventKind, key, operations.ClaimOptions{Source: operations.SourceQueue}, func(ctx context.Context, lease *operations.Lease) error {
		var e Event
		if err := json.Unmarshal(lease.Params, &e); err != nil {
			return s.ops.StickUnreadable(ctx, lease, err)
		}
		charge, err := s.findCharge(ctx, s.pool, e)
		switch {
		case err == nil:
			return s.ops.Complete(ctx, lease, operations.Completion{Outcome: operations.Succeeded, Result: eventResult{Charge: charge.Key}},
				func(ctx context.Context, tx pgx.Tx) error { return requestLook(ctx, tx, e, charge) })
		case !errors.Is(err, errUnmatched):
			return err
		case lease.UpdatedAt.Sub(lease.CreatedAt) < parkFor:
			return s.ops.Wait(ctx, lease, operations.Wait{After: parkPause, Reason: "no order of ours yet"})
		}
		s.log.ErrorContext(ctx, "an event is about no order of ours", "event", e.ID, "type", e.Type, "payment_intent", e.PaymentIntent)
		return s.ops.Complete(ctx, lease, operations.Completion{Outcome: operations.Failed, Result: eventResult{Orphan: true},
			Problem: "no order of ours asked for " + e.PaymentIntent}, nil)
	})
}
