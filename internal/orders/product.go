// Package orders is the shop as it would be if people paid by cheque: what is
// sold, carts, orders, and the facts about them that others need to hear.
package orders

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"

	"shop/internal/money"
)

// Product is something that the shop sells.
type Product struct {
	SKU         string      `db:"sku"`
	Name        string      `db:"name"`
	Tagline     string      `db:"tagline"`
	Description string      `db:"description"`
	Price       money.Money `db:"-"`
}

//go:embed catalogue.json
var catalogueJSON []byte

// catalogueEntry is a product as catalogue.json lists it. Price is in hundredths
// of a dollar-sized unit, see priceIn.
type catalogueEntry struct {
	SKU, Name, Tagline, Description string
	Price                           int64
}

// priceIn turns a price of the catalogue into minor units of a currency. The
// sample prices are written as 4800 for something that costs $48.00; in a
// currency without decimals the same thing costs ¥4,800.
func priceIn(price int64, currency string) (money.Money, error) {
	exp, err := money.Exponent(currency)
	if err != nil {
		return money.Money{}, err
	}
	if exp == 3 {
		price *= 10
	}
	return money.Money{Amount: price, Currency: currency}, nil
}

// Seed writes the sample catalogue in the currency of the store. Running it
// again changes only what differs; orders keep the prices they were placed at.
func (s *Store) Seed(ctx context.Context, currency string) error {
	var entries []catalogueEntry
	if err := json.Unmarshal(catalogueJSON, &entries); err != nil {
		return fmt.Errorf("reading the sample catalogue: %w", err)
	}
	for i, e := range entries {
		price, err := priceIn(e.Price, currency)
		if err != nil {
			return fmt.Errorf("pricing %s: %w", e.SKU, err)
		}
		p := Product{SKU: e.SKU, Name: e.Name, Tagline: e.Tagline, Description: e.Description, Price: price}
		if err := upsertProduct(ctx, s.pool, p, i); err != nil {
			return err
		}
	}
	return nil
}
