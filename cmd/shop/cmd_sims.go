package main

import (
	"context"
	"fmt"
	"time"

	"shop/internal/mailsim"
	"shop/internal/stripesim"
)

type stripeSimCmd struct {
	Addr          string   `name:"addr" env:"STRIPE_SIM_ADDR" default:"127.0.0.1:8081" help:"Address to listen on."`
	PublicURL     string   `name:"public-url" env:"STRIPE_SIM_URL" placeholder:"URL" help:"Origin under which browsers reach it; by default what they ask for."`
	Journal       string   `name:"journal" env:"STRIPE_SIM_JOURNAL" placeholder:"FILE" help:"File that keeps the state; empty keeps it in memory."`
	Webhook       string   `name:"webhook" env:"STRIPE_SIM_WEBHOOK" placeholder:"URL" help:"Endpoint that gets the events."`
	WebhookSecret string   `name:"webhook-secret" env:"STRIPE_WEBHOOK_SECRET" placeholder:"whsec_…" help:"Secret that signs the events."`
	SearchLag     duration `name:"search-lag" env:"STRIPE_SIM_SEARCH_LAG" default:"20s" help:"How old an object must be before search finds it."`
	RateLimit     count    `name:"rate-limit" env:"STRIPE_SIM_RATE_LIMIT" default:"0" help:"Reads, and writes, a second in one account before 429; 0 is no limit."`
}

// Validate is called by the parser.
func (c *stripeSimCmd) Validate() error {
	if c.RateLimit < 0 {
		return &configError{"STRIPE_SIM_RATE_LIMIT", fmt.Sprint(c.RateLimit), "it must not be negative", "25, or 0 for no limit"}
	}
	return nil
}

// Run serves until ctx ends.
func (c *stripeSimCmd) Run(ctx context.Context, e *env) (err error) {
	sim, err := stripesim.New(stripesim.Config{Journal: c.Journal, PublicURL: c.PublicURL, WebhookURL: c.Webhook,
		WebhookSecret: c.WebhookSecret, SearchLag: time.Duration(c.SearchLag), RateLimit: int(c.RateLimit), Logger: e.log})
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := sim.Close(); err == nil {
			err = closeErr
		}
	}()
	return serveHTTP(ctx, c.Addr, sim.Handler(), e.log)
}

type mailSimCmd struct {
	Addr      string `name:"addr" env:"MAIL_SIM_ADDR" default:"127.0.0.1:8082" help:"Address of the inbox page."`
	SMTPAddr  string `name:"smtp-addr" env:"MAIL_SIM_SMTP_ADDR" default:"127.0.0.1:1025" help:"Address to take mail on."`
	PublicURL string `name:"public-url" env:"MAIL_SIM_URL" placeholder:"URL" help:"Origin under which browsers reach the inbox."`
	Journal   string `name:"journal" env:"MAIL_SIM_JOURNAL" placeholder:"FILE" help:"File that keeps the mail; empty keeps it in memory."`
}

// Run takes mail and shows it until ctx ends.
func (c *mailSimCmd) Run(ctx context.Context, e *env) (err error) {
	inbox, err := mailsim.New(mailsim.Config{Journal: c.Journal, PublicURL: c.PublicURL, Logger: e.log})
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := inbox.Close(); err == nil {
			err = closeErr
		}
	}()
	listener, err := listen(ctx, c.SMTPAddr)
	if err != nil {
		return err
	}
	go func() {
		if err := inbox.ServeSMTP(listener); err != nil && ctx.Err() == nil {
			e.log.Error("taking mail", "error", err)
		}
	}()
	return serveHTTP(ctx, c.Addr, inbox.Handler(), e.log)
}
