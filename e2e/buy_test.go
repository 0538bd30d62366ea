package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

const (
	goodCard     = "4242424242424242"
	noMoneyCard  = "4000000000009995"
	receiptSent  = `document.querySelector('[data-state^="receipt_sent"]')`
	cardDeclined = `document.querySelector('[data-state^="declined"]')`
)

// toCheckout goes from the catalogue to the checkout page with the mouse.
func (b *tab) toCheckout(d *demo, sku string, quantity int) {
	b.t.Helper()
	b.open(d.ShopURL + "/")
	b.click(`a[href="/products/` + sku + `"]`)
	b.arrive("/products/" + sku)
	b.do(chromedp.Clear(chromedp.CSS("#quantity")))
	b.typeIn("#quantity", fmt.Sprint(quantity))
	b.click("form.buy button[type=submit]")
	b.arrive("/cart")
	b.click(`a[href="/checkout"]`)
	b.arrive("/checkout")
}

// typeCard fills the card form of the local Stripe.
func (b *tab) typeCard(number string) {
	b.t.Helper()
	b.do(chromedp.WaitVisible(chromedp.CSS("#card-number")))
	b.typeIn("#card-number", number, "#card-expiry", "1234", "#card-cvc", "123")
}

// doubleClick clicks twice on the same spot, as fast as a mouse can.
func (b *tab) doubleClick(selector string) {
	b.t.Helper()
	b.do(chromedp.ScrollIntoView(chromedp.CSS(selector)))
	box, err := chromedp.Run(b.ctx, chromedp.Dimensions(chromedp.CSS(selector)))
	require.NoError(b.t, err)
	x := (box.Content[0] + box.Content[4]) / 2
	y := (box.Content[1] + box.Content[5]) / 2
	press := func(kind input.DispatchMouseEventType, count int) chromedp.Action[chromedp.Void] {
		return chromedp.MouseEvent(kind, x, y, chromedp.ButtonLeft, chromedp.ClickCount(count))
	}
	b.do(press(chromedp.MousePressed, 1), press(chromedp.MouseReleased, 1), press(chromedp.MousePressed, 2), press(chromedp.MouseReleased, 2))
}

func TestBuy_WithADoubleClickInTheBrowser(t *testing.T) {
	t.Parallel()
	d := sharedDemo(t)
	b := newTab(t)
	email := newEmail("ada")

	b.toCheckout(d, "fountain-pen", 7)
	b.typeIn("#name", "Ada Lovelace", "#email", email)
	b.typeCard(goodCard)
	require.Equal(t, "Pay $448.00", b.eval(`document.querySelector("#pay").textContent.trim()`))
	// A slow bank, so that the page is there before the money is.
	d.misbehave(t, "slow_inside", confirmEndpoint, 44800, 1500, 1)
	b.doubleClick("#pay")

	path := b.arrive("/orders/ord_")
	require.Equal(t, "false", b.eval(`Boolean(`+receiptSent+`)`), "the page must be there before the receipt is, or this proves nothing")
	b.eval(`window.sameDocument = "yes"`)
	b.until(receiptSent)
	require.Equal(t, "yes", b.eval(`window.sameDocument`), "the page moved on by itself, without loading again")
	require.Equal(t, "4", b.eval(`document.querySelectorAll(".stop-done").length`))
	require.Equal(t, "Receipt sent", b.eval(`document.querySelector(".track li:last-child .stop-label").firstChild.textContent.trim()`))
	require.Contains(t, b.eval(`document.querySelector("main").innerText`), email)

	o := d.onlyOrder(t, email)
	require.Equal(t, "/orders/"+o.PublicID, path)
	require.Equal(t, int64(44800), o.Total)
	require.Equal(t, "usd", o.Currency)
	d.paidOnce(t, o, 0)
	mail := d.onlyMail(t, email)
	require.Contains(t, mail.Text, "$448.00")
	require.Contains(t, mail.HTML, "$448.00")

	b.open(d.InboxURL + "/")
	b.until(`[...document.querySelectorAll("a")].some(a => a.innerText.includes("` + email + `"))`)
	b.eval(`[...document.querySelectorAll("a")].find(a => a.innerText.includes("` + email + `")).click()`)
	b.arrive("/messages/")
	b.eval(`[...document.querySelectorAll("a")].find(a => a.textContent.trim() === "Text").click()`)
	b.until(`document.querySelector("pre") && document.querySelector("pre").textContent.includes("$448.00")`)
	receipt := b.eval(`document.body.innerText`)
	require.Contains(t, receipt, email)
	require.Contains(t, receipt, fmt.Sprint(o.ID))
	require.Contains(t, receipt, "Fountain pen")
	require.Contains(t, receipt, mail.MessageID)
}

func TestBuy_WithoutJavaScript(t *testing.T) {
	t.Parallel()
	d := sharedDemo(t)
	b := newTab(t)
	email := newEmail("grace")
	callPage(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})

	b.toCheckout(d, "moka-pot", 3)
	require.Equal(t, "0", b.eval(`document.querySelectorAll("#payment *").length`), "no script has mounted a card form")
	b.typeIn("#name", "Grace Hopper", "#email", email)
	b.click(`input[name=payment_method][value=pm_card_visa]`)
	d.misbehave(t, "slow_inside", confirmEndpoint, 12600, 3000, 1)
	b.click("#pay")
	b.arrive("/orders/ord_")
	require.Equal(t, "false", b.eval(`Boolean(`+receiptSent+`)`), "the page must be there before the receipt is, or this proves nothing")
	b.until(receiptSent) // the page loads itself again
	require.Equal(t, "0", b.eval(`document.querySelectorAll("meta[http-equiv=refresh]").length`), "a page with nothing more to say stays")

	d.paidOnce(t, d.onlyOrder(t, email), 0)
	d.onlyMail(t, email)
}

func TestBuy_DeclinedAndThenWithAnotherCard(t *testing.T) {
	t.Parallel()
	d := sharedDemo(t)
	b := newTab(t)
	email := newEmail("mary")

	b.toCheckout(d, "oak-stool", 1)
	b.typeIn("#name", "Mary Somerville", "#email", email)
	b.typeCard(noMoneyCard)
	b.click("#pay")
	path := b.arrive("/orders/ord_")
	b.until(cardDeclined + ` && document.querySelector("#card-number")`)
	require.Contains(t, b.eval(`document.querySelector("#order-status").innerText`), "not have enough money")
	o := d.onlyOrder(t, email)
	require.Equal(t, "payment_failed", o.State)
	require.Empty(t, d.ledger(t)[o.ID], "nothing was charged")
	require.Empty(t, d.mails(t, email), "no receipt for nothing")

	b.typeCard(goodCard)
	b.doubleClick("#pay")
	b.until(receiptSent)
	require.Equal(t, path, b.eval("location.pathname"))
	o = d.onlyOrder(t, email)
	d.paidOnce(t, o, 1)
	d.onlyMail(t, email)
}

func TestBuy_TwoTabsOfOneCartMeetOneOrder(t *testing.T) {
	t.Parallel()
	d := sharedDemo(t)
	left := newTab(t)
	email := newEmail("emmy")

	left.toCheckout(d, "wall-clock", 2)
	right := left.another()
	right.open(d.ShopURL + "/checkout")
	for _, b := range []*tab{left, right} {
		b.typeIn("#name", "Emmy Noether", "#email", email)
		b.typeCard(goodCard)
	}
	token := left.eval(`document.querySelector("[name=checkout_token]").value`)
	require.Equal(t, token, right.eval(`document.querySelector("[name=checkout_token]").value`))
	left.click("#pay")
	right.click("#pay")
	path := left.arrive("/orders/ord_")
	require.Equal(t, path, right.arrive("/orders/ord_"))
	left.until(receiptSent)
	right.until(receiptSent)
	o := d.onlyOrder(t, email)
	require.Equal(t, "/orders/"+o.PublicID, path)
	d.paidOnce(t, o, 0)

	// The way back leads to the empty cart and not to a form that is used up.
	left.do(chromedp.NavigateBack())
	left.arrive("/cart")
	require.Equal(t, "0", left.eval(`document.querySelectorAll("[name=checkout_token], #pay").length`))

	// Who sends the old form all the same meets the same order.
	s := newShopper(t, d.ShopURL)
	a := s.post("/checkout", map[string][]string{"checkout_token": {token}, "expected_total": {"15200"},
		"name": {"Emmy Noether"}, "email": {email}, "payment_method": {"pm_card_visa"}})
	require.Equal(t, 303, a.Status)
	require.Equal(t, path, a.Header.Get("Location"))
	d.paidOnce(t, d.onlyOrder(t, email), 0)
	d.onlyMail(t, email)
}

func TestBuy_WithTheKeyboardAlone(t *testing.T) {
	t.Parallel()
	d := sharedDemo(t)
	b := newTab(t)
	email := newEmail("hedy")

	b.open(d.ShopURL + "/")
	b.tabTo(`e => e.matches("a.skip")`)
	b.press("\r")
	b.tabTo(`e => e.matches('a[href="/products/steel-scissors"]')`)
	b.press("\r")
	b.arrive("/products/steel-scissors")
	b.tabTo(`e => e.matches("form.buy button[type=submit]")`)
	b.press("\r")
	b.arrive("/cart")
	b.tabTo(`e => e.matches('a[href="/checkout"]')`)
	b.press("\r")
	b.arrive("/checkout")
	b.until(`document.querySelector("#card-number")`)
	for _, field := range [][2]string{{"name", "Hedy Lamarr"}, {"email", email}, {"card-number", goodCard}, {"card-expiry", "1234"}, {"card-cvc", "123"}} {
		b.tabTo(`e => e.id === "` + field[0] + `"`)
		b.press(field[1])
	}
	b.tabTo(`e => e.id === "pay"`)
	b.press("\r")
	b.arrive("/orders/ord_")
	b.until(receiptSent)
	d.paidOnce(t, d.onlyOrder(t, email), 0)
}

func (b *tab) press(keys string) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(keys))
}

// tabTo presses Tab until the focus is where a function of an element says.
// At each stop the focus must be visible.
func (b *tab) tabTo(where string) {
	b.t.Helper()
	var seen []string
	for range 80 {
		b.press("\t")
		at := b.eval(`(() => {
			const e = document.activeElement;
			if (!e || e === document.body) return "nowhere";
			const s = getComputedStyle(e), shown = e.getBoundingClientRect();
			const visible = shown.width > 1 && shown.height > 1 &&
				((s.outlineStyle !== "none" && parseFloat(s.outlineWidth) > 0) || s.boxShadow !== "none");
			return ((` + where + `)(e) ? "here" : "on") + (visible ? "" : " invisible") + " " + e.outerHTML.slice(0, 120);
		})()`)
		require.NotContains(b.t, strings.SplitN(at, "<", 2)[0], "invisible", "the focus cannot be seen on %s", at)
		if strings.HasPrefix(at, "here") {
			return
		}
		seen = append(seen, at)
	}
	require.Fail(b.t, "Tab does not get there", "looking for %s; Tab stopped at\n%s", where, strings.Join(seen, "\n"))
}
