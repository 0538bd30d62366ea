package storefront

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"shop/internal/orders"
	"shop/internal/web/httpx"
	"shop/templates"
)

func (s *Storefront) catalogue(c *gin.Context) error {
	cart, err := s.readCart(c)
	if err != nil {
		return err
	}
	products, err := s.Orders.Products(c.Request.Context())
	if err != nil {
		return err
	}
	view := templates.CatalogueView{Shell: s.shell(cart)}
	for _, p := range products {
		view.Products = append(view.Products, productView(p))
	}
	return httpx.Render(c, http.StatusOK, templates.CataloguePage(view))
}

func (s *Storefront) product(c *gin.Context) error {
	return s.productPage(c, http.StatusOK, c.Param("sku"), "", "")
}

// productPage shows a product, with what was typed and why it was refused.
func (s *Storefront) productPage(c *gin.Context, status int, sku, quantity, problem string) error {
	product, err := s.Orders.Product(c.Request.Context(), sku)
	if err != nil {
		return err
	}
	cart, err := s.readCart(c)
	if err != nil {
		return err
	}
	return httpx.Render(c, status, templates.ProductPage(templates.ProductPageView{Shell: s.shell(cart),
		Product: productView(product), Quantity: quantity, Error: problem}))
}

func productView(p orders.Product) templates.ProductView {
	return templates.ProductView{SKU: p.SKU, Name: p.Name, Summary: p.Tagline,
		Description: strings.Split(p.Description, "\n\n"), Image: image(p.SKU), Price: p.Price}
}
