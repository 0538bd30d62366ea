package orders

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

func getCart(ctx context.Context, q querier, id string) (Cart, error) {
	c := Cart{ID: id}
	rows, _ := q.Query(ctx, `SELECT checkout_token FROM carts WHERE id = $1`, id)
	tokens, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return Cart{}, fmt.Errorf("reading a cart: %w", err)
	}
	if len(tokens) == 0 {
		return c, nil
	}
	c.CheckoutToken = tokens[0]
	rows, _ = q.Query(ctx, `SELECT p.sku, p.name, p.tagline, p.price, p.currency, l.quantity
		FROM cart_lines l JOIN products p USING (sku) WHERE l.cart_id = $1 ORDER BY l.added_at, p.sku`, id)
	c.Lines, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (l CartLine, err error) {
		err = row.Scan(&l.Product.SKU, &l.Product.Name, &l.Product.Tagline, &l.Product.Price.Amount,
			&l.Product.Price.Currency, &l.Quantity)
		return l, err
	})
	if err != nil {
		return Cart{}, fmt.Errorf("reading the lines of a cart: %w", err)
	}
	return c, c.price()
}

// lockCart makes the cart when it is not there and holds it until the
// transaction ends.
func lockCart(ctx context.Context, tx pgx.Tx, id string) error {
	if _, err := tx.Exec(ctx, `INSERT INTO carts (id, checkout_token) VALUES ($1, $2)
		ON CONFLICT (id) DO UPDATE SET updated_at = clock_timestamp()`, id, newToken()); err != nil {
		return fmt.Errorf("locking a cart: %w", err)
	}
	return nil
}

func setCartLine(ctx context.Context, tx pgx.Tx, id, sku string, quantity int) error {
	if _, err := tx.Exec(ctx, `INSERT INTO cart_lines (cart_id, sku, quantity) VALUES ($1, $2, $3)
		ON CONFLICT (cart_id, sku) DO UPDATE SET quantity = excluded.quantity`, id, sku, quantity); err != nil {
		return fmt.Errorf("putting %s into a cart: %w", sku, err)
	}
	return nil
}

func removeCartLine(ctx context.Context, tx pgx.Tx, id, sku string) error {
	if _, err := tx.Exec(ctx, `DELETE FROM cart_lines WHERE cart_id = $1 AND sku = $2`, id, sku); err != nil {
		return fmt.Errorf("taking %s out of a cart: %w", sku, err)
	}
	return nil
}

// emptyCart gives the cart a new token: the old one now names the order.
func emptyCart(ctx context.Context, tx pgx.Tx, id string) error {
	if _, err := tx.Exec(ctx, `DELETE FROM cart_lines WHERE cart_id = $1`, id); err != nil {
		return fmt.Errorf("emptying a cart: %w", err)
	}
	if _, err := tx.Exec(ctx, `UPDATE carts SET checkout_token = $2 WHERE id = $1`, id, newToken()); err != nil {
		return fmt.Errorf("renewing the token of a cart: %w", err)
	}
	return nil
}
