// Package verify checks from outside that every effect happened once: the
// invariants I1 to I8 of the design, over our tables and the provider's lists.
//
// It trusts nothing that the program remembers about the provider. The provider
// is read first, into temporary tables; then one read-only snapshot of our side
// is compared with them. In that order whatever the provider shows was intended
// here before, so a shop at work raises no false alarm: what has changed here
// since the provider was read is marked as pending and judged the next time.
package verify

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"shop/internal/orders"
	"shop/internal/payments"
	"shop/internal/receipts"
)

// Provider is what has to be known of the provider's side. Both methods give
// what was made since a moment, and everything for the zero time.
type Provider interface {
	PaymentIntents(ctx context.Context, since time.Time, each func(payments.ListedIntent) error) error
	Refunds(ctx context.Context, since time.Time, each func(payments.ListedRefund) error) error
}

// Sources says where to look.
type Sources struct {
	Pool     *pgxpool.Pool
	Provider Provider
	// Since leaves out orders and PaymentIntents made before it, for an account
	// that has been used by others too. The zero time leaves out nothing.
	Since time.Time
	// Simulator is read too when its URL is set: it remembers the key of each request.
	Simulator Simulator
	// InboxURL is the origin of the local inbox; empty when receipts go elsewhere.
	InboxURL string
	// Strict takes a second copy of a receipt under the same Message-ID for a
	// violation. SMTP cannot rule it out, so it is a note otherwise.
	Strict bool
}

// look is one run of the checks.
type look struct {
	Sources
	tx pgx.Tx
	// args are the named arguments of every statement.
	args pgx.NamedArgs
}

// check is one invariant.
type check struct {
	id, title string
	run       func(context.Context, *look, *Result) error
}

var checks = []check{
	{"I1", "a paid order has exactly one succeeded PaymentIntent, over its amount and currency", checkPaidOrders},
	{"I2", "no succeeded PaymentIntent lacks a paid order", checkSucceededIntents},
	{"I3", "an order is paid when, and only when, one charge succeeded and one payment is booked", checkBooks},
	{"I4", "no outbox message is lost: each is pending or has led to its operation", checkMessages},
	{"I5", "at most one receipt of an order reached the inbox", checkReceipts},
	{"I6", "no result was written under any fence but the last", checkFences},
	{"I7", "the keys that the provider saw are the keys that our operations derive", checkKeys},
	{"I8", "refunds at the provider are the refunds here, and never above the charge", checkRefunds},
}

// Run checks every invariant once. A violation is in the report; the error says
// that one of the two sides could not be read.
func Run(ctx context.Context, s Sources) (Report, error) {
	pooled, err := s.Pool.Acquire(ctx)
	if err != nil {
		return Report{}, fmt.Errorf("connecting to the database: %w", err)
	}
	// The temporary tables end with the connection, so it does not go back.
	conn := pooled.Hijack()
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()

	report := Report{}
	if err := conn.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&report.CheckedAt); err != nil {
		return Report{}, fmt.Errorf("reading the database clock: %w", err)
	}
	if err := spool(ctx, conn, s); err != nil {
		return Report{}, err
	}
	err = pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		l := &look{Sources: s, tx: tx, args: pgx.NamedArgs{"seen": report.CheckedAt, "since": s.Since,
			"charge": payments.ChargeKind, "receipt": receipts.Kind, "refund": payments.RefundKind, "placed": orders.TopicPlaced, "paid": orders.TopicPaid,
			"refund_requested": payments.TopicRefundRequested}}
		if report.Open, err = countOpen(ctx, tx); err != nil {
			return err
		}
		for _, c := range checks {
			result := Result{ID: c.id, Title: c.title, Violations: []Violation{}, Unsettled: []Violation{}, Notes: []string{}}
			if err := c.run(ctx, l, &result); err != nil {
				return fmt.Errorf("checking %s: %w", c.id, err)
			}
			result.OK = result.Failed == 0
			report.Results = append(report.Results, result)
		}
		return nil
	})
	if err != nil {
		return Report{}, err
	}
	report.Drained = report.Open == Open{Stuck: report.Open.Stuck}
	return report, nil
}

// tally runs a statement that returns a row for each thing that is not as it
// should be: its name, what is wrong, and whether time may still heal it.
func (l *look) tally(ctx context.Context, r *Result, sql string) error {
	rows, err := l.tx.Query(ctx, sql, l.args)
	if err != nil {
		return err
	}
	var v Violation
	var pending bool
	_, err = pgx.ForEachRow(rows, []any{&v.Subject, &v.Detail, &pending}, func() error {
		r.add(v, pending)
		return nil
	})
	return err
}

// count adds the number that a statement returns to what was checked.
func (l *look) count(ctx context.Context, r *Result, sql string) error {
	var n int64
	err := l.tx.QueryRow(ctx, sql, l.args).Scan(&n)
	r.Checked += n
	return err
}
