package payments

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"shop/internal/operations"
	"shop/internal/outbox"
)

// Reconciler compares what the provider lists with what is here. It repairs
// nothing by itself: what is behind is sent through its own door, and what is
// nobody's is listed for a person.
type Reconciler struct {
	pool    *pgxpool.Pool
	ops     *operations.Store
	gateway *Gateway
	log     *slog.Logger
}

// NewReconciler returns a reconciler over its stores and the provider.
func NewReconciler(pool *pgxpool.Pool, ops *operations.Store, g *Gateway, log *slog.Logger) *Reconciler {
	return &Reconciler{pool: pool, ops: ops, gateway: g, log: log}
}

// Reconciliation is what one run has found.
type Reconciliation struct {
	Since    time.Time `json:"since"`
	Compared int       `json:"compared"` // PaymentIntents and refunds read
	Behind   []string  `json:"behind"`   // those whose operation here is not done, now looked at again
	Refunds  []string  `json:"refunds"`  // PaymentIntents whose refunds are not all here, now compared
	Orphans  []string  `json:"orphans"`  // succeeded PaymentIntents that no operation here asked for
}

const (
	cursorName = "stripe"
	// overlap is how far a run reads back behind the last one: a PaymentIntent may succeed long after it was made.
	overlap = 26 * time.Hour
)

// Run compares everything that was made at the provider since the last run, and
// a day before it. The cursor moves only when all has been read.
func (r *Reconciler) Run(ctx context.Context) (Reconciliation, error) {
	started, err := r.ops.Now(ctx)
	if err != nil {
		return Reconciliation{}, err
	}
	since, err := readCursor(ctx, r.pool, cursorName)
	if err != nil {
		return Reconciliation{}, err
	}
	if !since.IsZero() {
		since = since.Add(-overlap)
	}
	report, err := r.Since(ctx, since)
	if err != nil {
		return report, err
	}
	return report, moveCursor(ctx, r.pool, cursorName, started)
}

// Since compares everything that was made at the provider since a moment; the
// zero time compares all there is.
func (r *Reconciler) Since(ctx context.Context, since time.Time) (Reconciliation, error) {
	report := Reconciliation{Since: since, Behind: []string{}, Refunds: []string{}, Orphans: []string{}}
	err := r.gateway.PaymentIntents(ctx, since, func(pi ListedIntent) error {
		report.Compared++
		return r.compareIntent(ctx, pi, &report)
	})
	if err != nil {
		return report, err
	}
	behind := map[string]bool{}
	err = r.gateway.Refunds(ctx, since, func(refund ListedRefund) error {
		report.Compared++
		here, err := refundIsHere(ctx, r.pool, refund.ProviderRefund)
		if err != nil || here || behind[refund.PaymentIntent] {
			return err
		}
		behind[refund.PaymentIntent] = true
		report.Refunds = append(report.Refunds, refund.PaymentIntent)
		return pgx.BeginFunc(ctx, r.pool, func(tx pgx.Tx) error {
			return outbox.Append(ctx, tx, TopicRefundsSeen, "payment_intent", refund.PaymentIntent, RefundsSeen{PaymentIntent: refund.PaymentIntent})
		})
	})
	return report, err
}

// compareIntent asks for a look at a charge that is behind, and lists money that
// nobody here asked for.
func (r *Reconciler) compareIntent(ctx context.Context, pi ListedIntent, report *Reconciliation) error {
	charge, err := r.ops.FindEffect(ctx, r.pool, ChargeKind, pi.Operation, pi.ID)
	if errors.Is(err, operations.ErrNotFound) {
		if pi.Status != "succeeded" {
			return nil // no money has moved
		}
		report.Orphans = append(report.Orphans, pi.ID)
		r.log.ErrorContext(ctx, "money came in that no order of ours asked for", "payment_intent", pi.ID, "amount", pi.Received, "currency", pi.Currency)
		return insertOrphan(ctx, r.pool, pi, "no operation here asked for it")
	}
	if err != nil {
		return err
	}
	settled := pi.Status == "succeeded" || pi.Status == "canceled"
	if charge.State == operations.Done {
		if pi.Status == "succeeded" && !charge.Succeeded() {
			report.Orphans = append(report.Orphans, pi.ID)
			r.log.ErrorContext(ctx, "a charge that was over here has succeeded at the provider", "payment_intent", pi.ID, "op_key", charge.Key)
			return insertOrphan(ctx, r.pool, pi, fmt.Sprintf("its charge is done here as %s", *charge.Outcome))
		}
		return nil
	}
	if !settled || charge.State == operations.Running {
		return nil
	}
	report.Behind = append(report.Behind, pi.ID)
	return pgx.BeginFunc(ctx, r.pool, func(tx pgx.Tx) error { return RequestCheck(ctx, tx, charge) })
}
