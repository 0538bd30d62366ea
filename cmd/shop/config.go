package main

import (
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"shop/internal/money"
	"shop/internal/receipts"
)

// configError names a setting that cannot be used, what it is and an example
// of what it takes.
type configError struct{ name, got, problem, example string }

func (e *configError) Error() string {
	return fmt.Sprintf("%s is %q: %s; write it like %s", e.name, e.got, e.problem, e.example)
}

// duration is a time span on the command line, in Go's notation.
type duration time.Duration

// UnmarshalText reads a positive duration.
func (d *duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil || parsed <= 0 {
		return fmt.Errorf("%q is not a length of time; write it like 15s or 1m30s", text)
	}
	*d = duration(parsed)
	return nil
}

// count is a whole number on the command line.
type count int

// UnmarshalText reads a whole number.
func (n *count) UnmarshalText(text []byte) error {
	parsed, err := strconv.ParseInt(string(text), 10, 32)
	if err != nil {
		return fmt.Errorf("%q is not a whole number; write it like 12", text)
	}
	*n = count(parsed)
	return nil
}

// databaseConfig says where the data is.
type databaseConfig struct {
	DatabaseURL string `name:"database-url" env:"DATABASE_URL" required:"" placeholder:"URL" help:"PostgreSQL, such as postgres://shop:secret@localhost:5432/shop."`
	DBConns     count  `name:"db-conns" env:"SHOP_DB_CONNS" default:"12" help:"Most connections to PostgreSQL; a few per core are best."`
}

// Validate is called by the parser.
func (c databaseConfig) Validate() error {
	u, err := url.Parse(c.DatabaseURL)
	if err != nil || (u.Scheme != "postgres" && u.Scheme != "postgresql") {
		return &configError{"DATABASE_URL", hidePassword(c.DatabaseURL), "it is not the address of a PostgreSQL database", "postgres://shop:secret@localhost:5432/shop"}
	}
	if c.DBConns < 2 || c.DBConns > 1000 {
		return &configError{"SHOP_DB_CONNS", fmt.Sprint(c.DBConns), "it must be from 2 to 1000", "12"}
	}
	return nil
}

// stripeConfig says which Stripe account charges.
type stripeConfig struct {
	StripeSecretKey      string   `name:"stripe-secret-key" env:"STRIPE_SECRET_KEY" required:"" placeholder:"KEY" help:"Secret key of the Stripe account, sk_test_… or sk_live_…."`
	StripePublishableKey string   `name:"stripe-publishable-key" env:"STRIPE_PUBLISHABLE_KEY" placeholder:"KEY" help:"Publishable key of the same account, pk_…; needed to show the card form."`
	StripeAPIBase        string   `name:"stripe-api-base" env:"STRIPE_API_BASE" placeholder:"URL" help:"Address of a local Stripe; empty is the real one."`
	StripePublicURL      string   `name:"stripe-public-url" env:"STRIPE_PUBLIC_URL" placeholder:"URL" help:"Origin under which browsers reach the local Stripe; by default STRIPE_API_BASE."`
	StripeJSURL          string   `name:"stripe-js-url" env:"STRIPE_JS_URL" placeholder:"URL" help:"Address of Stripe.js; by default the one that belongs to the API."`
	StripeTimeout        duration `name:"stripe-timeout" env:"STRIPE_TIMEOUT" default:"8s" help:"Longest wait for one answer of Stripe; shorter than the lease."`
}

// webhookConfig says how the provider's events are known to be its own.
type webhookConfig struct {
	StripeWebhookSecret []string `name:"stripe-webhook-secret" env:"STRIPE_WEBHOOK_SECRET" placeholder:"whsec_…" help:"Secret of the webhook endpoint /webhooks/stripe; two with a comma between them while one is being rolled, none to go without events."`
}

// Validate is called by the parser.
func (c webhookConfig) Validate() error {
	for _, secret := range c.StripeWebhookSecret {
		if !hasPrefix(secret, "whsec_") {
			return &configError{"STRIPE_WEBHOOK_SECRET", mask(secret), "it is not the secret of a webhook endpoint", "whsec_abc…"}
		}
	}
	return nil
}

// Validate is called by the parser.
func (c *stripeConfig) Validate() error {
	if !hasPrefix(c.StripeSecretKey, "sk_test_", "sk_live_", "rk_test_", "rk_live_") {
		return &configError{"STRIPE_SECRET_KEY", mask(c.StripeSecretKey), "it is not a secret key of Stripe", "sk_test_51Habc…"}
	}
	if c.StripePublishableKey != "" && !hasPrefix(c.StripePublishableKey, "pk_test_", "pk_live_") {
		return &configError{"STRIPE_PUBLISHABLE_KEY", mask(c.StripePublishableKey), "it is not a publishable key of Stripe", "pk_test_51Habc…"}
	}
	if c.StripeAPIBase != "" {
		if !isOrigin(c.StripeAPIBase) {
			return &configError{"STRIPE_API_BASE", c.StripeAPIBase, "it is not the origin of a server", "http://127.0.0.1:8081"}
		}
		if c.live() {
			return &configError{"STRIPE_API_BASE", c.StripeAPIBase, "a live key must never meet a local Stripe", "nothing at all, or use a key that starts with sk_test_"}
		}
	}
	if c.StripePublicURL == "" || c.StripeAPIBase == "" {
		c.StripePublicURL = c.StripeAPIBase // the real Stripe has addresses of its own
	}
	if c.StripePublicURL != "" && !isOrigin(c.StripePublicURL) {
		return &configError{"STRIPE_PUBLIC_URL", c.StripePublicURL, "it is not the origin of a server", "http://127.0.0.1:8081"}
	}
	if c.StripeJSURL == "" {
		c.StripeJSURL = "https://js.stripe.com/v3/"
		if c.StripePublicURL != "" {
			c.StripeJSURL = c.StripePublicURL + "/_sim/js/v3/"
		}
	}
	u, err := url.Parse(c.StripeJSURL)
	if err != nil || u.Host == "" {
		return &configError{"STRIPE_JS_URL", c.StripeJSURL, "it is not the address of a script", "https://js.stripe.com/v3/"}
	}
	if c.live() && u.Host != "js.stripe.com" {
		return &configError{"STRIPE_JS_URL", c.StripeJSURL, "with a live key the card form must come from Stripe itself", "https://js.stripe.com/v3/"}
	}
	return nil
}

func (c *stripeConfig) live() bool { return strings.Contains(c.StripeSecretKey, "_live_") }

// leaseConfig holds the times of a worker, which have to nest.
type leaseConfig struct {
	Lease duration `name:"lease" env:"SHOP_LEASE" default:"15s" help:"How long a worker may be silent before another takes over."`
}

// shopConfig says what the shop is called on the outside.
type shopConfig struct {
	ShopURL  string `name:"shop-url" env:"SHOP_URL" default:"http://127.0.0.1:8080" placeholder:"URL" help:"Origin under which shoppers reach the shop."`
	Demo     bool   `name:"demo-notice" env:"SHOP_DEMO" help:"Say on pages and mails that no real money moves."`
	InboxURL string `name:"inbox-url" env:"SHOP_INBOX_URL" placeholder:"URL" help:"Page of the local inbox, linked from paid orders."`
}

// Validate is called by the parser.
func (c shopConfig) Validate() error {
	if !isOrigin(c.ShopURL) {
		return &configError{"SHOP_URL", c.ShopURL, "it is not an origin, a scheme and a host without a path", "https://shop.example.com"}
	}
	if c.InboxURL != "" && !isOrigin(c.InboxURL) {
		return &configError{"SHOP_INBOX_URL", c.InboxURL, "it is not an origin", "http://127.0.0.1:8082"}
	}
	return nil
}

// mailConfig says how receipts leave.
type mailConfig struct {
	SMTPURL  string `name:"smtp-url" env:"SMTP_URL" required:"" placeholder:"URL" help:"Mail server, such as smtp://localhost:1025 or smtps://user:password@mail.example.com."`
	MailFrom string `name:"mail-from" env:"MAIL_FROM" default:"Once <orders@once.example>" help:"Sender of the receipts."`
}

// Validate is called by the parser.
func (c mailConfig) Validate() error {
	if _, err := receipts.NewSMTP(c.SMTPURL, "Once <orders@once.example>"); err != nil {
		return &configError{"SMTP_URL", hidePassword(c.SMTPURL), "it is not the address of a mail server", "smtp://localhost:1025"}
	}
	if _, err := receipts.NewSMTP(c.SMTPURL, c.MailFrom); err != nil {
		return &configError{"MAIL_FROM", c.MailFrom, "it is not a sender", "Once <orders@once.example>"}
	}
	return nil
}

// storeConfig is about what is sold.
type storeConfig struct {
	Currency string `name:"currency" env:"SHOP_CURRENCY" default:"usd" help:"Currency of the store, a lower-case ISO 4217 code."`
}

// Validate is called by the parser.
func (c storeConfig) Validate() error {
	if _, err := money.Exponent(c.Currency); err != nil {
		return &configError{"SHOP_CURRENCY", c.Currency, "it is not a currency that Stripe charges in", "usd, eur or jpy"}
	}
	return nil
}

func checkAddr(name, addr string) error {
	if _, _, err := net.SplitHostPort(addr); err != nil || addr == "" {
		return &configError{name, addr, "it is not an address to listen on", "127.0.0.1:8080"}
	}
	return nil
}

func hasPrefix(s string, prefixes ...string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) && len(s) > len(p) {
			return true
		}
	}
	return false
}

func isOrigin(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && (u.Path == "" || u.Path == "/") &&
		u.RawQuery == "" && u.User == nil && !strings.HasSuffix(s, "/")
}

// mask shows enough of a secret to recognise it.
func mask(s string) string {
	if len(s) > 4 {
		return s[:4] + "…"
	}
	return s
}

// hidePassword takes the password out of an address before it is shown. What
// cannot be read as an address may be a secret as a whole.
func hidePassword(s string) string {
	if u, err := url.Parse(s); err == nil && u.Host != "" {
		return u.Redacted()
	}
	return mask(s)
}
