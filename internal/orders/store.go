package orders

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"shop/internal/apperr"
)

// Store keeps products, carts and orders in PostgreSQL.
type Store struct{ pool *pgxpool.Pool }

// NewStore returns a store on a pool.
func NewStore(pool *pgxpool.Pool) *Store { return &Store{pool: pool} }

// querier is what a pool and a transaction have in common.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

const productColumns = `sku, name, tagline, description, price, currency`

func scanProduct(row pgx.CollectableRow) (p Product, err error) {
	err = row.Scan(&p.SKU, &p.Name, &p.Tagline, &p.Description, &p.Price.Amount, &p.Price.Currency)
	return p, err
}

// Products returns the catalogue in its order.
func (s *Store) Products(ctx context.Context) ([]Product, error) {
	rows, _ := s.pool.Query(ctx, `SELECT `+productColumns+` FROM products ORDER BY position, sku`)
	products, err := pgx.CollectRows(rows, scanProduct)
	if err != nil {
		return nil, fmt.Errorf("reading the catalogue: %w", err)
	}
	return products, nil
}

// Product reads one product; a NotFound error when there is none.
func (s *Store) Product(ctx context.Context, sku string) (Product, error) {
	return getProduct(ctx, s.pool, sku)
}

func getProduct(ctx context.Context, q querier, sku string) (Product, error) {
	rows, _ := q.Query(ctx, `SELECT `+productColumns+` FROM products WHERE sku = $1`, sku)
	p, err := pgx.CollectExactlyOneRow(rows, scanProduct)
	if errors.Is(err, pgx.ErrNoRows) {
		return Product{}, apperr.New(apperr.NotFound, "We do not sell that.")
	}
	if err != nil {
		return Product{}, fmt.Errorf("reading product %s: %w", sku, err)
	}
	return p, nil
}

func upsertProduct(ctx context.Context, q querier, p Product, position int) error {
	if _, err := q.Exec(ctx, `INSERT INTO products (sku, name, tagline, description, price, currency, position)
		VALUES (@sku, @name, @tagline, @description, @price, @currency, @position)
		ON CONFLICT (sku) DO UPDATE SET name = @name, tagline = @tagline, description = @description, price = @price,
			currency = @currency, position = @position
		WHERE (products.*) IS DISTINCT FROM (@sku, @name, @tagline, @description, @price::bigint, @currency, @position::integer)`,
		pgx.NamedArgs{"sku": p.SKU, "name": p.Name, "tagline": p.Tagline, "description": p.Description,
			"price": p.Price.Amount, "currency": p.Price.Currency, "position": position}); err != nil {
		return fmt.Errorf("writing product %s: %w", p.SKU, err)
	}
	return nil
}

func insertOrder(ctx context.Context, tx pgx.Tx, publicID string, d Draft) (Order, error) {
	o := Order{PublicID: publicID, Email: d.Buyer.Email, Name: d.Buyer.Name, Total: d.Total, State: Placed}
	if err := tx.QueryRow(ctx, `INSERT INTO orders (public_id, checkout_token, email, name, currency, total)
		VALUES (@public_id, @token, @email, @name, @currency, @total) RETURNING id, placed_at`, pgx.NamedArgs{
		"public_id": publicID, "token": d.Token, "email": o.Email, "name": o.Name, "currency": o.Total.Currency,
		"total": o.Total.Amount}).Scan(&o.ID, &o.PlacedAt); err != nil {
		return Order{}, fmt.Errorf("inserting an order: %w", err)
	}
	rows := make([][]any, len(d.Lines))
	for i, l := range d.Lines {
		rows[i] = []any{o.ID, i + 1, l.Product.SKU, l.Product.Name, l.Product.Price.Amount, l.Quantity}
		o.Lines = append(o.Lines, Line{SKU: l.Product.SKU, Name: l.Product.Name, UnitPrice: l.Product.Price,
			Quantity: l.Quantity, Total: l.Total})
	}
	if _, err := tx.CopyFrom(ctx, pgx.Identifier{"order_lines"},
		[]string{"order_id", "line", "sku", "name", "unit_price", "quantity"}, pgx.CopyFromRows(rows)); err != nil {
		return Order{}, fmt.Errorf("inserting the lines of order %d: %w", o.ID, err)
	}
	return o, nil
}

// Order reads an order by its public id; a NotFound error when there is none.
func (s *Store) Order(ctx context.Context, publicID string) (Order, error) {
	return getOrder(ctx, s.pool, "public_id = $1", publicID)
}

// OrderByID reads an order by its number; a NotFound error when there is none.
func (s *Store) OrderByID(ctx context.Context, id int64) (Order, error) {
	return getOrder(ctx, s.pool, "id = $1", id)
}

func findByToken(ctx context.Context, tx pgx.Tx, token string) (Order, bool, error) {
	o, err := getOrder(ctx, tx, "checkout_token = $1", token)
	if apperr.KindOf(err) == apperr.NotFound {
		return Order{}, false, nil
	}
	return o, err == nil, err
}

func getOrder(ctx context.Context, q querier, where string, arg any) (Order, error) {
	rows, _ := q.Query(ctx, `SELECT id, public_id, email, name, currency, total, state, coalesce(state_reason, ''), placed_at,
		paid_at FROM orders WHERE `+where, arg)
	o, err := pgx.CollectExactlyOneRow(rows, func(row pgx.CollectableRow) (o Order, err error) {
		err = row.Scan(&o.ID, &o.PublicID, &o.Email, &o.Name, &o.Total.Currency, &o.Total.Amount, &o.State, &o.Reason,
			&o.PlacedAt, &o.PaidAt)
		return o, err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return Order{}, apperr.New(apperr.NotFound, "There is no such order.")
	}
	if err != nil {
		return Order{}, fmt.Errorf("reading order %v: %w", arg, err)
	}
	rows, _ = q.Query(ctx, `SELECT sku, name, unit_price, quantity FROM order_lines WHERE order_id = $1 ORDER BY line`, o.ID)
	o.Lines, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (l Line, err error) {
		if err = row.Scan(&l.SKU, &l.Name, &l.UnitPrice.Amount, &l.Quantity); err != nil {
			return l, err
		}
		l.UnitPrice.Currency = o.Total.Currency
		l.Total, err = l.UnitPrice.Times(int64(l.Quantity))
		return l, err
	})
	if err != nil {
		return Order{}, fmt.Errorf("reading the lines of order %d: %w", o.ID, err)
	}
	return o, nil
}

// moveOrder changes the state of an order that is in one of the states from.
func moveOrder(ctx context.Context, tx pgx.Tx, id int64, to State, reason string, from ...State) error {
	tag, err := tx.Exec(ctx, `UPDATE orders SET state = @to, state_reason = nullif(@reason, ''),
		paid_at = CASE WHEN @to = 'paid' THEN clock_timestamp() END WHERE id = @id AND state = ANY(@from)`,
		pgx.NamedArgs{"to": to, "reason": reason, "id": id, "from": from})
	if err != nil {
		return fmt.Errorf("marking order %d as %s: %w", id, to, err)
	}
	if tag.RowsAffected() == 0 {
		return fmt.Errorf("marking order %d as %s: it is in none of the states %v", id, to, from)
	}
	return nil
}
