package web_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"shop/internal/access"
	"shop/internal/database/dbtest"
	"shop/internal/operations"
	"shop/internal/orders"
	"shop/internal/payments"
	"shop/internal/web"
	"shop/internal/web/storefront"
)

// site is the web server over a database of its own.
type site struct {
	t      *testing.T
	pool   *pgxpool.Pool
	orders *orders.Store
	ops    *operations.Store
	access *access.Store
	url    string
	woken  chan struct{}
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{t: t, pool: dbtest.New(t), woken: make(chan struct{}, 1000)}
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	s.orders, s.access = orders.NewStore(s.pool), access.NewStore(s.pool)
	s.ops = operations.NewStore(s.pool, operations.Options{Owner: "web/1", TTL: time.Minute})
	require.NoError(t, s.orders.Seed(context.Background(), "usd"))
	feed := storefront.NewFeed(s.ops, log)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { feed.Run(ctx) })
	t.Cleanup(func() { cancel(); wg.Wait() })
	server := httptest.NewUnstartedServer(nil)
	s.url = "http://" + server.Listener.Addr().String()
	handler, err := web.Handler(web.Config{ShopURL: s.url, Demo: true, Dev: true, StripeJS: "http://stripe.example/_sim/js/v3/",
		StripeAPI: "http://stripe.example", PublishableKey: "pk_test_x", TestCards: true, WebhookSecrets: []string{"whsec_a", "whsec_b"}},
		web.Deps{Pool: s.pool, Orders: s.orders, Ops: s.ops, Access: s.access, Feed: feed, Log: log, Events: payments.NewEvents(s.pool, s.ops, log),
			Gateway: payments.NewGateway(payments.GatewayConfig{SecretKey: "sk_test_x", BaseURL: "http://127.0.0.1:1", Timeout: time.Second}),
			Wake:    func() { s.woken <- struct{}{} }})
	require.NoError(t, err)
	server.Config.Handler = handler
	server.Start()
	t.Cleanup(server.Close)
	return s
}

// visitor is a browser with cookies that does not follow redirects.
type visitor struct {
	*site
	client *http.Client
}

func (s *site) visitor() *visitor {
	jar, err := cookiejar.New(nil)
	require.NoError(s.t, err)
	return &visitor{site: s, client: &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

func (v *visitor) do(method, path string, form url.Values, header http.Header) (*http.Response, *goquery.Document) {
	v.t.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	req, err := http.NewRequest(method, v.url+path, body)
	require.NoError(v.t, err)
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for name, values := range header {
		req.Header[name] = values
	}
	resp, err := v.client.Do(req)
	require.NoError(v.t, err)
	defer resp.Body.Close()
	doc, err := goquery.NewDocumentFromReader(resp.Body)
	require.NoError(v.t, err)
	return resp, doc
}

func (v *visitor) get(path string) (*http.Response, *goquery.Document) {
	return v.do(http.MethodGet, path, nil, nil)
}

func (v *visitor) post(path string, form url.Values) (*http.Response, *goquery.Document) {
	return v.do(http.MethodPost, path, form, nil)
}

// checkoutForm fills a cart and reads the hidden fields of the checkout page.
func (v *visitor) checkoutForm() url.Values {
	v.t.Helper()
	resp, _ := v.post("/cart/items", url.Values{"sku": {"enamel-mug"}, "quantity": {"2"}})
	require.Equal(v.t, http.StatusSeeOther, resp.StatusCode)
	resp, doc := v.get("/checkout")
	require.Equal(v.t, http.StatusOK, resp.StatusCode)
	form := url.Values{"name": {"Ada"}, "email": {"ada@example.com"}, "payment_method": {"pm_card_visa"}}
	doc.Find("form[action='/checkout'] input[type=hidden]").Each(func(_ int, in *goquery.Selection) {
		form.Set(in.AttrOr("name", ""), in.AttrOr("value", ""))
	})
	require.Equal(v.t, "3600", form.Get("expected_total"))
	return form
}

func (s *site) rows() (n [3]int) {
	s.t.Helper()
	require.NoError(s.t, s.pool.QueryRow(context.Background(), `SELECT (SELECT count(*) FROM orders), (SELECT count(*) FROM outbox_messages),
		(SELECT count(*) FROM operations)`).Scan(&n[0], &n[1], &n[2]))
	return n
}

func TestBuyingWithoutAScript(t *testing.T) {
	t.Parallel()
	v := newSite(t).visitor()
	form := v.checkoutForm()
	resp, _ := v.post("/checkout", form)
	require.Equal(t, http.StatusSeeOther, resp.StatusCode)
	order := resp.Header.Get("Location")
	require.Regexp(t, `^/orders/ord_[a-z2-7]{26}$`, order)
	require.Len(t, v.woken, 1, "the relay is told")
	resp, again := v.post("/checkout", form)
	require.Equal(t, order, resp.Header.Get("Location"), "a resubmitted form meets the same order: %s", again.Text())
	require.Equal(t, [3]int{1, 1, 0}, v.rows())

	resp, doc := v.get(order)
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.Equal(t, "no-store", resp.Header.Get("Cache-Control"))
	require.Contains(t, doc.Find("h1").Text(), "1001")
	require.Zero(t, doc.Find("form[data-card-form]").Length(), "an order under way offers no second payment")
	resp, _ = v.get("/checkout")
	require.Equal(t, "/cart", resp.Header.Get("Location"), "the checkout of an empty cart")
}

func TestBadInputGetsAPageAndChangesNothing(t *testing.T) {
	t.Parallel()
	v := newSite(t).visitor()
	good := v.checkoutForm()
	with := func(name, value string) url.Values {
		form := url.Values{}
		for k, values := range good {
			form[k] = values
		}
		form.Set(name, value)
		return form
	}
	for name, c := range map[string]struct {
		path   string
		form   url.Values
		status int
		says   string
	}{
		"unknown product":     {"/cart/items", url.Values{"sku": {"gold-bar"}, "quantity": {"1"}}, 404, "do not sell"},
		"quantity 0":          {"/cart/items", url.Values{"sku": {"moka-pot"}, "quantity": {"0"}}, 422, "1 to 20"},
		"negative quantity":   {"/cart/items", url.Values{"sku": {"moka-pot"}, "quantity": {"-1"}}, 422, "1 to 20"},
		"a billion":           {"/cart/items", url.Values{"sku": {"moka-pot"}, "quantity": {"1000000000"}}, 422, "1 to 20"},
		"half a pot":          {"/cart/items", url.Values{"sku": {"moka-pot"}, "quantity": {"0.5"}}, 422, "1 to 20"},
		"no quantity":         {"/cart/items", url.Values{"sku": {"moka-pot"}}, 422, "1 to 20"},
		"update to 0":         {"/cart/items/update", url.Values{"sku": {"enamel-mug"}, "quantity": {"0"}}, 422, "1 to 20"},
		"update of nothing":   {"/cart/items/update", url.Values{"sku": {"moka-pot"}, "quantity": {"1"}}, 404, "not in your cart"},
		"e-mail, no domain":   {"/checkout", with("email", "ada@"), 422, "domain"},
		"a long name":         {"/checkout", with("name", strings.Repeat("x", 300)), 422, "too long"},
		"a tampered price":    {"/checkout", with("expected_total", "1"), 409, "total has changed"},
		"a price in words":    {"/checkout", with("expected_total", "cheap"), 409, "total has changed"},
		"no card":             {"/checkout", with("payment_method", ""), 422, "Enter a card"},
		"a card number":       {"/checkout", with("payment_method", "4242424242424242"), 422, "could not be read"},
		"a forged token":      {"/checkout", with("checkout_token", "x"), 409, "out of date"},
		"invalid UTF-8":       {"/checkout", with("name", "caf\xe9"), 400, "UTF-8"},
		"a NUL":               {"/checkout", with("name", "A\x00da"), 400, "UTF-8"},
		"NUL in a product":    {"/cart/items", url.Values{"sku": {"a\x00"}, "quantity": {"1"}}, 400, "UTF-8"},
		"ten megabytes":       {"/checkout", with("name", strings.Repeat("x", 10<<20)), 413, "larger"},
		"no such page":        {"/nowhere", url.Values{}, 404, "nothing"},
		"a page that is read": {"/orders/ord_x", url.Values{}, 405, "cannot be used"},
	} {
		before := v.rows()
		resp, doc := v.post(c.path, c.form)
		require.Equal(t, c.status, resp.StatusCode, name)
		require.Contains(t, resp.Header.Get("Content-Type"), "text/html", name)
		require.Contains(t, doc.Find("main").Text(), c.says, name)
		require.Equal(t, 1, doc.Find("h1").Length(), name)
		require.Equal(t, before, v.rows(), name)
	}
	_, doc := v.get("/cart")
	require.Contains(t, doc.Find("header").Text(), "2", "the cart is as it was")
	resp, doc := v.post("/checkout", with("email", "ada@"))
	require.Equal(t, 422, resp.StatusCode)
	require.Equal(t, "ada@", doc.Find("#email").AttrOr("value", ""), "what was typed is kept")
	require.Equal(t, "true", doc.Find("#email").AttrOr("aria-invalid", ""))
}

func TestAnotherSitesFormIsNotUsed(t *testing.T) {
	t.Parallel()
	v := newSite(t).visitor()
	form := v.checkoutForm()
	for _, header := range []http.Header{{"Sec-Fetch-Site": {"cross-site"}}, {"Origin": {"https://evil.example"}}} {
		resp, _ := v.do(http.MethodPost, "/checkout", form, header)
		require.Equal(t, http.StatusForbidden, resp.StatusCode)
	}
	require.Equal(t, [3]int{}, v.rows())
}

func TestPagesAllowNothingFromElsewhere(t *testing.T) {
	t.Parallel()
	v := newSite(t).visitor()
	for _, path := range []string{"/", "/cart", "/products/enamel-mug", "/nowhere", "/admin", "/dev/stories"} {
		resp, doc := v.get(path)
		csp := resp.Header.Get("Content-Security-Policy")
		require.Contains(t, csp, "default-src 'self'", path)
		require.NotContains(t, csp, "unsafe", path)
		require.Contains(t, csp, "frame-ancestors 'none'", path)
		require.Equal(t, "nosniff", resp.Header.Get("X-Content-Type-Options"))
		require.NotEmpty(t, resp.Header.Get("Request-Id"))
		doc.Find("link[href], script[src], img[src]").Each(func(_ int, e *goquery.Selection) {
			require.True(t, strings.HasPrefix(e.AttrOr("href", e.AttrOr("src", "")), "/"), path)
		})
	}
}

// The order page moves by itself: the stream sends the status at once, again
// at each change, and says when nothing more will come.
func TestTheOrderStreamFollowsTheOrder(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	v := s.visitor()
	resp, _ := v.post("/checkout", v.checkoutForm())
	path := resp.Header.Get("Location")
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path+"/events", nil)
	require.NoError(t, err)
	stream, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer stream.Body.Close()
	require.Equal(t, "text/event-stream", stream.Header.Get("Content-Type"))
	lines := bufio.NewScanner(stream.Body)
	until := func(text string) {
		t.Helper()
		for lines.Scan() {
			if strings.Contains(lines.Text(), text) {
				return
			}
		}
		t.Fatalf("the stream ended before %q: %v", text, lines.Err())
	}
	until("event: status")

	order, err := s.orders.Order(ctx, strings.TrimPrefix(path, "/orders/"))
	require.NoError(t, err)
	intent, err := operations.NewIntent(operations.Spec{Kind: payments.ChargeKind, Identity: map[string]int64{"orderId": order.ID, "attempt": 1},
		SubjectType: orders.SubjectType, SubjectID: fmt.Sprint(order.ID), Params: 1})
	require.NoError(t, err)
	lease, _, err := s.ops.Claim(ctx, intent, operations.ClaimOptions{})
	require.NoError(t, err)
	until("Charging")
	require.NoError(t, s.ops.Complete(ctx, lease, operations.Completion{Outcome: operations.Declined}, func(ctx context.Context, tx pgx.Tx) error {
		return s.orders.MarkPaymentFailed(ctx, tx, order.ID, "The bank declined the card.")
	}))
	until("The bank declined the card.")
	until("event: done")
}

func TestTheDashboardIsClosedAndALinkOpensItOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ctx := context.Background()
	require.NoError(t, s.access.AddLink(ctx, "letmein", "operator", time.Hour))
	require.NoError(t, s.access.AddLink(ctx, "late", "operator", 0))
	intent, err := operations.NewIntent(operations.Spec{Kind: "charge", Identity: 1, SubjectType: "order", SubjectID: "1042", Params: 1})
	require.NoError(t, err)
	lease, _, err := s.ops.Claim(ctx, intent, operations.ClaimOptions{Source: operations.SourceQueue})
	require.NoError(t, err)
	require.NoError(t, s.ops.Stick(ctx, lease, "<script>alert(1)</script>", true))

	stranger := s.visitor()
	for _, path := range []string{"/admin", "/admin/operations", "/admin/operations/" + string(intent.Key), "/admin/sign-in", "/admin/sign-in?token=wrong", "/admin/sign-in?token=late"} {
		resp, doc := stranger.get(path)
		require.Equal(t, http.StatusUnauthorized, resp.StatusCode, path)
		require.NotContains(t, doc.Text(), "1042", path)
	}
	operator := s.visitor()
	resp, _ := operator.get("/admin/sign-in?token=letmein")
	require.Equal(t, http.StatusSeeOther, resp.StatusCode)
	cookie := resp.Header.Get("Set-Cookie")
	require.Contains(t, cookie, "HttpOnly")
	require.Contains(t, cookie, "SameSite=Strict")
	resp, doc := operator.get("/admin/operations")
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.Contains(t, doc.Text(), "1042")
	require.Zero(t, doc.Find("main script").Length(), "an error text is shown and not run")
	resp, doc = operator.get("/admin/operations/" + string(intent.Key))
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.Contains(t, doc.Text(), "Claimed")
	require.Contains(t, doc.Text(), "A person has to decide")
	resp, _ = operator.get("/admin/operations/nothing")
	require.Equal(t, http.StatusNotFound, resp.StatusCode)
	for _, cursor := range []string{"x", "-1.", "99999999999999999999"} {
		resp, _ = operator.get("/admin/operations?before=" + url.QueryEscape(cursor))
		require.Equal(t, http.StatusOK, resp.StatusCode, cursor)
	}

	second := s.visitor()
	resp, doc = second.get("/admin/sign-in?token=letmein")
	require.Equal(t, http.StatusUnauthorized, resp.StatusCode)
	require.Contains(t, strings.ToLower(doc.Text()), "used")
	resp, _ = operator.post("/admin/sign-out", url.Values{})
	require.Equal(t, http.StatusSeeOther, resp.StatusCode)
	resp, _ = operator.get("/admin/operations")
	require.Equal(t, http.StatusUnauthorized, resp.StatusCode)
}

func TestTheAPIPlacesOneOrderForOneKey(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	require.NoError(t, s.access.AddKey(context.Background(), "shop_k", "demo"))
	const good = `{"email":"ada@example.com","name":"Ada","lines":[{"sku":"enamel-mug","quantity":2}],"payment_method":"pm_card_visa"}`
	call := func(apiKey, idempotencyKey, body string) (int, http.Header, map[string]any) {
		req, err := http.NewRequest(http.MethodPost, s.url+"/api/v1/orders", strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer "+apiKey)
		req.Header.Set("Idempotency-Key", idempotencyKey)
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		var out map[string]any
		require.NoError(t, json.NewDecoder(resp.Body).Decode(&out))
		return resp.StatusCode, resp.Header, out
	}
	for name, c := range map[string]struct {
		key, idempotency, body string
		status                 int
	}{
		"no key":          {"wrong", "k", good, 401},
		"no idempotency":  {"shop_k", "", good, 400},
		"a long one":      {"shop_k", strings.Repeat("k", 256), good, 400},
		"not JSON":        {"shop_k", "k", "{", 400},
		"not UTF-8":       {"shop_k", "k", strings.Replace(good, "Ada", "caf\xe9", 1), 400},
		"empty cart":      {"shop_k", "k", strings.Replace(good, `{"sku":"enamel-mug","quantity":2}`, "", 1), 422},
		"unknown product": {"shop_k", "k", strings.Replace(good, "enamel-mug", "gold-bar", 1), 422},
		"a billion":       {"shop_k", "k", strings.Replace(good, ":2", ":1000000000", 1), 422},
		"bad e-mail":      {"shop_k", "k", strings.Replace(good, "@example.com", "@", 1), 422},
		"a card number":   {"shop_k", "k", strings.Replace(good, "pm_card_visa", "4242", 1), 422},
		"no means":        {"shop_k", "k", strings.Replace(good, "pm_card_visa", "pm_/../x", 1), 422},
		"long means":      {"shop_k", "k", strings.Replace(good, "pm_card_visa", "pm_"+strings.Repeat("x", 5000), 1), 422},
		"a NUL":           {"shop_k", "k", strings.Replace(good, "Ada", `A\u0000`, 1), 400},
		"deep":            {"shop_k", "k", strings.Replace(good, `"Ada"`, strings.Repeat("[", 9000)+strings.Repeat("]", 9000), 1), 400},
		"misspelt":        {"shop_k", "k", strings.Replace(good, `"name"`, `"nmae"`, 1), 422},
		"half a mug":      {"shop_k", "k", strings.Replace(good, ":2", ":1.5", 1), 422},
		"a member twice":  {"shop_k", "k", strings.Replace(good, `"name":"Ada"`, `"name":"Ada","name":"Eve"`, 1), 400},
		"ten megabytes":   {"shop_k", "k", strings.Repeat(" ", 10<<20) + good, 413},
	} {
		status, header, out := call(c.key, c.idempotency, c.body)
		require.Equal(t, c.status, status, "%s: %v", name, out)
		require.Equal(t, "application/problem+json", header.Get("Content-Type"), name)
		require.NotEmpty(t, out["request_id"], name)
		require.NotContains(t, fmt.Sprint(out), "Go struct", name)
	}
	require.Equal(t, [3]int{}, s.rows())

	var wg sync.WaitGroup
	ids := make([]any, 20)
	for i := range ids {
		wg.Go(func() { _, _, out := call("shop_k", "k", good); ids[i] = out["id"] })
	}
	wg.Wait()
	for _, id := range ids {
		require.Equal(t, ids[0], id)
	}
	require.Equal(t, [3]int{1, 1, 1}, s.rows())
	status, header, _ := call("shop_k", "k", good)
	require.Equal(t, http.StatusCreated, status)
	require.Equal(t, "true", header.Get("Idempotent-Replayed"))
	status, _, _ = call("shop_k", "k", strings.Replace(good, ":2", ":3", 1))
	require.Equal(t, http.StatusUnprocessableEntity, status, "the same key with another body")
	require.Equal(t, [3]int{1, 1, 1}, s.rows())
}

func TestUnknownAPIAddressesAreProblems(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	resp, err := http.Get(s.url + "/api/v1/nothing")
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, http.StatusNotFound, resp.StatusCode)
	require.Equal(t, "application/problem+json", resp.Header.Get("Content-Type"))
}

func TestHeadIsAnsweredAsGet(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for path, status := range map[string]int{"/": 200, "/cart": 200, "/assets/app.css": 200, "/nowhere": 404, "/admin": 401, "/orders/ord_x/events": 405} {
		resp, err := http.Head(s.url + path)
		require.NoError(t, err)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, status, resp.StatusCode, path)
		require.Empty(t, body)
	}
}

func TestEveryStoryIsServed(t *testing.T) {
	t.Parallel()
	v := newSite(t).visitor()
	_, doc := v.get("/dev/stories")
	links := doc.Find("main a[href^='/dev/stories/']")
	require.Greater(t, links.Length(), 30)
	links.Each(func(_ int, a *goquery.Selection) {
		resp, _ := v.get(a.AttrOr("href", ""))
		require.Equal(t, http.StatusOK, resp.StatusCode)
	})
}
