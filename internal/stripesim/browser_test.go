package stripesim_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"shop/internal/stripesim"
)

const shopScript = `
const stripe = Stripe('pk_test_shop');
const elements = stripe.elements({mode: 'payment', amount: 2500, currency: 'usd', paymentMethodTypes: ['card']});
const payment = elements.create('payment');
payment.mount('#payment');
window.result = null;
window.pay = async () => {
  const submitted = await elements.submit();
  if (submitted.error) return submitted;
  return stripe.createConfirmationToken({elements, params: {return_url: location.href}});
};
window.next = (clientSecret) => stripe.handleNextAction({clientSecret});
window.method = async () => {
  const submitted = await elements.submit();
  return submitted.error ? submitted : stripe.createPaymentMethod({elements, params: {billing_details: {name: 'Ada'}}});
};
window.card = (secret) => stripe.confirmCardPayment(secret, {payment_method: {card: payment, billing_details: {name: 'Ada'}}});
window.confirmHere = (clientSecret) => stripe.confirmPayment({elements, clientSecret, redirect: 'if_required', confirmParams: {return_url: location.href}});
window.confirmAway = (clientSecret) => { stripe.confirmPayment({elements, clientSecret, confirmParams: {return_url: location.origin + '/back?order=1'}}); return 0; };
`

// shopPage serves a page under the shop's Content-Security-Policy.
func shopPage(t *testing.T, s *sim) string {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", strings.ReplaceAll("default-src 'none'; script-src 'self' SIM; style-src 'self' SIM; connect-src 'self' SIM; img-src 'self' data:", "SIM", s.URL))
		if r.URL.Path == "/shop.js" {
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = w.Write([]byte(shopScript))
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<!doctype html><html lang="en"><title>Shop</title><form><div id="payment"></div></form><script src="` + s.URL + `/_sim/js/v3/"></script><script src="/shop.js"></script></html>`))
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// chromium is the one browser of this package. A lock keeps the packages that test
// with a browser from running one each at the same time: memory is scarcer than time.
var chromium struct {
	sync.Once
	ctx    context.Context
	cancel context.CancelFunc
	lock   *os.File
	err    error
}

// findBrowser returns a Chromium, or "" when this machine has none.
func findBrowser() string {
	for _, name := range []string{os.Getenv("SHOP_CHROME"), "chromium", "chromium-browser", "google-chrome",
		"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome", "/Applications/Chromium.app/Contents/MacOS/Chromium"} {
		if path, err := exec.LookPath(name); err == nil && name != "" {
			return path
		}
	}
	return ""
}

// browser opens a tab. Without a browser the test is passed over, loudly, except in
// CI, where it fails: what shoppers see must not go untested there.
func browser(t *testing.T) context.Context {
	t.Helper()
	path := findBrowser()
	if path == "" {
		const reason = "NO BROWSER: install chromium, or name one in SHOP_CHROME, to test what shoppers see"
		if os.Getenv("CI") == "true" {
			t.Fatal(reason)
		}
		t.Skip(reason)
	}
	chromium.Do(func() { startBrowser(path) })
	require.NoError(t, chromium.err)
	ctx, cancel := chromedp.NewContext(chromium.ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 60*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func startBrowser(path string) {
	chromium.lock, chromium.err = os.OpenFile(filepath.Join(os.TempDir(), "shop-test-browser.lock"), os.O_RDWR|os.O_CREATE, 0o666)
	if chromium.err == nil {
		chromium.err = lockBrowser(chromium.lock)
	}
	if chromium.err != nil {
		return
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"))
	ctx, cancelAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancelBrowser := chromedp.NewContext(ctx)
	chromium.ctx, chromium.cancel = ctx, func() { cancelBrowser(); cancelAllocator() }
	chromium.err = chromedp.Do(ctx)
}

// closeBrowser ends the browser after the last test.
func closeBrowser() {
	if chromium.cancel != nil {
		_ = chromedp.Cancel(chromium.ctx) // closes it the way a person does; killed below if it does not
		chromium.cancel()
	}
	if chromium.lock != nil {
		chromium.lock.Close()
	}
}

func value[T any](t *testing.T, ctx context.Context, action chromedp.Action[T]) T {
	t.Helper()
	v, err := chromedp.Run(ctx, action)
	require.NoError(t, err)
	return v
}

func promise(t *testing.T, ctx context.Context, js string) map[string]any {
	t.Helper()
	return value(t, ctx, chromedp.Evaluate[map[string]any](js, chromedp.EvalAwaitPromise))
}

func TestStripeJS_TypedCardBecomesAConfirmationToken(t *testing.T) {
	s := start(t, stripesim.Config{})
	ctx := browser(t)
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(shopPage(t, s)), chromedp.WaitVisible("#card-number")))
	unfinished := promise(t, ctx, "pay()")
	require.Equal(t, "incomplete_number", unfinished["error"].(map[string]any)["code"])
	require.Equal(t, "card-number", value(t, ctx, chromedp.Evaluate[string]("document.activeElement.id")), "the first problem gets the focus")
	require.NoError(t, chromedp.Do(ctx,
		chromedp.SendKeys("#card-number", "4242424242424242"),
		chromedp.SendKeys("#card-expiry", "934"),
		chromedp.SendKeys("#card-cvc", "123")))
	require.Equal(t, "4242 4242 4242 4242", value(t, ctx, chromedp.Value("#card-number")))
	require.Equal(t, "09 / 34", value(t, ctx, chromedp.Value("#card-expiry")))
	require.Zero(t, value(t, ctx, chromedp.Evaluate[int]("document.querySelectorAll('.sim-card [name], .sim-card [style]').length")),
		"card data must not be part of the shop's form")
	require.NotEqual(t, "0px", value(t, ctx, chromedp.Evaluate[string]("getComputedStyle(document.querySelector('.sim-field input')).minHeight")), "its stylesheet is loaded")
	token := promise(t, ctx, "pay()")
	require.NotContains(t, token, "error")
	pi := s.create()
	r := s.post("/v1/payment_intents/"+pi.ID+"/confirm", "", "confirmation_token="+token["confirmationToken"].(map[string]any)["id"].(string))
	require.Equal(t, "succeeded", r.Body["status"], r.Raw)
	for _, entry := range s.requests(nil) {
		for name, v := range entry.Params {
			require.NotContains(t, v, "4242424242424242", name)
		}
	}
}

func TestStripeJS_ButtonsErrorsAndBank(t *testing.T) {
	s := start(t, stripesim.Config{})
	ctx := browser(t)
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(shopPage(t, s)), chromedp.WaitVisible("#card-number"),
		chromedp.SendKeys("#card-number", "4242424242424241"), chromedp.WaitVisible("#card-number-error")))
	require.Equal(t, "Your card number is invalid.", value(t, ctx, chromedp.Text("#card-number-error")))
	require.NoError(t, chromedp.Do(ctx, chromedp.Click(`[data-card="4000000000003220"]`)))
	token := promise(t, ctx, "pay()")
	require.NotContains(t, token, "error")
	for decision, status := range map[string]string{"approve": "succeeded", "fail": "requires_payment_method"} {
		if decision == "fail" {
			token = promise(t, ctx, "pay()")
		}
		id := token["confirmationToken"].(map[string]any)["id"].(string)
		pi := s.post("/v1/payment_intents", "", cardOnly+"&confirm=true&use_stripe_sdk=true&confirmation_token="+id)
		require.Equal(t, "requires_action", pi.Body["status"], pi.Raw)
		value(t, ctx, chromedp.Evaluate[chromedp.Void]("window.result = next('"+pi.Body["client_secret"].(string)+"'); 0"))
		require.NoError(t, chromedp.Do(ctx, chromedp.Click("#sim-3ds-"+decision)))
		done := promise(t, ctx, "window.result")
		if decision == "fail" {
			require.Equal(t, "payment_intent_authentication_failure", done["error"].(map[string]any)["code"])
		}
		require.Equal(t, status, s.get("/v1/payment_intents/" + pi.Body["id"].(string)).Body["status"])
		require.Zero(t, value(t, ctx, chromedp.Evaluate[int]("document.querySelectorAll('dialog').length")), "the dialog is gone")
		token = promise(t, ctx, "pay()")
	}
}

func TestStripeJS_KeyboardAndNames(t *testing.T) {
	s := start(t, stripesim.Config{})
	ctx := browser(t)
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(shopPage(t, s)), chromedp.WaitVisible("#card-number")))
	state := value(t, ctx, chromedp.Evaluate[map[string]any](`(() => {
		const inputs = [...document.querySelectorAll('.sim-card input')];
		const buttons = [...document.querySelectorAll('.sim-test')];
		return {
			labels: inputs.map((i) => i.labels[0]?.textContent),
			autocomplete: inputs.map((i) => i.autocomplete),
			described: inputs.every((i) => document.getElementById(i.getAttribute('aria-describedby'))),
			types: buttons.every((b) => b.type === 'button'),
			texts: buttons.map((b) => b.textContent),
			high: [...inputs, ...buttons].every((e) => e.getBoundingClientRect().height >= 24),
		};
	})()`))
	require.Equal(t, []any{"Card number", "Expiry date", "Security code"}, state["labels"])
	require.Equal(t, []any{"cc-number", "cc-exp", "cc-csc"}, state["autocomplete"])
	require.Equal(t, []any{"Visa, succeeds", "Declined", "Insufficient funds", "3-D Secure"}, state["texts"])
	for _, what := range []string{"described", "types", "high"} {
		require.Equal(t, true, state[what], what)
	}
	require.NoError(t, chromedp.Do(ctx, chromedp.Focus("#card-number"), chromedp.KeyEvent("378282246310005"), chromedp.KeyEvent("\t"),
		chromedp.KeyEvent("1230"), chromedp.KeyEvent("\t"), chromedp.KeyEvent("123")))
	require.Equal(t, "3782 822463 10005", value(t, ctx, chromedp.Value("#card-number")), "American Express has its own grouping")
	require.Equal(t, "card-cvc", value(t, ctx, chromedp.Evaluate[string]("document.activeElement.id")), "Tab goes field by field")
	require.Equal(t, "incomplete_cvc", promise(t, ctx, "pay()")["error"].(map[string]any)["code"], "and a code of four digits")
	require.Equal(t, "true", value(t, ctx, chromedp.Evaluate[string]("document.getElementById('card-cvc').getAttribute('aria-invalid')")))
	require.NoError(t, chromedp.Do(ctx, chromedp.KeyEvent("4")))
	require.Equal(t, "false", value(t, ctx, chromedp.Evaluate[string]("document.getElementById('card-cvc').getAttribute('aria-invalid')")), "the complaint goes as it is met")
	require.NotContains(t, promise(t, ctx, "pay()"), "error")
	require.NoError(t, chromedp.Do(ctx, chromedp.KeyEvent("\b")))
	stale := promise(t, ctx, "stripe.createConfirmationToken({elements})")
	require.Contains(t, stale["error"].(map[string]any)["message"], "elements.submit()", "an edit after submit() must be submitted again")
}

func TestStripeJS_OtherWaysToPay(t *testing.T) {
	s := start(t, stripesim.Config{})
	ctx := browser(t)
	page := shopPage(t, s)
	fill := func(card string) {
		require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(page), chromedp.Click(`[data-card="`+card+`"]`)))
	}
	secret := func() (string, string) {
		pi := s.create()
		return pi.ID, pi.ClientSecret
	}
	status := func(id string) any { return s.get("/v1/payment_intents/" + id).Body["status"] }

	fill("4242424242424242")
	m := promise(t, ctx, "method()")["paymentMethod"].(map[string]any)
	require.Equal(t, "Ada", m["billing_details"].(map[string]any)["name"])
	id, sec := secret()
	require.Equal(t, "succeeded", promise(t, ctx, "card('"+sec+"')")["paymentIntent"].(map[string]any)["status"])
	again := promise(t, ctx, "next('"+sec+"')")
	require.Contains(t, again["error"].(map[string]any)["message"], "not requires_action")
	require.Equal(t, "succeeded", status(id))
	_, sec = secret()
	require.Equal(t, "succeeded", promise(t, ctx, "confirmHere('"+sec+"')")["paymentIntent"].(map[string]any)["status"])

	fill("4000000000009995")
	_, sec = secret()
	refused := promise(t, ctx, "card('"+sec+"')")["error"].(map[string]any)
	require.Equal(t, "insufficient_funds", refused["decline_code"])
	require.Equal(t, "Your card has insufficient funds.", refused["message"])

	fill("4000000000003220")
	id, sec = secret()
	value(t, ctx, chromedp.Evaluate[int]("confirmAway('"+sec+"')"))
	require.NoError(t, chromedp.Do(ctx, chromedp.Click("#sim-3ds-approve")))
	require.Eventually(t, func() bool {
		at, err := chromedp.Run(ctx, chromedp.Evaluate[string]("location.href"))
		return err == nil && strings.HasPrefix(at, page+"/back?order=1&payment_intent="+id)
	}, 10*time.Second, 20*time.Millisecond, "the bank's page leads back to the shop")
	require.Equal(t, "succeeded", status(id))

	fill("4242424242424242")
	s.http.CloseClientConnections()
	s.http.Close()
	lost := promise(t, ctx, "pay()")["error"].(map[string]any)
	require.Equal(t, "api_connection_error", lost["type"], "a dead network is an error to show, not an exception")
}
