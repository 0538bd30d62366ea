package main

import (
	"context"
	"sync"
	"time"

	"shop/internal/access"
	"shop/internal/payments"
	"shop/internal/web"
	"shop/internal/web/storefront"
)

type webCmd struct {
	Addr       string `name:"addr" env:"SHOP_ADDR" default:"127.0.0.1:8080" help:"Address to listen on."`
	WithWorker bool   `name:"with-worker" env:"SHOP_WITH_WORKER" help:"Work jobs in this process too."`
	Dev        bool   `name:"dev" env:"SHOP_DEV" help:"List every page in every state at /dev/stories."`
	// SignInToken and APIKey let the first people and programs in.
	SignInToken string `name:"sign-in-token" env:"SHOP_SIGN_IN_TOKEN" placeholder:"TOKEN" help:"Token of a one-time sign-in link to the dashboard."`
	APIKey      string `name:"api-key" env:"SHOP_API_KEY" placeholder:"KEY" help:"API key to let in."`

	databaseConfig
	stripeConfig
	webhookConfig
	leaseConfig
	shopConfig
	Mail optionalMail `embed:""`
	workerConfig
}

// optionalMail is a mailConfig that only a worker needs.
type optionalMail struct {
	SMTPURL  string `name:"smtp-url" env:"SMTP_URL" placeholder:"URL" help:"Mail server; needed with --with-worker."`
	MailFrom string `name:"mail-from" env:"MAIL_FROM" default:"Once <orders@once.example>" help:"Sender of the receipts; used with --with-worker."`
}

// Validate is called by the parser.
func (c *webCmd) Validate() error {
	for _, check := range []func() error{c.databaseConfig.Validate, c.stripeConfig.Validate, c.webhookConfig.Validate, c.shopConfig.Validate,
		func() error { return checkAddr("SHOP_ADDR", c.Addr) }} {
		if err := check(); err != nil {
			return err
		}
	}
	if c.StripePublishableKey == "" {
		return &configError{"STRIPE_PUBLISHABLE_KEY", "", "the card form needs it", "pk_test_51Habc…"}
	}
	if !c.WithWorker {
		return nil
	}
	if err := mailConfig(c.Mail).Validate(); err != nil {
		return err
	}
	return validateWorker(c.stripeConfig, c.leaseConfig, c.workerConfig)
}

// linkLife is how long the demo's sign-in link can be used.
const linkLife = 12 * time.Hour

// Run serves until ctx ends.
func (c *webCmd) Run(ctx context.Context, e *env) error {
	core, err := openCore(ctx, "web", c.databaseConfig, c.leaseConfig, e.log)
	if err != nil {
		return err
	}
	defer core.pool.Close()
	people := access.NewStore(core.pool)
	if c.SignInToken != "" {
		if err := people.AddLink(ctx, c.SignInToken, "demo operator", linkLife); err != nil {
			return err
		}
	}
	if c.APIKey != "" {
		if err := people.AddKey(ctx, c.APIKey, "demo"); err != nil {
			return err
		}
	}
	feed := storefront.NewFeed(core.ops, e.log)
	handler, err := web.Handler(web.Config{ShopURL: c.ShopURL, Demo: c.Demo, Dev: c.Dev, StripeJS: c.StripeJSURL,
		StripeAPI: c.StripePublicURL, StripeURL: c.StripePublicURL, InboxURL: c.InboxURL,
		PublishableKey: c.StripePublishableKey, TestCards: !c.live(), WebhookSecrets: c.StripeWebhookSecret},
		web.Deps{Pool: core.pool, Orders: core.orders, Ops: core.ops, Access: people, Gateway: newGateway(c.stripeConfig), Feed: feed, Events: payments.NewEvents(core.pool, core.ops, e.log),
			Wake: core.relay.Wake, Log: e.log})
	if err != nil {
		return err
	}
	if c.WithWorker {
		stop, err := core.startWorker(ctx, c.stripeConfig, mailConfig(c.Mail), c.shopConfig, c.workerConfig)
		if err != nil {
			return err
		}
		defer stop()
	}
	background, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { core.relay.Run(background) })
	wg.Go(func() { feed.Run(background) })
	defer wg.Wait()
	defer stop()
	return serveHTTP(ctx, c.Addr, handler, e.log)
}
