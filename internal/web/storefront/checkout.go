package storefront

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/gin-gonic/gin"

	"shop/internal/apperr"
	"shop/internal/orders"
	"shop/internal/payments"
	"shop/internal/web/httpx"
	"shop/templates"
)

func (s *Storefront) checkout(c *gin.Context) error {
	return s.checkoutPage(c, http.StatusOK, orders.Buyer{}, nil, templates.Notice{})
}

// checkoutPage shows the form with what was typed and what is wrong with it.
func (s *Storefront) checkoutPage(c *gin.Context, status int, buyer orders.Buyer, problems []templates.FieldError, notice templates.Notice) error {
	cart, err := s.readCart(c)
	if err != nil {
		return err
	}
	if len(cart.Lines) == 0 {
		if status == http.StatusOK {
			return httpx.SeeOther(c, "/cart")
		}
		return s.cartPage(c, status, notice, "", "")
	}
	return httpx.Render(c, status, templates.CheckoutPage(templates.CheckoutView{Shell: s.shell(cart), Lines: cartLines(cart),
		Total: cart.Total, CheckoutToken: cart.CheckoutToken, ExpectedTotal: cart.Total, Name: buyer.Name, Email: buyer.Email,
		Errors: problems, Notice: notice,
		Card: templates.CardView{StripeJS: s.StripeJS, PublishableKey: s.PublishableKey, ReturnURL: s.ShopURL + "/cart",
			Amount: cart.Total, TestCards: s.testCards()}}))
}

// place turns the cart into an order. Whatever is wrong, nothing is ordered and
// the shopper gets the form back with what was typed. What is right is answered
// with a redirect to the order, the first time and every time after.
func (s *Storefront) place(c *gin.Context) error {
	form, err := httpx.Form(c)
	if err != nil {
		return err
	}
	buyer := orders.Buyer{Name: form.Get("name"), Email: form.Get("email")}
	method, problem := readMethod(form)
	if problem != "" {
		return s.checkoutPage(c, http.StatusUnprocessableEntity, buyer, []templates.FieldError{{Field: "payment", Message: problem}}, templates.Notice{})
	}
	method.ShopURL = s.ShopURL
	payment, err := json.Marshal(method)
	if err != nil {
		return fmt.Errorf("encoding a payment method: %w", err)
	}
	shown, err := strconv.ParseInt(form.Get("expected_total"), 10, 64)
	if err != nil {
		shown = -1 // never a total, so nothing is placed
	}
	order, _, err := s.Orders.Place(c.Request.Context(), orders.Checkout{CartID: cartOf(c), CheckoutToken: form.Get("checkout_token"),
		Buyer: buyer, Shown: shown, Payment: payment})
	if e, ok := errors.AsType[*apperr.Error](err); ok {
		switch e.Kind {
		case apperr.Invalid:
			problems, notice := explain(e)
			return s.checkoutPage(c, http.StatusUnprocessableEntity, buyer, problems, notice)
		case apperr.Conflict:
			return s.checkoutPage(c, http.StatusConflict, buyer, nil, templates.Notice{Kind: templates.NoticeWarn, Title: "Nothing was ordered", Text: e.Message})
		}
	}
	if err != nil {
		return err
	}
	s.Wake()
	return httpx.SeeOther(c, "/orders/"+order.PublicID)
}

// explain says what is wrong beside each field, or above the form when it is
// about the whole.
func explain(e *apperr.Error) (problems []templates.FieldError, notice templates.Notice) {
	if len(e.Fields) == 0 {
		return nil, templates.Notice{Kind: templates.NoticeWarn, Title: "Nothing was ordered", Text: e.Message}
	}
	for _, f := range e.Fields {
		problems = append(problems, templates.FieldError{Field: f.Name, Message: f.Problem})
	}
	return problems, templates.Notice{}
}

// readMethod reads how the shopper pays. A card number never comes this way:
// the script of the provider gives a token for it.
func readMethod(form url.Values) (payments.Method, string) {
	m := payments.Method{ConfirmationToken: form.Get("confirmation_token")}
	if m.ConfirmationToken == "" {
		m.PaymentMethod = form.Get("payment_method")
	}
	given := m.ConfirmationToken + m.PaymentMethod
	switch {
	case given == "":
		return m, "Enter a card to pay with."
	case !payments.IsMeans(given):
		return m, "The card details could not be read. Enter them again."
	}
	return m, ""
}
