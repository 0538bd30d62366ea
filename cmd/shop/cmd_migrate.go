package main

import (
	"context"
	"fmt"
	"time"

	"shop/internal/database"
	"shop/internal/orders"
)

type migrateCmd struct {
	Seed bool     `name:"seed" env:"SHOP_SEED" help:"Write the sample catalogue too."`
	Wait duration `name:"wait" env:"SHOP_MIGRATE_WAIT" default:"30s" help:"How long to wait for the database to answer."`

	databaseConfig
	storeConfig
}

// Validate is called by the parser.
func (c *migrateCmd) Validate() error {
	if err := c.databaseConfig.Validate(); err != nil {
		return err
	}
	return c.storeConfig.Validate()
}

// Run migrates, and seeds when asked to. Running it again changes nothing.
func (c *migrateCmd) Run(ctx context.Context, e *env) error {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(c.Wait))
	defer cancel()
	pool, err := database.Open(ctx, c.DatabaseURL, database.Options{Name: "shop migrate"})
	for err != nil {
		select {
		case <-ctx.Done():
			return err
		case <-time.After(300 * time.Millisecond):
		}
		next, nextErr := database.Open(ctx, c.DatabaseURL, database.Options{Name: "shop migrate"})
		if nextErr != nil && ctx.Err() != nil {
			return err // the reason, rather than that time is up
		}
		pool, err = next, nextErr
	}
	defer pool.Close()
	applied, err := database.Migrate(context.WithoutCancel(ctx), pool)
	if err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "The schema is up to date; %d steps were new.\n", applied)
	if !c.Seed {
		return nil
	}
	if err := orders.NewStore(pool).Seed(context.WithoutCancel(ctx), c.Currency); err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "The sample catalogue is in place, priced in %s.\n", c.Currency)
	return nil
}
