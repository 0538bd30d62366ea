package templates

import (
	"context"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/a-h/templ"
	"github.com/stretchr/testify/require"
)

func page(t *testing.T, c templ.Component) *goquery.Document {
	t.Helper()
	var b strings.Builder
	require.NoError(t, c.Render(context.Background(), &b))
	return parse(t, b.String())
}

func attr(t *testing.T, doc *goquery.Document, selector, name string) string {
	t.Helper()
	found := doc.Find(selector)
	require.Equalf(t, 1, found.Length(), "elements that match %s", selector)
	value, has := found.Attr(name)
	require.Truef(t, has, "%s has no %s", selector, name)
	return value
}

func TestCatalogue_ListsNameSummaryPriceAndLink(t *testing.T) {
	t.Parallel()
	doc := page(t, CataloguePage(CatalogueView{Shell: storyShell(), Products: storyProducts()}))
	require.Equal(t, 12, doc.Find(".card").Length())
	mug := doc.Find(`a[href="/products/enamel-mug"]`)
	require.Equal(t, 1, mug.Length())
	for _, text := range []string{"Enamel mug", "Two coats", "$24.00"} {
		require.Contains(t, mug.Text(), text)
	}
	require.Equal(t, "/assets/products/enamel-mug.svg", mug.Find("img").AttrOr("src", ""))
	require.Equal(t, "Cart (4)", strings.Join(strings.Fields(doc.Find(`a[href="/cart"]`).Text()), " "))
	require.Contains(t, doc.Find("footer").Text(), "Demo shop: no real money moves.")
}

func TestShell_SaysDemoOnlyInTheDemo(t *testing.T) {
	t.Parallel()
	doc := page(t, CataloguePage(CatalogueView{}))
	require.NotContains(t, doc.Find("footer").Text(), "Demo")
}

func TestProduct_SendsSKUAndQuantityOnly(t *testing.T) {
	t.Parallel()
	doc := page(t, ProductPage(ProductPageView{Product: storyProducts()[4]}))
	form := doc.Find(`form[method="post"][action="/cart/items"]`)
	require.Equal(t, []string{"sku", "quantity"}, fieldNames(form))
	require.Equal(t, "enamel-mug", form.Find(`[name="sku"]`).AttrOr("value", ""))
	quantity := form.Find("#quantity")
	require.Equal(t, "1", quantity.AttrOr("value", ""))
	require.Equal(t, "1", quantity.AttrOr("min", ""))
	require.Equal(t, "20", quantity.AttrOr("max", ""))
}

func TestCart_UpdatesAndRemovesByLine(t *testing.T) {
	t.Parallel()
	doc := page(t, CartPage(CartView{Lines: storyLines(), Total: storyTotal()}))
	require.Equal(t, 3, doc.Find(`form[action="/cart/items/update"]`).Length())
	require.Equal(t, 3, doc.Find(`form[action="/cart/items/remove"]`).Length())
	require.Equal(t, []string{"sku", "quantity"}, fieldNames(doc.Find(`form[action="/cart/items/update"]`).First()))
	require.Equal(t, []string{"sku"}, fieldNames(doc.Find(`form[action="/cart/items/remove"]`).First()))
	require.Equal(t, "Update Steel scissors", doc.Find(`form[action="/cart/items/update"] button`).First().Text(), "three buttons, three names")
	require.Contains(t, doc.Find(".sum").Text(), "$285.00")
	require.Equal(t, 1, doc.Find(`a[href="/checkout"]`).Length())
}

func TestCart_EmptyOffersNoCheckout(t *testing.T) {
	t.Parallel()
	doc := page(t, CartPage(CartView{}))
	require.Zero(t, doc.Find(`a[href="/checkout"], form`).Length())
	require.Equal(t, 1, doc.Find(`main a[href="/"]`).Length())
}

func TestCheckout_CarriesTokenGuardAndCardData(t *testing.T) {
	t.Parallel()
	doc := page(t, CheckoutPage(storyCheckout(storyLines(), storyTotal())))
	form := doc.Find(`form[method="post"][action="/checkout"]`)
	require.Equal(t, []string{
		"checkout_token", "expected_total", "name", "email", "confirmation_token",
		"payment_method", "payment_method", "payment_method",
	}, fieldNames(form))
	require.Equal(t, "cht_story", attr(t, doc, `[name="checkout_token"]`, "value"))
	require.Equal(t, "28500", attr(t, doc, `[name="expected_total"]`, "value"))
	require.Equal(t, "", attr(t, doc, `[name="confirmation_token"]`, "value"))
	require.Equal(t, "28500", attr(t, doc, "#payment", "data-amount"))
	require.Equal(t, "usd", attr(t, doc, "#payment", "data-currency"))
	require.Equal(t, "pk_test_story", attr(t, doc, "#payment", "data-publishable-key"))
	require.Equal(t, "http://localhost/orders/ord_story", attr(t, doc, "#payment", "data-return-url"))
	require.Equal(t, "/_sim/js/v3/", doc.Find("script").First().AttrOr("src", ""))
	require.Equal(t, "/assets/checkout.js", doc.Find("script").Last().AttrOr("src", ""))
	require.Equal(t, "Pay $285.00", strings.TrimSpace(doc.Find("#pay").Text()))
	require.Equal(t, "pm_card_visa", attr(t, doc, `noscript input:checked, noscript input[checked]`, "value"))
	require.Equal(t, "name", attr(t, doc, "#name", "autocomplete"))
	require.Equal(t, "email", attr(t, doc, "#email", "autocomplete"))
}

func TestCheckout_WithoutTestCardsNeedsTheScript(t *testing.T) {
	t.Parallel()
	doc := page(t, CheckoutPage(liveCheckout()))
	require.Zero(t, doc.Find(`[name="payment_method"]`).Length())
	require.Contains(t, doc.Find("noscript").Text(), "needs JavaScript")
	require.Equal(t, 1, doc.Find("#pay[disabled]").Length(), "no press before the script is there")
}

func TestCheckout_ExplainsRefusedFields(t *testing.T) {
	t.Parallel()
	doc := page(t, CheckoutPage(refusedCheckout()))
	require.Equal(t, 3, doc.Find("#error-summary li a").Length())
	require.Equal(t, "-1", attr(t, doc, "#error-summary", "tabindex"))
	require.Equal(t, "true", attr(t, doc, "#email", "aria-invalid"))
	require.Equal(t, "email-error", attr(t, doc, "#email", "aria-describedby"))
	require.Contains(t, doc.Find("#email-error").Text(), "no domain")
	require.Equal(t, "ada@", attr(t, doc, "#email", "value"))
	require.Contains(t, doc.Find("#payment-error").Text(), "Enter the card again")

	fresh := page(t, CheckoutPage(storyCheckout(storyLines(), storyTotal())))
	require.Zero(t, fresh.Find("#error-summary, [aria-invalid]").Length())
	require.Equal(t, "email-hint", attr(t, fresh, "#email", "aria-describedby"))
}

func TestYen_ShowsNoDecimalsAnywhere(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, s := range Stories() {
		if s.Name != "in yen" {
			continue
		}
		seen++
		html, doc := render(t, s)
		require.Contains(t, doc.Text(), "¥")
		require.NotRegexp(t, `¥[\d,]+\.\d`, html, s.Slug())
	}
	require.Equal(t, 4, seen)
	doc := page(t, CheckoutPage(storyCheckout(yenLines(), jpy(14400))))
	require.Equal(t, "14400", attr(t, doc, `[name="expected_total"]`, "value"))
	require.Equal(t, "Pay ¥14,400", strings.TrimSpace(doc.Find("#pay").Text()))
}

func TestError_SaysStatusAdviceAndRequestID(t *testing.T) {
	t.Parallel()
	doc := page(t, ErrorPage(ErrorView{Status: 404, RequestID: "req_7Hq2mVx0aK"}))
	require.Contains(t, doc.Find("main").Text(), "404")
	require.Contains(t, doc.Find("h1").Text(), "nothing here")
	require.Equal(t, "req_7Hq2mVx0aK", doc.Find("code").Text())
	require.Equal(t, 1, doc.Find(`main a[href="/"]`).Length())
}

func fieldNames(form *goquery.Selection) []string {
	return form.Find("[name]").Map(func(_ int, in *goquery.Selection) string { return in.AttrOr("name", "") })
}
