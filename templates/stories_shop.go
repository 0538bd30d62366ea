package templates

import "shop/internal/money"

func shopStories() []Story {
	products := storyProducts()
	hostile := products[1]
	hostile.Name, hostile.Summary = hostileName(), hostileName()
	yen := products[7]
	yen.Price = jpy(7200)
	return []Story{
		{"all products", "Catalogue", CataloguePage(CatalogueView{Shell: storyShell(), Products: products})},
		{"no products", "Catalogue", CataloguePage(CatalogueView{})},
		{"hostile names", "Catalogue", CataloguePage(CatalogueView{Products: []ProductView{products[0], hostile, products[2]}})},
		{"product", "Product", ProductPage(ProductPageView{Shell: storyShell(), Product: products[0]})},
		{"quantity refused", "Product", ProductPage(ProductPageView{Product: products[4], Quantity: "1000000000", Error: "Quantity must be a whole number from 1 to 20; 1000000000 is too many."})},
		{"hostile name", "Product", ProductPage(ProductPageView{Product: hostile})},
		{"in yen", "Product", ProductPage(ProductPageView{Product: yen})},
		{"lines", "Cart", CartPage(CartView{Shell: storyShell(), Lines: storyLines(), Total: storyTotal()})},
		{"just added", "Cart", CartPage(CartView{Shell: storyShell(), Lines: storyLines(), Total: storyTotal(), Notice: Notice{Kind: NoticeOK, Text: "Brass lamp is in your cart."}})},
		{"quantity refused", "Cart", CartPage(CartView{Shell: storyShell(), Lines: refusedLines(), Total: storyTotal()})},
		{"hostile name", "Cart", CartPage(CartView{Lines: hostileLines(), Total: usd(6400)})},
		{"empty", "Cart", CartPage(CartView{Shell: Shell{Demo: true}})},
		{"fresh", "Checkout", CheckoutPage(storyCheckout(storyLines(), storyTotal()))},
		{"refused", "Checkout", CheckoutPage(refusedCheckout())},
		{"total changed", "Checkout", CheckoutPage(changedCheckout())},
		{"needs javascript", "Checkout", CheckoutPage(liveCheckout())},
		{"hostile name", "Checkout", CheckoutPage(storyCheckout(hostileLines(), usd(6400)))},
		{"in yen", "Checkout", CheckoutPage(storyCheckout(yenLines(), jpy(14400)))},
	}
}

func refusedLines() []LineView {
	lines := storyLines()
	lines[1].Error = "Quantity must be a whole number from 1 to 20. It is still 2."
	return lines
}

func hostileLines() []LineView {
	line := storyLine("cast-iron-pan", 1)
	line.Name = hostileName()
	return []LineView{line}
}

func yenLines() []LineView {
	line := storyLine("steel-scissors", 2)
	line.UnitPrice, line.Total = jpy(7200), jpy(14400)
	return []LineView{line}
}

func storyCheckout(lines []LineView, total money.Money) CheckoutView {
	card := storyCard(total)
	card.Name, card.Email = "", ""
	return CheckoutView{
		Shell: storyShell(), Lines: lines, Total: total,
		CheckoutToken: "cht_story", ExpectedTotal: total, Card: card,
	}
}

func refusedCheckout() CheckoutView {
	v := storyCheckout(storyLines(), storyTotal())
	v.Name, v.Email = hostileName(), "ada@"
	v.Errors = []FieldError{
		{"name", "The name is too long. Use at most 200 characters."},
		{"email", "“ada@” has no domain. Write the address like ada@example.com."},
		{"payment", "Enter the card again. We never keep it between two tries."},
	}
	return v
}

func changedCheckout() CheckoutView {
	v := storyCheckout(storyLines(), storyTotal())
	v.Notice = Notice{Kind: NoticeWarn, Title: "The total has changed", Text: "A price changed while you were here. Look at the new total below, and pay if you agree. Nothing was charged."}
	return v
}

func liveCheckout() CheckoutView {
	v := storyCheckout(storyLines(), storyTotal())
	v.Demo, v.Card.TestCards = false, nil
	return v
}
