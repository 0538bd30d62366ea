package database

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"shop/migrations"
)

// migrationLock is the advisory lock under which a schema is changed, so that
// two processes which start together take turns.
const migrationLock = 0x5_40_9

// Migrate brings our schema and River's up to date and reports how many steps
// it took. A crash in the middle leaves whole steps only: each runs in its own
// transaction, and the next call goes on from there.
func Migrate(ctx context.Context, pool *pgxpool.Pool) (applied int, err error) {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return 0, fmt.Errorf("acquiring a connection for migrations: %w", err)
	}
	defer conn.Release()
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1)", migrationLock); err != nil {
		return 0, fmt.Errorf("taking the migration lock: %w", err)
	}
	defer func() {
		// The lock belongs to the session: it must not travel back into the pool.
		if _, unlockErr := conn.Exec(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1)", migrationLock); unlockErr != nil && err == nil {
			err = fmt.Errorf("giving back the migration lock: %w", unlockErr)
		}
	}()

	db := stdlib.OpenDBFromPool(pool)
	defer db.Close()
	provider, err := goose.NewProvider(goose.DialectPostgres, db, migrations.Files)
	if err != nil {
		return 0, fmt.Errorf("reading the migrations: %w", err)
	}
	results, err := provider.Up(ctx)
	if err != nil {
		return len(results), fmt.Errorf("migrating the schema: %w", err)
	}
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), nil)
	if err != nil {
		return len(results), fmt.Errorf("preparing River's migrations: %w", err)
	}
	river, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
	if err != nil {
		return len(results), fmt.Errorf("migrating River's schema: %w", err)
	}
	return len(results) + len(river.Versions), nil
}
