package templates

import (
	"net/url"

	"shop/internal/money"
)

// MaxQuantity is the most pieces of one product that the quantity field
// offers. The server holds the rule; the field only mirrors it.
const MaxQuantity = 20

// ProductView is one product as shoppers see it.
type ProductView struct {
	SKU         string
	Name        string
	Summary     string   // one line, shown in the grid
	Description []string // paragraphs, shown on the product's page
	Facts       []Fact   // material, size and care, shown as a table
	Image       string   // asset name, such as "products/enamel-mug.svg"
	ImageAlt    string   // what the picture shows; empty means the name
	Price       money.Money
}

// Fact is one row of a product's particulars.
type Fact struct{ Label, Value string }

// URL is the address of the product's page.
func (p ProductView) URL() string { return "/products/" + url.PathEscape(p.SKU) }

func (p ProductView) alt() string {
	if p.ImageAlt != "" {
		return p.ImageAlt
	}
	return p.Name
}

// CatalogueView is the front page.
type CatalogueView struct {
	Shell
	Products []ProductView // the first is shown large where there is room
}

// ProductPageView is one product's page. Quantity and Error keep what was
// typed when the server refused it.
type ProductPageView struct {
	Shell
	Product  ProductView
	Quantity string // what the field holds; empty means 1
	Error    string // why the quantity was refused
}

func (v ProductPageView) quantity() string {
	if v.Quantity == "" {
		return "1"
	}
	return v.Quantity
}
