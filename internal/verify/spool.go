package verify

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"shop/internal/payments"
)

// clockSlack is how far the provider's clock may be behind the database's.
const clockSlack = 10 * time.Minute

// spoolSQL makes the tables that hold the other side. They live in memory of
// the database session or on its disk, so neither side has to fit in ours.
const spoolSQL = `
CREATE TEMPORARY TABLE provider_intents (id text, status text, amount bigint, received bigint, refunded bigint,
	currency text, operation text, order_ref text, created timestamptz);
CREATE TEMPORARY TABLE provider_refunds (id text, status text, intent text, amount bigint, currency text, operation text,
	created timestamptz);
CREATE TEMPORARY TABLE provider_requests (id text, endpoint text, key text, object text);
CREATE TEMPORARY TABLE inbox_mails (message_id text, recipient text, subject text, received timestamptz);`

// spool copies what the provider, the simulator and the inbox show.
func spool(ctx context.Context, conn *pgx.Conn, s Sources) error {
	if _, err := conn.Exec(ctx, spoolSQL); err != nil {
		return fmt.Errorf("making temporary tables: %w", err)
	}
	since := s.Since
	if !since.IsZero() {
		since = since.Add(-clockSlack)
	}
	intents := newCopier(conn, "provider_intents", "id", "status", "amount", "received", "refunded", "currency", "operation", "order_ref", "created")
	if err := s.Provider.PaymentIntents(ctx, since, func(pi payments.ListedIntent) error {
		return intents.add(ctx, pi.ID, pi.Status, pi.Amount, pi.Received, pi.Refunded, pi.Currency, string(pi.Operation), pi.Metadata["order"], pi.Created)
	}); err != nil {
		return err
	}
	refunds := newCopier(conn, "provider_refunds", "id", "status", "intent", "amount", "currency", "operation", "created")
	if err := s.Provider.Refunds(ctx, since, func(r payments.ListedRefund) error {
		return refunds.add(ctx, r.ID, r.Status, r.PaymentIntent, r.Amount, r.Currency, string(r.Operation), r.Created)
	}); err != nil {
		return err
	}
	requests := newCopier(conn, "provider_requests", "id", "endpoint", "key", "object")
	if err := s.Simulator.changes(ctx, s.Since, func(r simRequest) error {
		return requests.add(ctx, r.ID, r.Endpoint, r.Key, r.Object)
	}); err != nil {
		return err
	}
	mails := newCopier(conn, "inbox_mails", "message_id", "recipient", "subject", "received")
	if err := readInbox(ctx, s.InboxURL, func(m inboxMail) error {
		for _, to := range m.To {
			if err := mails.add(ctx, m.MessageID, to, m.Subject, m.ReceivedAt); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	for _, c := range []*copier{intents, refunds, requests, mails} {
		if err := c.flush(ctx); err != nil {
			return err
		}
	}
	// Without it the planner takes the tables for nearly empty.
	if _, err := conn.Exec(ctx, `ANALYZE provider_intents, provider_refunds, provider_requests, inbox_mails`); err != nil {
		return fmt.Errorf("analysing temporary tables: %w", err)
	}
	return nil
}

// copyPage is how many rows go to the database at a time.
const copyPage = 1000

// copier fills a table page by page.
type copier struct {
	conn    *pgx.Conn
	table   string
	columns []string
	rows    [][]any
}

func newCopier(conn *pgx.Conn, table string, columns ...string) *copier {
	return &copier{conn: conn, table: table, columns: columns}
}

func (c *copier) add(ctx context.Context, row ...any) error {
	if c.rows = append(c.rows, row); len(c.rows) < copyPage {
		return nil
	}
	return c.flush(ctx)
}

func (c *copier) flush(ctx context.Context) error {
	if _, err := c.conn.CopyFrom(ctx, pgx.Identifier{"pg_temp", c.table}, c.columns, pgx.CopyFromRows(c.rows)); err != nil {
		return fmt.Errorf("copying %d rows to %s: %w", len(c.rows), c.table, err)
	}
	c.rows = c.rows[:0]
	return nil
}
