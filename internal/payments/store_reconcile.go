package payments

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// readCursor returns how far a comparison has read; the zero time when it never has.
func readCursor(ctx context.Context, pool *pgxpool.Pool, name string) (at time.Time, err error) {
	err = pool.QueryRow(ctx, `SELECT at FROM reconciliation_cursors WHERE name = $1`, name).Scan(&at)
	if errors.Is(err, pgx.ErrNoRows) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("reading the cursor %s: %w", name, err)
	}
	return at, nil
}

// moveCursor moves forward only: of two runs at once, the later start wins.
func moveCursor(ctx context.Context, pool *pgxpool.Pool, name string, at time.Time) error {
	if _, err := pool.Exec(ctx, `INSERT INTO reconciliation_cursors (name, at) VALUES ($1, $2)
		ON CONFLICT (name) DO UPDATE SET at = greatest(reconciliation_cursors.at, excluded.at)`, name, at); err != nil {
		return fmt.Errorf("moving the cursor %s: %w", name, err)
	}
	return nil
}

func insertOrphan(ctx context.Context, pool *pgxpool.Pool, pi ListedIntent, note string) error {
	if _, err := pool.Exec(ctx, `INSERT INTO orphan_payments (provider_ref, amount, currency, created_at, note)
		VALUES ($1, $2, $3, $4, $5) ON CONFLICT (provider_ref) DO NOTHING`, pi.ID, pi.Received, pi.Currency, pi.Created, note); err != nil {
		return fmt.Errorf("listing the orphan %s: %w", pi.ID, err)
	}
	return nil
}

// refundIsHere says whether a refund of the provider is in our books in its
// final state, or belongs to no payment of ours.
func refundIsHere(ctx context.Context, q rowQuerier, r ProviderRefund) (here bool, err error) {
	err = q.QueryRow(ctx, `SELECT EXISTS (SELECT FROM refunds WHERE provider_ref = $1 AND state <> 'requested')
		OR NOT EXISTS (SELECT FROM payments WHERE provider_ref = $2)`, r.ID, r.PaymentIntent).Scan(&here)
	if err != nil {
		return false, fmt.Errorf("looking for refund %s: %w", r.ID, err)
	}
	return here, nil
}
