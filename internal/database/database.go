// Package database opens the pool and brings the schema up to date.
package database

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Options tune a pool. The zero value is right for one process on a small machine.
type Options struct {
	// MaxConns is the most connections that the pool opens; 0 means 12. More
	// connections than a few per core make PostgreSQL slower, not faster.
	MaxConns int32
	// Name is shown in pg_stat_activity.
	Name string
}

// Open returns a pool after one successful round trip, or an error that says
// which database did not answer. The password is not part of the error.
func Open(ctx context.Context, url string, o Options) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("reading the database URL: %w", err)
	}
	cfg.MaxConns = 12
	if o.MaxConns > 0 {
		cfg.MaxConns = o.MaxConns
	}
	cfg.MaxConnIdleTime = 5 * time.Minute
	if cfg.ConnConfig.ConnectTimeout == 0 {
		cfg.ConnConfig.ConnectTimeout = 5 * time.Second
	}
	if o.Name != "" {
		cfg.ConnConfig.RuntimeParams["application_name"] = o.Name
	}
	// Every instant leaves the database in UTC; only a page turns it into somebody's local time.
	cfg.ConnConfig.RuntimeParams["timezone"] = "UTC"
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("opening the database pool: %w", err)
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, fmt.Errorf("reaching the database %q at %s:%d: %w",
			cfg.ConnConfig.Database, cfg.ConnConfig.Host, cfg.ConnConfig.Port, err)
	}
	return pool, nil
}
