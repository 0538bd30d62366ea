package demo

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"shop/internal/money"
)

// announceSQL reads orders that were placed or have moved since a moment.
const announceSQL = `
SELECT o.id, o.total, o.currency, o.state, coalesce(o.state_reason, '') AS reason, o.placed_at, r.sent_at, coalesce(r.recipient, '') AS recipient
FROM orders o LEFT JOIN receipts r ON r.order_id = o.id AND r.kind = 'paid'
WHERE o.id > $1 OR o.id = ANY($2) ORDER BY o.id LIMIT 500`

type orderRow struct {
	ID        int64
	Total     int64
	Currency  string
	State     string
	Reason    string
	PlacedAt  time.Time
	SentAt    *time.Time
	Recipient string
}

// announcer prints a line for each order as it is placed and another when it
// has come to its end.
type announcer struct {
	pool *pgxpool.Pool
	log  *slog.Logger
	teller
}

// newAnnouncer looks for the last order that there is; those that come after
// it are announced. It is made before anybody is told that the shop is open.
func newAnnouncer(ctx context.Context, databaseURL string, out io.Writer, log *slog.Logger) (*announcer, error) {
	cfg, err := pgxpool.ParseConfig(databaseURL)
	if err != nil {
		return nil, fmt.Errorf("reading the database URL: %w", err)
	}
	cfg.MaxConns = 1
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("opening the database: %w", err)
	}
	a := &announcer{pool: pool, log: log, teller: teller{out: out, open: map[int64]string{}}}
	if err := pool.QueryRow(ctx, `SELECT coalesce(max(id), 0) FROM orders`).Scan(&a.newest); err != nil {
		pool.Close()
		return nil, fmt.Errorf("looking for the last order: %w", err)
	}
	return a, nil
}

// run announces until ctx ends. The database may be away for a while.
func (a *announcer) run(ctx context.Context) {
	defer a.pool.Close()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		rows, _ := a.pool.Query(ctx, announceSQL, a.newest, a.openIDs())
		found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[orderRow])
		if err != nil {
			a.log.Debug("looking for orders", "error", err)
			continue
		}
		for _, o := range found {
			a.tell(o)
		}
	}
}

// teller remembers what it has said.
type teller struct {
	out    io.Writer
	newest int64
	open   map[int64]string // orders that have not come to their end, and what was said of them
}

func (t *teller) openIDs() []int64 {
	ids := make([]int64, 0, len(t.open))
	for id := range t.open {
		ids = append(ids, id)
	}
	return ids
}

func (t *teller) tell(o orderRow) {
	t.newest = max(t.newest, o.ID)
	said := t.open[o.ID]
	state := o.State
	switch {
	case o.SentAt != nil:
		state = fmt.Sprintf("paid, receipt sent to %s after %.1f s", o.Recipient, o.SentAt.Sub(o.PlacedAt).Seconds())
		delete(t.open, o.ID)
	case o.State == "payment_failed":
		state = "not paid: " + o.Reason
		t.open[o.ID] = state // another card may be tried
	case o.State == "paid":
		t.open[o.ID] = said // the line that matters comes with the receipt
		return
	default:
		t.open[o.ID] = state
	}
	if state == said {
		return
	}
	total := money.Money{Amount: o.Total, Currency: o.Currency}
	fmt.Fprintf(t.out, "  %s  order %d  %s  %s\n", time.Now().Format("15:04:05"), o.ID, total, state)
}
