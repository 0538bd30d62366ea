package orders

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"shop/internal/apperr"
	"shop/internal/money"
)

// MaxQuantity is how many pieces of one product a cart or an order takes.
const MaxQuantity = 20

// maxLines bounds the number of different products in one order.
const maxLines = 100

// Cart is what somebody means to buy, at today's prices.
type Cart struct {
	ID            string
	CheckoutToken string // names the order that this cart will become
	Lines         []CartLine
	Total         money.Money
}

// CartLine is one product in a cart.
type CartLine struct {
	Product  Product
	Quantity int
	Total    money.Money
}

// Pieces is the number shown beside the word "Cart".
func (c Cart) Pieces() (n int) {
	for _, l := range c.Lines {
		n += l.Quantity
	}
	return n
}

// GetCart reads a cart. An id that is unknown or empty gives an empty cart.
func (s *Store) GetCart(ctx context.Context, id string) (Cart, error) {
	return getCart(ctx, s.pool, id)
}

// AddToCart adds pieces of a product, making the cart when it is not there yet;
// with an empty id it chooses one. It returns the cart's id. More than 20
// pieces of one product are refused.
func (s *Store) AddToCart(ctx context.Context, id, sku string, quantity int) (string, error) {
	if err := checkQuantity(quantity); err != nil {
		return id, err
	}
	if id == "" {
		id = newToken()
	}
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := getProduct(ctx, tx, sku); err != nil {
			return err
		}
		if err := lockCart(ctx, tx, id); err != nil {
			return err
		}
		cart, err := getCart(ctx, tx, id)
		if err != nil {
			return err
		}
		for _, l := range cart.Lines {
			if l.Product.SKU == sku {
				quantity += l.Quantity
			}
		}
		if quantity > MaxQuantity {
			return apperr.New(apperr.Invalid, "There are at most %d of one thing to a customer.", MaxQuantity)
		}
		return setCartLine(ctx, tx, id, sku, quantity)
	})
	return id, err
}

// SetCartQuantity changes the pieces of a product in a cart; 0 takes it out.
func (s *Store) SetCartQuantity(ctx context.Context, id, sku string, quantity int) error {
	if quantity != 0 {
		if err := checkQuantity(quantity); err != nil {
			return err
		}
	}
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		cart, err := getCart(ctx, tx, id)
		if err != nil {
			return err
		}
		for _, l := range cart.Lines {
			if l.Product.SKU != sku {
				continue
			}
			if quantity == 0 {
				return removeCartLine(ctx, tx, id, sku)
			}
			return setCartLine(ctx, tx, id, sku, quantity)
		}
		return apperr.New(apperr.NotFound, "That product is not in your cart.")
	})
}

func checkQuantity(n int) error {
	if n < 1 || n > MaxQuantity {
		return apperr.InvalidFields(apperr.Field{Name: "quantity",
			Problem: fmt.Sprintf("Choose a quantity from 1 to %d.", MaxQuantity)})
	}
	return nil
}

// price works out the totals of lines and of the whole.
func (c *Cart) price() error {
	for i := range c.Lines {
		l := &c.Lines[i]
		var err error
		if l.Total, err = l.Product.Price.Times(int64(l.Quantity)); err != nil {
			return fmt.Errorf("pricing %s: %w", l.Product.SKU, err)
		}
		if i == 0 {
			c.Total = l.Total
			continue
		}
		if c.Total, err = c.Total.Add(l.Total); err != nil {
			return fmt.Errorf("adding up cart %s: %w", c.ID, err)
		}
	}
	return nil
}
