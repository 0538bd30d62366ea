//go:build browser

// These tests drive the Stripe.js stand-in in a real Chromium:
// go test -tags browser ./internal/stripesim/
package stripesim_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
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

func browser(t *testing.T) context.Context {
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox)
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), opts...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 60*time.Second)
	t.Cleanup(cancel)
	return ctx
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
