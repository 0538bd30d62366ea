package storefront

import (
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/jackc/pgx/v5"

	"shop/internal/apperr"
	"shop/internal/operations"
	"shop/internal/orders"
	"shop/internal/payments"
	"shop/internal/web/httpx"
	"shop/templates"
)

func (s *Storefront) order(c *gin.Context) error {
	order, err := s.Orders.Order(c.Request.Context(), c.Param("id"))
	if err != nil {
		return err
	}
	return s.orderPage(c, http.StatusOK, order, nil)
}

func (s *Storefront) orderPage(c *gin.Context, status int, order orders.Order, problems []templates.FieldError) error {
	view, err := s.view(c.Request.Context(), order)
	if err != nil {
		return err
	}
	cart, err := s.readCart(c)
	if err != nil {
		return err
	}
	view.Shell, view.Errors = s.shell(cart), problems
	return httpx.Render(c, status, templates.OrderPage(view))
}

// payAgain tries another card on an order whose payment was refused. A second
// click, or a click on an order that is paid, changes nothing and shows the order.
func (s *Storefront) payAgain(c *gin.Context) error {
	ctx := c.Request.Context()
	order, err := s.Orders.Order(ctx, c.Param("id"))
	if err != nil {
		return err
	}
	form, err := httpx.Form(c)
	if err != nil {
		return err
	}
	method, problem := readMethod(form)
	if problem != "" && order.State == orders.PaymentFailed {
		return s.orderPage(c, http.StatusUnprocessableEntity, order, []templates.FieldError{{Field: "payment", Message: problem}})
	}
	if problem == "" {
		method.ShopURL = s.ShopURL
		if _, err := payments.Retry(ctx, s.Pool, s.Orders, s.Ops, order, number(form.Get("attempt")), method); err != nil {
			return err
		}
		s.Wake()
	}
	return httpx.SeeOther(c, "/orders/"+order.PublicID)
}

// authenticate sends the shopper to the page of the bank. Its address is asked
// for when it is needed and kept nowhere.
func (s *Storefront) authenticate(c *gin.Context) error {
	ctx := c.Request.Context()
	order, err := s.Orders.Order(ctx, c.Param("id"))
	if err != nil {
		return err
	}
	charge, ok, err := payments.LastCharge(ctx, s.Ops, s.Pool, order.ID)
	if err != nil {
		return err
	}
	// Whoever looks at the charge just now does not matter: the bank still waits.
	if !ok || charge.ProviderRef == nil || charge.State == operations.Done || charge.State == operations.Stuck {
		return httpx.SeeOther(c, "/orders/"+order.PublicID)
	}
	pi, _, err := s.Gateway.RetrieveIntent(ctx, *charge.ProviderRef)
	if err != nil {
		return apperr.New(apperr.Unavailable, "The bank's page cannot be reached just now. Try again in a moment.").Because(err)
	}
	if pi.ActionURL == "" {
		return s.returned(c)
	}
	return httpx.SeeOther(c, pi.ActionURL)
}

// returned is where the bank's page sends the shopper back to. What the query
// says proves nothing; it only makes the charge ask sooner.
func (s *Storefront) returned(c *gin.Context) error {
	ctx := c.Request.Context()
	order, err := s.Orders.Order(ctx, c.Param("id"))
	if err != nil {
		return err
	}
	charge, ok, err := payments.LastCharge(ctx, s.Ops, s.Pool, order.ID)
	if err != nil {
		return err
	}
	if ok {
		if err := pgx.BeginFunc(ctx, s.Pool, func(tx pgx.Tx) error { return payments.NoteReturn(ctx, tx, charge) }); err != nil {
			return err
		}
		s.Wake()
	}
	return httpx.SeeOther(c, "/orders/"+order.PublicID)
}
