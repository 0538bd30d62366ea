// Package storefront is the shop as a shopper sees it.
package storefront

import (
	"github.com/gin-gonic/gin"
	"github.com/jackc/pgx/v5/pgxpool"

	"shop/internal/operations"
	"shop/internal/orders"
	"shop/internal/payments"
	"shop/internal/web/httpx"
	"shop/templates"
)

// Config of the storefront.
type Config struct {
	ShopURL        string // origin, such as http://127.0.0.1:8080
	Secure         bool   // the origin is https
	Demo           bool
	StripeJS       string // address of Stripe.js or of its local stand-in
	PublishableKey string
	InboxURL       string // page of the local inbox; empty outside the demo
	TestCards      bool   // the account is a test account
}

// Deps are what the storefront works with.
type Deps struct {
	Pool    *pgxpool.Pool
	Orders  *orders.Store
	Ops     *operations.Store
	Gateway *payments.Gateway
	Feed    *Feed
	Wake    func() // tells the relay that a message has committed
}

// Storefront answers the shop's pages.
type Storefront struct {
	Config
	Deps
}

// Register adds the shop's routes to r.
func Register(r gin.IRouter, k *httpx.Kit, c Config, d Deps) {
	s := &Storefront{Config: c, Deps: d}
	r.GET("/", k.Page(s.catalogue))
	r.GET("/products/:sku", k.Page(s.product))
	r.GET("/cart", k.Page(s.cart))
	r.POST("/cart/items", k.Page(s.addToCart))
	r.POST("/cart/items/update", k.Page(s.updateCart))
	r.POST("/cart/items/remove", k.Page(s.removeFromCart))
	r.GET("/checkout", k.Page(s.checkout))
	r.POST("/checkout", k.Page(s.place))
	r.GET("/orders/:id", k.Page(s.order))
	r.GET("/orders/:id/events", k.Page(s.orderEvents))
	r.GET("/orders/:id/authenticate", k.Page(s.authenticate))
	r.GET("/orders/:id/return", k.Page(s.returned))
	r.POST("/orders/:id/pay", k.Page(s.payAgain))
}

func image(sku string) string { return "products/" + sku + ".svg" }

func (s *Storefront) shell(cart orders.Cart) templates.Shell {
	return templates.Shell{CartCount: cart.Pieces(), Demo: s.Demo}
}

func (s *Storefront) testCards() []templates.TestCard {
	if !s.TestCards {
		return nil
	}
	return templates.DemoTestCards()
}
