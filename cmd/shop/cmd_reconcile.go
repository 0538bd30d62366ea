package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"shop/internal/database"
	"shop/internal/operations"
	"shop/internal/payments"
)

type reconcileCmd struct {
	All  bool `name:"all" help:"Compare everything that Stripe lists, and not only what is new since the last time."`
	JSON bool `name:"json" help:"Print the report as JSON."`

	databaseConfig
	stripeConfig
}

// Validate is called by the parser.
func (c *reconcileCmd) Validate() error {
	if err := c.databaseConfig.Validate(); err != nil {
		return err
	}
	return c.stripeConfig.Validate()
}

// Run compares once; workers then look at what is behind. It fails when money
// came in that nobody here asked for, since that needs a person.
func (c *reconcileCmd) Run(ctx context.Context, e *env) error {
	pool, err := database.Open(ctx, c.DatabaseURL, database.Options{Name: "shop reconcile", MaxConns: int32(c.DBConns)})
	if err != nil {
		return err
	}
	defer pool.Close()
	reconciler := payments.NewReconciler(pool, operations.NewStore(pool, operations.Options{Owner: "reconcile"}), newGateway(c.stripeConfig), e.log)
	run := reconciler.Run
	if c.All {
		run = func(ctx context.Context) (payments.Reconciliation, error) { return reconciler.Since(ctx, time.Time{}) }
	}
	report, err := run(ctx)
	if err != nil {
		return err
	}
	if c.JSON {
		encoder := json.NewEncoder(e.stdout)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(report)
	} else {
		_, err = fmt.Fprintf(e.stdout, "Compared %d objects of Stripe: %d charges are behind and looked at again, %d payments have refunds that are not here, %d are nobody's.\n",
			report.Compared, len(report.Behind), len(report.Refunds), len(report.Orphans))
	}
	if err == nil && len(report.Orphans) > 0 {
		err = fmt.Errorf("money came in that no order here asked for: %v", report.Orphans)
	}
	return err
}
