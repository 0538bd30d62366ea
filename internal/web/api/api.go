// Package api is the shop for programs.
package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gin-gonic/gin"
	"github.com/jackc/pgx/v5"

	"shop/internal/access"
	"shop/internal/apperr"
	"shop/internal/operations"
	"shop/internal/orders"
	"shop/internal/payments"
	"shop/internal/web/httpx"
)

// Deps are what the API works with.
type Deps struct {
	Orders *orders.Store
	Ops    *operations.Store
	Access *access.Store
	Wake   func() // tells the relay that a message has committed
	// ShopURL is the origin under which orders have their pages.
	ShopURL string
}

// API answers programs.
type API struct{ Deps }

// RequestKind is the kind of the operation that an HTTP request with an
// Idempotency-Key is.
const RequestKind = "http-request"

// patience is how long a request waits for another with the same key.
const patience = 2 * time.Second

// Register adds the API's routes to r, which is mounted at /api/v1.
func Register(r gin.IRouter, k *httpx.Kit, d Deps) {
	a := &API{Deps: d}
	r.GET("/products", k.JSON(a.signedIn(a.products)))
	r.POST("/orders", k.JSON(a.signedIn(a.placeOrder)))
	r.GET("/orders/:id", k.JSON(a.signedIn(a.order)))
}

func (a *API) signedIn(h func(c *gin.Context, who access.Credential) error) httpx.Handler {
	return func(c *gin.Context) error {
		key, ok := strings.CutPrefix(c.GetHeader("Authorization"), "Bearer ")
		if !ok {
			c.Header("WWW-Authenticate", "Bearer")
			return apperr.New(apperr.Unauthorized, "Send your API key as Authorization: Bearer KEY.")
		}
		who, err := a.Access.CheckKey(c.Request.Context(), key)
		if err != nil {
			return err
		}
		return h(c, who)
	}
}

type productBody struct {
	SKU      string `json:"sku"`
	Name     string `json:"name"`
	Price    int64  `json:"price"` // minor units
	Currency string `json:"currency"`
}

func (a *API) products(c *gin.Context, _ access.Credential) error {
	products, err := a.Orders.Products(c.Request.Context())
	if err != nil {
		return err
	}
	data := make([]productBody, len(products))
	for i, p := range products {
		data[i] = productBody{SKU: p.SKU, Name: p.Name, Price: p.Price.Amount, Currency: p.Price.Currency}
	}
	c.JSON(http.StatusOK, gin.H{"data": data})
	return nil
}

type orderBody struct {
	ID       string       `json:"id"`
	Number   int64        `json:"number"`
	State    orders.State `json:"state"`
	Total    int64        `json:"total"` // minor units
	Currency string       `json:"currency"`
	URL      string       `json:"url"`
	PlacedAt time.Time    `json:"placed_at"`
	PaidAt   *time.Time   `json:"paid_at,omitempty"`
}

func (a *API) body(o orders.Order) orderBody {
	return orderBody{ID: o.PublicID, Number: o.ID, State: o.State, Total: o.Total.Amount, Currency: o.Total.Currency,
		URL: a.ShopURL + "/orders/" + o.PublicID, PlacedAt: o.PlacedAt, PaidAt: o.PaidAt}
}

func (a *API) order(c *gin.Context, _ access.Credential) error {
	o, err := a.Orders.Order(c.Request.Context(), c.Param("id"))
	if err != nil {
		return err
	}
	c.JSON(http.StatusOK, a.body(o))
	return nil
}

type orderRequest struct {
	Email         string        `json:"email"`
	Name          string        `json:"name"`
	Lines         []lineRequest `json:"lines"`
	PaymentMethod string        `json:"payment_method"`
}

type lineRequest struct {
	SKU      string `json:"sku"`
	Quantity int    `json:"quantity"`
}

// placeOrder places one order for one Idempotency-Key: order, message and the
// stored answer commit in one transaction. A repeat gets the stored answer.
func (a *API) placeOrder(c *gin.Context, who access.Credential) error {
	key := c.GetHeader("Idempotency-Key")
	if key == "" || len(key) > 255 || !printable(key) {
		return apperr.New(apperr.Malformed, "Send an Idempotency-Key header of 1 to 255 printable ASCII characters; a repeat with the same key meets the same order.")
	}
	raw, err := io.ReadAll(c.Request.Body)
	if err != nil {
		return err
	}
	var req orderRequest
	if err := checkText(raw); err != nil {
		return err
	}
	if err := decode(raw, &req); err != nil {
		return err
	}
	if !strings.HasPrefix(req.PaymentMethod, "pm_") || !payments.IsMeans(req.PaymentMethod) {
		return apperr.InvalidFields(apperr.Field{Name: "payment_method", Problem: "Give the id of a payment method, such as pm_card_visa."})
	}
	intent, err := operations.NewIntent(operations.Spec{Kind: RequestKind,
		Identity:    map[string]string{"credential": who.ID, "endpoint": "POST /api/v1/orders", "key": key},
		SubjectType: "merchant", SubjectID: who.Merchant, Params: raw})
	if err != nil {
		return apperr.New(apperr.Malformed, "The body names a member twice, or holds a number that JSON cannot carry exactly.").Because(err)
	}
	payment, err := json.Marshal(payments.Method{PaymentMethod: req.PaymentMethod, ShopURL: a.ShopURL})
	if err != nil {
		return fmt.Errorf("encoding a payment method: %w", err)
	}
	op, replayed, err := a.Ops.RunTx(c.Request.Context(), intent, operations.SourceHTTP, patience,
		func(ctx context.Context, tx pgx.Tx) (operations.Completion, error) {
			request := orders.Request{Buyer: orders.Buyer{Email: req.Email, Name: req.Name}, Payment: payment}
			for _, l := range req.Lines {
				request.Lines = append(request.Lines, orders.RequestLine{SKU: l.SKU, Quantity: l.Quantity})
			}
			o, err := a.Orders.PlaceRequest(ctx, tx, request)
			return operations.Completion{Outcome: operations.Succeeded, Result: a.body(o)}, err
		})
	switch {
	case errors.Is(err, operations.ErrInFlight):
		return apperr.New(apperr.InFlight, "A request with this Idempotency-Key is being worked on. Send it again shortly.").Because(err)
	case errors.Is(err, operations.ErrFingerprint):
		return apperr.New(apperr.Invalid, "This Idempotency-Key was used with another body. Use a new key for another order.").Because(err)
	case err != nil:
		return err
	}
	if replayed {
		c.Header("Idempotent-Replayed", "true")
	} else {
		a.Wake()
	}
	var placed orderBody
	if err := json.Unmarshal(op.Result, &placed); err != nil {
		return fmt.Errorf("reading a stored answer: %w", err)
	}
	c.Header("Location", "/api/v1/orders/"+placed.ID)
	c.Data(http.StatusCreated, "application/json; charset=utf-8", op.Result)
	return nil
}

// maxDepth is how deep arrays and objects may be nested; an order needs three.
const maxDepth = 16

// checkText refuses what cannot be stored or shown: bytes that are no UTF-8,
// the character NUL, which JSON can carry and PostgreSQL cannot, and nesting
// that grows out of all proportion when somebody looks at it.
func checkText(raw []byte) error {
	if !utf8.Valid(raw) {
		return apperr.New(apperr.Malformed, "The body is not valid UTF-8.")
	}
	dec, depth := json.NewDecoder(bytes.NewReader(raw)), 0
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return apperr.New(apperr.Malformed, "The body is not JSON.").Because(err)
		}
		switch t := token.(type) {
		case string:
			if strings.ContainsRune(t, 0) {
				return apperr.New(apperr.Malformed, "The body contains the character NUL (\\u0000), which cannot be stored.")
			}
		case json.Delim:
			if depth++; t == '}' || t == ']' {
				depth -= 2
			}
			if depth > maxDepth {
				return apperr.New(apperr.Malformed, "The body is nested deeper than %d levels.", maxDepth)
			}
		}
	}
}

// decode reads a body whose members are all known, and names the one that is not right.
func decode(raw []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	err := dec.Decode(into)
	if err == nil {
		return nil
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return apperr.InvalidFields(apperr.Field{Name: wrong.Field, Problem: "A JSON " + wrong.Value + " cannot be used here."})
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return apperr.InvalidFields(apperr.Field{Name: strings.Trim(name, `"`), Problem: "There is no such member; it may be misspelt."})
	}
	return apperr.New(apperr.Malformed, "The body is not the JSON of an order.").Because(err)
}

func printable(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < 0x20 || r > 0x7e }) < 0
}
