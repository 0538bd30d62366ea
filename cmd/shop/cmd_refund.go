package main

import (
	"context"
	"errors"
	"fmt"
	"os/user"
	"strconv"
	"strings"

	"shop/internal/database"
	"shop/internal/money"
	"shop/internal/orders"
	"shop/internal/payments"
)

type refundCmd struct {
	Order  string  `arg:"" help:"Number of the order, such as 1001, or its name in addresses, ord_…."`
	Amount *string `name:"amount" placeholder:"12.50" help:"How much, in the currency of the order."`
	All    bool    `name:"all" help:"All that is left of the payment."`
	Reason string  `name:"reason" required:"" help:"Why; it is kept with the refund."`
	ID     string  `name:"id" placeholder:"rfd_…" help:"Name of this request; the same name again is the same refund. One is made up when absent."`

	databaseConfig
}

// Validate is called by the parser. All is asked for in so many words: an empty
// variable in a script must not give a whole payment back.
func (c *refundCmd) Validate() error {
	if (c.Amount == nil) == !c.All {
		return errors.New("say how much to give back: either --amount 12.50 or --all")
	}
	return c.databaseConfig.Validate()
}

// Run enters the refund; a worker sends it to the provider.
func (c *refundCmd) Run(ctx context.Context, e *env) error {
	pool, err := database.Open(ctx, c.DatabaseURL, database.Options{Name: "shop refund"})
	if err != nil {
		return err
	}
	defer pool.Close()
	order, err := findOrder(ctx, orders.NewStore(pool), c.Order)
	if err != nil {
		return err
	}
	request := payments.RefundRequest{ID: c.ID, OrderID: order.ID, Reason: c.Reason, Actor: "command line"}
	if me, err := user.Current(); err == nil {
		request.Actor = "command line, " + me.Username
	}
	if request.ID == "" {
		request.ID = payments.NewRefundID()
	}
	if c.Amount != nil {
		amount, err := money.Parse(*c.Amount, order.Total.Currency)
		if err != nil {
			return err
		}
		if amount.Amount == 0 {
			return fmt.Errorf("--amount is %q, and a refund gives something back", *c.Amount)
		}
		request.Amount = amount.Amount
	}
	refund, repeat, err := payments.RequestRefund(ctx, pool, request)
	if err != nil {
		return err
	}
	if repeat {
		fmt.Fprintf(e.stdout, "Refund %s of %s for order %d exists already; it is %s.\n", refund.PublicID, refund.Amount, order.ID, refund.State)
		return nil
	}
	fmt.Fprintf(e.stdout, "Refund %s of %s for order %d is entered; a worker sends it to Stripe.\n", refund.PublicID, refund.Amount, order.ID)
	return nil
}

func findOrder(ctx context.Context, store *orders.Store, name string) (orders.Order, error) {
	if strings.HasPrefix(name, "ord_") {
		return store.Order(ctx, name)
	}
	id, err := strconv.ParseInt(name, 10, 64)
	if err != nil {
		return orders.Order{}, fmt.Errorf("%q is not an order; write its number, such as 1001, or its name, ord_…", name)
	}
	return store.OrderByID(ctx, id)
}
