package storefront

import (
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strconv"

	"github.com/gin-gonic/gin"

	"shop/internal/apperr"
	"shop/internal/orders"
	"shop/internal/web/httpx"
	"shop/templates"
)

const (
	cartCookie = "cart"
	cartDays   = 30
)

var cartID = regexp.MustCompile(`^[a-z2-7]{26}$`)

// cartOf returns the id in the visitor's cookie, "" when there is none that we
// could have given.
func cartOf(c *gin.Context) string {
	id, err := c.Cookie(cartCookie)
	if err != nil || !cartID.MatchString(id) {
		return ""
	}
	return id
}

func (s *Storefront) readCart(c *gin.Context) (orders.Cart, error) {
	return s.Orders.GetCart(c.Request.Context(), cartOf(c))
}

func (s *Storefront) keepCart(c *gin.Context, id string) {
	http.SetCookie(c.Writer, &http.Cookie{Name: cartCookie, Value: id, Path: "/", MaxAge: cartDays * 24 * 3600,
		HttpOnly: true, Secure: s.Secure, SameSite: http.SameSiteLaxMode})
}

func (s *Storefront) cart(c *gin.Context) error {
	return s.cartPage(c, http.StatusOK, templates.Notice{}, "", "")
}

func (s *Storefront) cartPage(c *gin.Context, status int, notice templates.Notice, sku, problem string) error {
	cart, err := s.readCart(c)
	if err != nil {
		return err
	}
	view := templates.CartView{Shell: s.shell(cart), Lines: cartLines(cart), Total: cart.Total, Notice: notice}
	for i := range view.Lines {
		if view.Lines[i].SKU == sku {
			view.Lines[i].Error = problem
		}
	}
	return httpx.Render(c, status, templates.CartPage(view))
}

func cartLines(cart orders.Cart) []templates.LineView {
	lines := make([]templates.LineView, 0, len(cart.Lines))
	for _, l := range cart.Lines {
		lines = append(lines, templates.LineView{SKU: l.Product.SKU, Name: l.Product.Name, Image: image(l.Product.SKU),
			Quantity: l.Quantity, UnitPrice: l.Product.Price, Total: l.Total})
	}
	return lines
}

func (s *Storefront) addToCart(c *gin.Context) error {
	form, err := httpx.Form(c)
	if err != nil {
		return err
	}
	sku, typed := form.Get("sku"), form.Get("quantity")
	id, err := s.Orders.AddToCart(c.Request.Context(), cartOf(c), sku, number(typed))
	if e, ok := asInvalid(err); ok {
		return s.productPage(c, http.StatusUnprocessableEntity, sku, typed, problemOf(e))
	}
	if err != nil {
		return err
	}
	s.keepCart(c, id)
	return httpx.SeeOther(c, "/cart")
}

func (s *Storefront) updateCart(c *gin.Context) error {
	form, err := httpx.Form(c)
	if err != nil {
		return err
	}
	quantity := number(form.Get("quantity"))
	if quantity == 0 {
		quantity = -1 // taking out has a button of its own; a slip of the finger should not empty a line
	}
	return s.setQuantity(c, form, quantity)
}

func (s *Storefront) removeFromCart(c *gin.Context) error {
	form, err := httpx.Form(c)
	if err != nil {
		return err
	}
	return s.setQuantity(c, form, 0)
}

func (s *Storefront) setQuantity(c *gin.Context, form url.Values, quantity int) error {
	err := s.Orders.SetCartQuantity(c.Request.Context(), cartOf(c), form.Get("sku"), quantity)
	if e, ok := asInvalid(err); ok {
		return s.cartPage(c, http.StatusUnprocessableEntity, templates.Notice{}, form.Get("sku"), problemOf(e))
	}
	if err != nil {
		return err
	}
	return httpx.SeeOther(c, "/cart")
}

// number reads a whole number; anything else is -1, which no rule accepts.
func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return -1
	}
	return n
}

func asInvalid(err error) (*apperr.Error, bool) {
	e, ok := errors.AsType[*apperr.Error](err)
	return e, ok && e.Kind == apperr.Invalid
}

func problemOf(e *apperr.Error) string {
	if len(e.Fields) > 0 {
		return e.Fields[0].Problem
	}
	return e.Message
}
