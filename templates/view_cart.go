package templates

import (
	"net/url"
	"strconv"

	"shop/internal/money"
)

// LineView is one line of a cart, of an order or of a receipt.
type LineView struct {
	SKU       string
	Name      string
	Image     string // asset name, such as "products/enamel-mug.svg"
	Quantity  int
	UnitPrice money.Money
	Total     money.Money
	Error     string // why a change of the quantity was refused; cart only
}

// URL is the address of the product's page.
func (l LineView) URL() string { return "/products/" + url.PathEscape(l.SKU) }

func (l LineView) quantity() string { return strconv.Itoa(l.Quantity) }

// fieldID names the quantity field of this line, so that its label finds it.
func (l LineView) fieldID() string { return "quantity-" + url.PathEscape(l.SKU) }

// CartView is the cart; without lines it is the empty state.
type CartView struct {
	Shell
	Lines  []LineView
	Total  money.Money
	Notice Notice
}
