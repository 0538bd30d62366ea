package assets_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"shop/internal/money"
	"shop/internal/web/assets"
	"shop/templates"
)

// stripeJS stands for the provider's script: one field that says what the
// provider will answer, so that each answer can be had.
const stripeJS = `
window.Stripe = (key) => ({
  elements: (options) => ({
    options,
    create: () => ({ mount: (at) => {
      document.querySelector(at).innerHTML = '<label>Card <input id="card-number"></label>';
    } }),
    submit: async () => document.querySelector("#card-number").value ? {} : { error: { message: "Your card number is incomplete." } },
  }),
  createConfirmationToken: async ({ elements, params }) => {
    window.asked = (window.asked || 0) + 1;
    const card = document.querySelector("#card-number").value;
    if (card === "refused") return { error: { message: "The card was refused." } };
    if (card === "broken") throw new Error("no network");
    await new Promise((done) => setTimeout(done, 50));
    const details = params.payment_method_data.billing_details;
    return { confirmationToken: { id: ["ctoken", key, elements.options.amount, elements.options.currency, details.name, details.email, params.return_url, window.asked].join("|") } };
  },
});`

// shop is a shop of two pages that records what is posted to it. A post stays
// unanswered until release, as it may with a slow server.
type shop struct {
	*httptest.Server
	posts   chan url.Values
	release chan struct{}
	events  chan templates.OrderView // what the order's event stream sends next
	ended   chan struct{}            // one for each stream that the browser closed
}

func startShop(t *testing.T) *shop {
	s := &shop{posts: make(chan url.Values, 10), release: make(chan struct{}), events: make(chan templates.OrderView), ended: make(chan struct{}, 10)}
	mux := http.NewServeMux()
	mux.Handle("GET /assets/", assets.Handler())
	mux.HandleFunc("GET /stripe.js", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		fmt.Fprint(w, stripeJS)
	})
	mux.HandleFunc("GET /checkout", func(w http.ResponseWriter, r *http.Request) {
		writePage(w, func(b *bytes.Buffer) error {
			return templates.CheckoutPage(templates.CheckoutView{CheckoutToken: "cht_1", Card: card()}).Render(r.Context(), b)
		})
	})
	mux.HandleFunc("GET /order", func(w http.ResponseWriter, r *http.Request) {
		writePage(w, func(b *bytes.Buffer) error {
			return templates.OrderPage(order(templates.StepPlaced)).Render(r.Context(), b)
		})
	})
	mux.HandleFunc("GET /events", s.stream)
	mux.HandleFunc("GET /done", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<!doctype html><title>done</title><p id="done">done</p>`)
	})
	mux.HandleFunc("POST /", func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		s.posts <- r.PostForm
		<-s.release
		http.Redirect(w, r, "/done", http.StatusSeeOther)
	})
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.CloseClientConnections)
	return s
}

func (s *shop) stream(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.(http.Flusher).Flush()
	for {
		select {
		case <-r.Context().Done():
			s.ended <- struct{}{}
			return
		case v := <-s.events:
			var fragment bytes.Buffer
			_ = templates.OrderStatus(v).Render(r.Context(), &fragment)
			fmt.Fprintf(w, "event: status\ndata: %s\n\n", strings.ReplaceAll(fragment.String(), "\n", "\ndata: "))
			if v.Final {
				fmt.Fprint(w, "event: done\ndata: \n\n")
			}
			w.(http.Flusher).Flush()
		}
	}
}

// writePage serves a page under the policy of the shop: nothing inline runs.
func writePage(w http.ResponseWriter, draw func(*bytes.Buffer) error) {
	var b bytes.Buffer
	if err := draw(&b); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'self'")
	_, _ = w.Write(b.Bytes())
}

func card() templates.CardView {
	return templates.CardView{
		StripeJS: "/stripe.js", PublishableKey: "pk_test_1", ReturnURL: "http://shop/orders", TestCards: templates.DemoTestCards(),
		Amount: money.Money{Amount: 28500, Currency: "usd"},
	}
}

func order(step templates.OrderStep) templates.OrderView {
	v := templates.OrderView{Number: "1042", Step: step, Attempt: 1, EventsURL: "/events", RetryURL: "/retry", Card: card()}
	v.Card.Name, v.Card.Email = "Ada", "ada@example.com"
	return v
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

// TestMain ends the browser after the last test.
func TestMain(m *testing.M) {
	code := m.Run()
	if chromium.cancel != nil {
		_ = chromedp.Cancel(chromium.ctx) // closes it the way a person does; killed below if it does not
		chromium.cancel()
	}
	if chromium.lock != nil {
		chromium.lock.Close()
	}
	os.Exit(code)
}

// open shows a page in a tab with a profile of its own. Without a browser the test is
// passed over, loudly, except in CI, where it fails: what shoppers see must not go
// untested there.
func open(t *testing.T, target string) context.Context {
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
	require.NoError(t, chromium.err, "starting %s", path)
	ctx, cancel := chromedp.NewContext(chromium.ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 60*time.Second)
	t.Cleanup(cancel)
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(target)))
	return ctx
}

// until waits for a JavaScript expression to be true. It asks afresh each time,
// because the page may change meanwhile, and gives each question a time of its
// own: one that meets the page on its way to the next may never be answered.
func until(t *testing.T, ctx context.Context, js string) {
	t.Helper()
	var last error
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); {
		asking, cancel := context.WithTimeout(ctx, 2*time.Second)
		ok, err := chromedp.Run(asking, chromedp.Evaluate[bool]("Boolean("+js+")"))
		cancel()
		if err == nil && ok {
			return
		}
		last = err
	}
	require.Failf(t, "the page did not come to it", "waiting for %s; the last answer: %v", js, last)
}

// send gives the order's event stream its next fragment.
func (s *shop) send(t *testing.T, v templates.OrderView) {
	t.Helper()
	select {
	case s.events <- v:
	case <-time.After(20 * time.Second):
		t.Fatal("no page listens to the order's events")
	}
}

// posted waits for what the page sends.
func (s *shop) posted(t *testing.T) url.Values {
	t.Helper()
	select {
	case form := <-s.posts:
		return form
	case <-time.After(20 * time.Second):
		t.Fatal("the page sent nothing")
		return nil
	}
}

func text(t *testing.T, ctx context.Context, js string) string {
	t.Helper()
	got, err := chromedp.Run(ctx, chromedp.Evaluate[string]("String("+js+")"))
	require.NoError(t, err)
	return got
}

func typeIn(t *testing.T, ctx context.Context, fields ...string) {
	t.Helper()
	for i := 0; i+1 < len(fields); i += 2 {
		require.NoError(t, chromedp.Do(ctx, chromedp.SendKeys(fields[i], fields[i+1])))
	}
}

const pay = `document.querySelector("#pay")`

func TestCheckout_DoubleClickSendsTheTokenOnce(t *testing.T) {
	t.Parallel()
	s := startShop(t)
	ctx := open(t, s.URL+"/checkout")
	typeIn(t, ctx, "#name", "Ada 🍳", "#email", "ada@example.com", "#card-number", "good")
	text(t, ctx, pay+".click(), "+pay+".click(), "+pay+`.form.requestSubmit()`)
	until(t, ctx, pay+".disabled && "+pay+`.textContent === "Paying…"`)

	got := s.posted(t)
	// The last part counts the tokens that were asked for.
	require.Equal(t, "ctoken|pk_test_1|28500|usd|Ada 🍳|ada@example.com|http://shop/orders|1", got.Get("confirmation_token"))
	require.Equal(t, "cht_1", got.Get("checkout_token"))
	require.NotContains(t, got, "payment_method", "the choice for browsers without scripts stays out")
	close(s.release)
	require.NoError(t, chromedp.Do(ctx, chromedp.WaitVisible("#done")))
	require.Empty(t, s.posts, "nothing was sent a second time")
}

func TestCheckout_ComesBackUsableFromThePageAfter(t *testing.T) {
	t.Parallel()
	s := startShop(t)
	close(s.release)
	ctx := open(t, s.URL+"/checkout")
	typeIn(t, ctx, "#name", "Ada", "#email", "ada@example.com", "#card-number", "good")
	require.NoError(t, chromedp.Do(ctx, chromedp.Click("#pay"), chromedp.WaitVisible("#done")))
	text(t, ctx, "history.back()")
	until(t, ctx, pay+" && !"+pay+`.disabled && document.querySelector("[name=confirmation_token]").value === ""`)
	require.Equal(t, "Pay $285.00", text(t, ctx, pay+".textContent"))
}

func TestCheckout_SaysWhatIsWrongAndLetsTryAgain(t *testing.T) {
	t.Parallel()
	s := startShop(t)
	ctx := open(t, s.URL+"/checkout")
	typeIn(t, ctx, "#name", "Ada", "#email", "ada@example.com")
	for typed, want := range map[string]string{
		"": "Your card number is incomplete.", "refused": "The card was refused.", "broken": "Nothing has been charged",
	} {
		text(t, ctx, `document.querySelector("#card-number").value = "`+typed+`", `+pay+".click()")
		until(t, ctx, `document.querySelector("#payment-error[role=alert]").textContent.includes("`+want+`")`)
		require.Equal(t, "Pay $285.00 false", text(t, ctx, pay+`.textContent + " " + `+pay+".disabled"))
	}
	require.Empty(t, s.posts)
}

func TestOrder_FollowsTheStreamAndKeepsWhatIsTyped(t *testing.T) {
	t.Parallel()
	s := startShop(t)
	ctx := open(t, s.URL+"/order")
	s.send(t, order(templates.StepCharging))
	until(t, ctx, `document.querySelector("#order-announce").textContent === "Charging your card"`)
	s.send(t, order(templates.StepDeclined))
	typeIn(t, ctx, "#card-number", "good")
	s.send(t, order(templates.StepDeclined)) // the same again must not clear the form
	s.send(t, order(templates.StepDeclined))
	require.Equal(t, "good", text(t, ctx, `document.querySelector("#card-number").value`))
	require.Equal(t, "0", text(t, ctx, `document.querySelectorAll("#order-status noscript, [name=payment_method]").length`))

	require.NoError(t, chromedp.Do(ctx, chromedp.Click("#pay")))
	got := s.posted(t)
	require.Equal(t, "1", got.Get("attempt"))
	require.Contains(t, got.Get("confirmation_token"), "|Ada|ada@example.com|")
	require.NotContains(t, got, "payment_method")
	close(s.release)
}

func TestOrder_StopsListeningWhenDone(t *testing.T) {
	t.Parallel()
	s := startShop(t)
	ctx := open(t, s.URL+"/order")
	v := order(templates.StepReceiptSent)
	v.Final = true
	s.send(t, v)
	until(t, ctx, `document.querySelectorAll(".stop-done").length === 4`)
	select {
	case <-s.ended:
	case <-time.After(20 * time.Second):
		t.Fatal("the page still listens after it was done")
	}
}
