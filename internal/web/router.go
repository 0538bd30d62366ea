// Package web puts the storefront, the dashboard and the API behind one address.
package web

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/jackc/pgx/v5/pgxpool"

	"shop/internal/access"
	"shop/internal/apperr"
	"shop/internal/operations"
	"shop/internal/orders"
	"shop/internal/payments"
	"shop/internal/web/admin"
	"shop/internal/web/api"
	"shop/internal/web/assets"
	"shop/internal/web/httpx"
	"shop/internal/web/storefront"
	"shop/templates"
)

// Both are settings of whole packages, so they are made once and before any
// server of this process runs.
func init() {
	gin.SetMode(gin.ReleaseMode)
	templates.AssetURL = assets.URL
}

// Config of the web server.
type Config struct {
	ShopURL        string // origin under which the shop is reached
	Demo           bool
	Dev            bool   // lists the stories at /dev/stories
	StripeJS       string // address of Stripe.js or of its local stand-in
	StripeAPI      string // address that the card form calls; empty is the real Stripe
	StripeURL      string // page of the local Stripe; empty with the real one
	InboxURL       string // page of the local inbox; empty outside the demo
	PublishableKey string
	TestCards      bool // the account is a test account
	// WebhookSecrets sign the provider's events; two while one is being rolled,
	// none when no endpoint is set up.
	WebhookSecrets []string
}

// Deps are what the pages work with.
type Deps struct {
	Pool    *pgxpool.Pool
	Orders  *orders.Store
	Ops     *operations.Store
	Access  *access.Store
	Gateway *payments.Gateway
	Events  *payments.Events
	Feed    *storefront.Feed
	Wake    func()
	Log     *slog.Logger
}

// bodyLimit is the largest form or JSON body that is read.
const bodyLimit = 64 << 10

// Handler returns the routes of the whole server:
//
//	/, /products, /cart, /checkout, /orders   shoppers' browsers
//	/admin                                    operators' browsers
//	/api/v1                                   programs, with a key
//	/webhooks/stripe                          Stripe, with a signature
//	/assets                                   browsers
//	/healthz                                  whoever watches the process
//	/dev/stories                              engineers, in development
func Handler(c Config, d Deps) (http.Handler, error) {
	origin, err := url.Parse(c.ShopURL)
	if err != nil || origin.Host == "" {
		return nil, errors.New("the shop's URL needs a scheme and a host, such as http://127.0.0.1:8080")
	}
	secure := origin.Scheme == "https"
	k := httpx.NewKit(d.Log, c.Demo)

	r := gin.New()
	r.HandleMethodNotAllowed = true
	r.ContextWithFallback = true
	if err := r.SetTrustedProxies(nil); err != nil {
		return nil, err
	}
	r.Use(httpx.Identify, httpx.Log(d.Log), httpx.SecurityHeaders(policy(c)), k.Recover, k.CleanAddress)
	r.NoRoute(func(c *gin.Context) { k.Error(c, apperr.New(apperr.NotFound, "There is nothing at this address.")) })
	r.NoMethod(func(c *gin.Context) {
		k.Error(c, apperr.New(apperr.MethodNotAllowed, "This address cannot be used like that."))
	})
	r.GET("/healthz", func(c *gin.Context) { health(c, d.Pool) })
	r.GET("/assets/*name", gin.WrapH(assets.Handler()))

	if len(c.WebhookSecrets) > 0 {
		r.POST("/webhooks/stripe", k.LimitBody(webhookLimit), k.JSON(stripeWebhook(c.WebhookSecrets, d.Events, d.Wake)))
	}
	small := k.LimitBody(bodyLimit)
	storefront.Register(r.Group("", small, k.SameOrigin), k, storefront.Config{ShopURL: c.ShopURL, Secure: secure, Demo: c.Demo,
		StripeJS: c.StripeJS, PublishableKey: c.PublishableKey, InboxURL: c.InboxURL, TestCards: c.TestCards},
		storefront.Deps{Pool: d.Pool, Orders: d.Orders, Ops: d.Ops, Gateway: d.Gateway, Feed: d.Feed, Wake: d.Wake})
	admin.Register(r.Group("/admin", small, k.SameOrigin), k, admin.Config{Secure: secure, Demo: c.Demo, StripeURL: c.StripeURL},
		admin.Deps{Pool: d.Pool, Ops: d.Ops, Orders: d.Orders, Access: d.Access})
	api.Register(r.Group("/api/v1", small), k, api.Deps{Orders: d.Orders, Ops: d.Ops, Access: d.Access, Wake: d.Wake, ShopURL: c.ShopURL})
	if c.Dev {
		stories(r, k)
	}
	return answerHead(r), nil
}

// answerHead answers HEAD as GET; net/http leaves the body out. A stream has no
// end to wait for, so it is not asked.
func answerHead(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead && !strings.HasSuffix(r.URL.Path, "/events") {
			r = r.Clone(r.Context())
			r.Method = http.MethodGet
		}
		next.ServeHTTP(w, r)
	})
}

// policy is the Content-Security-Policy: everything from here, and the card
// form from where it has to come.
func policy(c Config) string {
	script, connect, frame, style := "", "", "", ""
	if u, err := url.Parse(c.StripeJS); err == nil && u.Host != "" {
		script = " " + u.Scheme + "://" + u.Host
	}
	if c.StripeAPI != "" {
		// The local stand-in: no frames, its own stylesheet, and calls to itself.
		connect, style = " "+c.StripeAPI, script
	} else {
		connect, frame = " https://api.stripe.com", " https://js.stripe.com https://hooks.stripe.com"
	}
	return strings.Join([]string{
		"default-src 'self'", "script-src 'self'" + script, "style-src 'self'" + style, "img-src 'self' data:",
		"connect-src 'self'" + connect, "frame-src 'self'" + frame, "object-src 'none'", "base-uri 'none'",
		"form-action 'self'", "frame-ancestors 'none'",
	}, "; ")
}

func health(c *gin.Context, pool *pgxpool.Pool) {
	ctx, cancel := context.WithTimeout(c.Request.Context(), healthTimeout)
	defer cancel()
	if err := pool.Ping(ctx); err != nil {
		c.JSON(http.StatusServiceUnavailable, gin.H{"status": "the database does not answer"})
		return
	}
	c.JSON(http.StatusOK, gin.H{"status": "ok"})
}
