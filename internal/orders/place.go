package orders

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"shop/internal/apperr"
	"shop/internal/money"
	"shop/internal/outbox"
)

// Checkout is what the checkout page sends.
type Checkout struct {
	CartID        string
	CheckoutToken string
	Buyer         Buyer
	// Shown is the total, in minor units, that the shopper saw. It never sets a
	// price: when it differs from the total worked out here, nothing is placed.
	Shown int64
	// Payment is carried to the payment side unread.
	Payment json.RawMessage
}

// Place turns a cart into an order: order, lines, message and emptied cart
// commit in one transaction. The same checkout token always meets the same
// order, so a double click, a resubmission and a second tab change nothing and
// get what the first one got (repeat is true).
//
// A crash before the commit leaves the cart as it was; after it, the order and
// its message are both there.
func (s *Store) Place(ctx context.Context, c Checkout) (order Order, repeat bool, err error) {
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		// The lock on the cart is what the second click waits for.
		if err := lockCart(ctx, tx, c.CartID); err != nil {
			return err
		}
		order, repeat, err = findByToken(ctx, tx, c.CheckoutToken)
		if err != nil || repeat {
			return err
		}
		cart, err := getCart(ctx, tx, c.CartID)
		if err != nil {
			return err
		}
		draft, err := c.draft(cart)
		if err != nil {
			return err
		}
		if order, err = placeDraft(ctx, tx, draft); err != nil {
			return err
		}
		return emptyCart(ctx, tx, c.CartID)
	})
	return order, repeat, err
}

// draft checks a checkout against the cart that it was made from.
func (c Checkout) draft(cart Cart) (Draft, error) {
	if len(cart.Lines) == 0 {
		return Draft{}, apperr.New(apperr.Conflict, "Your cart is empty, so there is nothing to order.")
	}
	if cart.CheckoutToken != c.CheckoutToken {
		return Draft{}, apperr.New(apperr.Conflict, "This checkout page is out of date. Look through your cart and check out again.")
	}
	buyer, err := c.Buyer.clean()
	if err != nil {
		return Draft{}, err
	}
	if cart.Total.Amount != c.Shown {
		return Draft{}, apperr.New(apperr.Conflict,
			"The total has changed: it is %s now. Nothing was ordered; look through your cart and check out again.", cart.Total)
	}
	return Draft{Token: c.CheckoutToken, Buyer: buyer, Lines: cart.Lines, Total: cart.Total, Payment: c.Payment}, nil
}

// Request is an order as a program asks for it.
type Request struct {
	Buyer   Buyer
	Lines   []RequestLine
	Payment json.RawMessage
}

// RequestLine asks for pieces of one product.
type RequestLine struct {
	SKU      string
	Quantity int
}

// PlaceRequest places an order for a program inside the caller's transaction,
// at the prices of the database. Each call is another order: the caller makes
// sure that a repeat does not get here.
func (s *Store) PlaceRequest(ctx context.Context, tx pgx.Tx, r Request) (Order, error) {
	buyer, err := r.Buyer.clean()
	if err != nil {
		return Order{}, err
	}
	cart := Cart{}
	if len(r.Lines) == 0 || len(r.Lines) > maxLines {
		return Order{}, apperr.InvalidFields(apperr.Field{Name: "lines", Problem: fmt.Sprintf("Give 1 to %d lines.", maxLines)})
	}
	seen := map[string]bool{}
	for i, l := range r.Lines {
		field := fmt.Sprintf("lines[%d]", i)
		if checkQuantity(l.Quantity) != nil {
			return Order{}, apperr.InvalidFields(apperr.Field{Name: field + ".quantity", Problem: fmt.Sprintf("Give a whole number from 1 to %d.", MaxQuantity)})
		}
		if seen[l.SKU] {
			return Order{}, apperr.InvalidFields(apperr.Field{Name: field + ".sku", Problem: "This product has a line already."})
		}
		seen[l.SKU] = true
		product, err := getProduct(ctx, tx, l.SKU)
		if apperr.KindOf(err) == apperr.NotFound {
			return Order{}, apperr.InvalidFields(apperr.Field{Name: field + ".sku", Problem: "There is no such product."})
		}
		if err != nil {
			return Order{}, err
		}
		cart.Lines = append(cart.Lines, CartLine{Product: product, Quantity: l.Quantity})
	}
	if err := cart.price(); err != nil {
		return Order{}, err
	}
	return placeDraft(ctx, tx, Draft{Token: newToken(), Buyer: buyer, Lines: cart.Lines, Total: cart.Total, Payment: r.Payment})
}

// Draft is an order that has been checked and not yet written.
type Draft struct {
	Token   string
	Buyer   Buyer
	Lines   []CartLine
	Total   money.Money
	Payment json.RawMessage
}

// placeDraft writes the order and the message about it.
func placeDraft(ctx context.Context, tx pgx.Tx, d Draft) (Order, error) {
	if d.Total.Amount > money.MaxAmount {
		return Order{}, apperr.New(apperr.Invalid, "One order may come to at most %s.",
			money.Money{Amount: money.MaxAmount, Currency: d.Total.Currency})
	}
	order, err := insertOrder(ctx, tx, "ord_"+newToken(), d)
	if err != nil {
		return Order{}, err
	}
	placement := Placement{OrderID: order.ID, PublicID: order.PublicID, Amount: order.Total.Amount,
		Currency: order.Total.Currency, Payment: d.Payment}
	return order, outbox.Append(ctx, tx, TopicPlaced, SubjectType, fmt.Sprint(order.ID), placement)
}
