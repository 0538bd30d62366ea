package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// widths are those of a telephone, a tablet and a desk.
var widths = []int64{390, 768, 1280}

// inspection is a script that returns what is wrong with a page as it stands.
const inspection = `(() => {
	const wrong = [], root = document.documentElement;
	for (const a of document.getAnimations()) try { a.finish(); } catch { a.cancel(); } // colours that are on their way
	const name = e => e.outerHTML.replace(/\s+/g, " ").slice(0, 110);
	const shown = e => e.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && e.getBoundingClientRect().width > 1;

	if (root.scrollWidth > root.clientWidth) {
		const wide = [...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > root.clientWidth + 1);
		wrong.push("it scrolls sideways by " + (root.scrollWidth - root.clientWidth) + " px: " + wide.slice(-2).map(name).join(" and "));
	}
	if (!root.lang) wrong.push("it has no language");
	if (!document.title.trim()) wrong.push("it has no title");
	if (document.querySelectorAll("h1").length !== 1) wrong.push("it has " + document.querySelectorAll("h1").length + " h1");
	if (document.querySelectorAll("main").length !== 1) wrong.push("it has " + document.querySelectorAll("main").length + " main");
	let level = 0;
	for (const h of document.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
		const l = Number(h.tagName[1]);
		if (level && l > level + 1) wrong.push("a heading skips a level: " + name(h));
		level = l;
	}
	const ids = new Set();
	for (const e of document.querySelectorAll("[id]")) {
		if (ids.has(e.id)) wrong.push("an id is there twice: " + name(e));
		ids.add(e.id);
	}
	for (const e of document.querySelectorAll("[for], [aria-describedby], [aria-labelledby]"))
		for (const attribute of ["for", "aria-describedby", "aria-labelledby"])
			for (const id of (e.getAttribute(attribute) || "").split(/\s+/).filter(Boolean))
				if (!document.getElementById(id)) wrong.push("it refers to " + id + ", which is not there: " + name(e));
	for (const e of document.querySelectorAll("img")) {
		if (!e.hasAttribute("alt")) wrong.push("a picture without alt: " + name(e));
		if (e.complete && e.naturalWidth === 0) wrong.push("a picture is broken: " + name(e));
	}
	// WCAG 2.2, 2.5.8: 24 by 24 at least, links within sentences excepted.
	for (const e of document.querySelectorAll("button, input:not([type=hidden]), select, a.button, summary")) {
		const r = e.getBoundingClientRect();
		const label = e.closest("label") || document.querySelector('label[for="' + e.id + '"]');
		if (shown(e) && (r.width < 24 || r.height < 24) && !(label && label.contains(e) && label.getBoundingClientRect().height >= 24))
			wrong.push("it is too small to hit, " + Math.round(r.width) + " by " + Math.round(r.height) + ": " + name(e));
	}

	// WCAG 2.2, 1.4.3: contrast of text, worked out from what the browser paints.
	const pen = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
	const painted = new Map();
	const paint = (colors) => {
		const key = colors.join("|");
		if (!painted.has(key)) {
			pen.clearRect(0, 0, 1, 1);
			for (const c of colors) { pen.fillStyle = c; pen.fillRect(0, 0, 1, 1); }
			painted.set(key, [...pen.getImageData(0, 0, 1, 1).data]);
		}
		return painted.get(key);
	};
	const luminance = ([r, g, b]) => [r, g, b].map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
		.reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
	const told = new Set();
	const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (texts.nextNode()) {
		const e = texts.currentNode.parentElement;
		if (!texts.currentNode.data.trim() || told.has(e) || !shown(e) || e.closest("noscript, script, style, option, [disabled], svg")) continue;
		told.add(e);
		const under = [];
		let pictured = false;
		for (let p = e; p; p = p.parentElement) {
			const s = getComputedStyle(p);
			if (s.backgroundImage !== "none") pictured = true;
			under.unshift(s.backgroundColor);
			if (paint([s.backgroundColor])[3] === 255) break;
		}
		if (pictured) continue;
		const canvas = matchMedia("(prefers-color-scheme: dark)").matches ? "#121212" : "#ffffff";
		const s = getComputedStyle(e);
		const [a, b] = [luminance(paint([canvas, ...under])), luminance(paint([canvas, ...under, s.color]))];
		const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		const size = parseFloat(s.fontSize), large = size >= 24 || (size >= 18.66 && Number(s.fontWeight) >= 700);
		if (ratio < (large ? 3 : 4.5)) wrong.push("text has a contrast of " + ratio.toFixed(2) + ": " + name(e));
	}
	return JSON.stringify(wrong);
})()`

// inspect looks at the open page in all widths, light and dark.
func (b *tab) inspect(t *testing.T, what string) {
	t.Helper()
	for _, width := range widths {
		b.do(chromedp.EmulateViewport(width, 900))
		for _, scheme := range []string{"light", "dark"} {
			callPage(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
			found := b.eval(inspection)
			require.NotEmpty(t, found, "%s: the inspection did not run", what)
			var wrong []string
			require.NoError(t, json.Unmarshal([]byte(found), &wrong))
			if len(wrong) > 0 {
				t.Errorf("%s, %d px wide, %s:\n  %s", what, width, scheme, strings.Join(wrong, "\n  "))
			}
		}
	}
	for _, nameless := range b.nameless() {
		t.Errorf("%s: a %s has no name for those who cannot see it", what, nameless)
	}
}

// operable are the roles of things that one can use or has to be told about.
var operable = map[string]bool{"button": true, "link": true, "textbox": true, "searchbox": true, "spinbutton": true, "checkbox": true,
	"radio": true, "combobox": true, "image": true, "img": true, "dialog": true, "table": true, "Iframe": true}

// nameless returns the roles in the accessibility tree that have no name.
func (b *tab) nameless() []string {
	b.t.Helper()
	var roles []string
	for _, n := range callPage(b, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{}).Nodes {
		if n.Ignored || n.Role == nil {
			continue
		}
		var role, name string
		_ = json.Unmarshal(n.Role.Value, &role)
		if n.Name != nil {
			_ = json.Unmarshal(n.Name.Value, &name)
		}
		if operable[role] && strings.TrimSpace(name) == "" {
			roles = append(roles, role)
		}
	}
	return roles
}

func TestLooks_EveryPageOfAPurchase(t *testing.T) {
	t.Parallel()
	d := sharedDemo(t)
	b := newTab(t)
	b.expect(`status of (401|404|409|422)`) // the pages of errors are looked at as well
	s := newShopper(t, d.ShopURL)           // fills the cart that the tab looks at
	look := func(address, what string) {
		t.Helper()
		if strings.HasPrefix(address, "/") {
			address = d.ShopURL + address
		}
		b.open(address)
		b.inspect(t, what)
	}
	look("/", "the catalogue")
	look("/products/cast-iron-pan", "a product")
	look("/cart", "the empty cart")
	look("/nowhere", "a page that is not there")
	look("/admin", "the dashboard, to a stranger")

	s.fill("cast-iron-pan", 20)
	s.fill("brass-lamp", 1)
	cart := s.cartCookie()
	b.setCookie(d.ShopURL, cart.Name, cart.Value, "/")
	look("/cart", "the cart")
	look("/checkout", "the checkout")
	b.do(chromedp.WaitVisible(chromedp.CSS("#card-number")))
	b.typeIn("#name", "Ada", "#email", "ada@example.com", "#card-number", "4242424242424241")
	b.click("#pay")
	b.until(`document.querySelector("#payment-error").textContent.trim()`)
	b.inspect(t, "the checkout with a card that cannot be right")
	b.eval(`document.querySelector("form.checkout").noValidate = true, document.querySelector("#email").value = "ada@localhost"`)
	b.click(`[data-card="` + goodCard + `"]`) // the form's own button for a test card
	b.click("#pay")
	b.until(`document.activeElement.id === "error-summary"`) // what is read first
	b.inspect(t, "the checkout with errors")

	declined := d.place(t, "looks-declined", newEmail("looks"), "oak-stool", 3, "pm_card_visa_chargeDeclined")
	paid := d.place(t, "looks-paid", newEmail("looks"), "oak-stool", 4, "pm_card_visa")
	asked := d.place(t, "looks-asked", newEmail("looks"), "oak-stool", 5, "pm_card_threeDSecure2Required")
	look("/orders/"+declined.PublicID, "a declined order")
	b.until(cardDeclined)
	b.inspect(t, "a declined order")
	d.completed(t, paid)
	look("/orders/"+paid.PublicID, "a paid order")
	eventually(t, func() bool { return strings.Contains(s.get("/orders/"+asked.PublicID).Body, "Confirm with your bank") }, "the bank to ask")
	look("/orders/"+asked.PublicID, "an order that the bank asks about")

	b.open(d.ShopURL + d.newSignInLink(t))
	b.arrive("/admin/operations")
	b.inspect(t, "the operations")
	look("/admin/operations?state=stuck", "no operations")
	for _, kind := range []string{"charge", "receipt-email"} {
		look("/admin/operations/"+d.operations(t, paid, kind)[0].Key, "the operation "+kind)
	}
	look("/admin/operations/"+d.operations(t, asked, "charge")[0].Key, "a waiting operation")
	look(d.InboxURL+"/", "the inbox")
	look(fmt.Sprintf("%s/messages/%d", d.InboxURL, d.mails(t, paid.Email)[0].ID), "a letter")
	look(fmt.Sprintf("%s/messages/%d?view=text", d.InboxURL, d.mails(t, paid.Email)[0].ID), "a letter as text")
}

// TestLooks_EveryStory looks at every page in every state that templates draw.
func TestLooks_EveryStory(t *testing.T) {
	t.Parallel()
	d := sharedDemo(t)
	s := newShopper(t, d.ShopURL)
	list := s.get("/dev/stories")
	require.Equal(t, http.StatusOK, list.Status)
	b := newTab(t)
	// A story is drawn with canned data: its order has no events, its card form no script.
	b.expect(`/orders/ord_|/_sim/js/v3/`)
	seen := 0
	for _, a := range list.Page.Find(`a[href^="/dev/stories/"]`).EachIter() {
		link, _ := a.Attr("href")
		if strings.HasPrefix(link, "/dev/stories/receipt") {
			continue // a letter, with the inline styles that mail programs need; the inbox shows it under its own policy
		}
		seen++
		b.open(d.ShopURL + link)
		b.inspect(t, "story "+strings.TrimPrefix(link, "/dev/stories/"))
	}
	require.Greater(t, seen, 20, "stories")
}

// TestLooks_TheWatchSeesWhatItWatchesFor holds the tabs' own listener and the
// inspection to their work: what they never report they could not have seen.
func TestLooks_TheWatchSeesWhatItWatchesFor(t *testing.T) {
	t.Parallel()
	d := sharedDemo(t)
	b := newTab(t)
	b.open(d.ShopURL + "/")
	b.eval(`document.body.append(Object.assign(document.createElement("script"), { textContent: "window.ran = true" }))`)
	b.eval(`document.body.append(Object.assign(document.createElement("img"), { src: "http://192.0.2.1/elsewhere.png" }))`)
	b.eval(`setTimeout(() => { throw new Error("thrown by the test") })`)
	b.eval(`console.error("said by the test")`)
	require.Empty(t, b.eval(`window.ran || ""`), "the policy keeps inline scripts from running")
	for _, complaint := range []string{"script-src", "img-src", "thrown by the test", "said by the test"} {
		eventually(t, func() bool { return strings.Contains(strings.Join(b.problems(), "\n"), complaint) }, "a complaint about %s", complaint)
	}
	b.eval(`(() => {
		const box = document.querySelector("main");
		box.insertAdjacentHTML("beforeend", '<div id="wide">.</div><button></button><p id="pale">pale</p><h5>deep</h5>');
		document.querySelector("#wide").style.width = "3000px";
		document.querySelector("#pale").style.color = "rgba(128, 128, 128, 0.3)";
	})()`)
	found := b.eval(inspection)
	for _, problem := range []string{"scrolls sideways", "too small to hit", "contrast", "skips a level"} {
		require.Contains(t, found, problem)
	}
	require.Contains(t, b.nameless(), "button")

	elsewhere := newTab(t)
	elsewhere.do(chromedp.Navigate("about:blank"))
	elsewhere.eval(`document.body.append(Object.assign(document.createElement("img"), { src: "http://shop.example/" + "` + url.PathEscape("elsewhere") + `" }))`)
	eventually(t, func() bool { return strings.Contains(strings.Join(elsewhere.problems(), "\n"), "leaves this machine") }, "a complaint about a call to the outside")
	for _, watched := range []*tab{b, elsewhere} {
		watched.expect(".") // all of it was asked for
	}
}
