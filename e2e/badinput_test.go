package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// unchanged runs a request that must be refused and checks that it left no row
// behind. These tests run alone, before the parallel ones, so that the rows can
// be counted over the whole database.
func (d *demo) unchanged(t *testing.T, ask func()) {
	t.Helper()
	before := d.counts(t)
	ask()
	require.Equal(t, before, d.counts(t), "rows before and after")
}

// refusal checks that an answer is a page that helps.
func refusal(t *testing.T, a answer, status int, says string) {
	t.Helper()
	require.Equal(t, status, a.Status, a.text("main"))
	require.Contains(t, a.Header.Get("Content-Type"), "text/html")
	require.Equal(t, 1, a.Page.Find("h1").Length(), "a page of the shop's own")
	require.Positive(t, a.Page.Find(`main a[href], main form`).Length(), "a way on")
	require.Contains(t, strings.ToLower(a.text("main")), strings.ToLower(says))
}

func TestBadInput_OnPages(t *testing.T) {
	d := sharedDemo(t)
	d.drained(t)
	full := func(t *testing.T) *shopper {
		s := newShopper(t, d.ShopURL)
		s.fill("linen-apron", 2)
		return s
	}
	for _, c := range []struct {
		name   string
		ask    func(t *testing.T) answer
		status int
		says   string
	}{
		{"no cart", func(t *testing.T) answer {
			return newShopper(t, d.ShopURL).post("/checkout", url.Values{"name": {"Ada"}, "email": {"ada@example.com"}, "payment_method": {"pm_card_visa"}, "checkout_token": {"x"}, "expected_total": {"0"}})
		}, 409, "your cart is empty"},
		{"emptied cart", func(t *testing.T) answer {
			s := full(t)
			form := s.checkout("Ada", "ada@example.com")
			require.Equal(t, 303, s.post("/cart/items/remove", url.Values{"sku": {"linen-apron"}}).Status)
			return s.post("/checkout", form)
		}, 409, "your cart is empty"},
		{"page of an unknown product", func(t *testing.T) answer { return full(t).get("/products/perpetual-motion") }, 404, "we do not sell that"},
		{"unknown product", func(t *testing.T) answer {
			return full(t).post("/cart/items", url.Values{"sku": {"perpetual-motion"}, "quantity": {"1"}})
		}, 404, "we do not sell that"},
		{"product that is not in the cart", func(t *testing.T) answer {
			return full(t).post("/cart/items/update", url.Values{"sku": {"moka-pot"}, "quantity": {"1"}})
		}, 404, "not in your cart"},
		{"unknown order", func(t *testing.T) answer { return full(t).get("/orders/ord_aaaaaaaaaaaaaaaaaaaaaaaaaa") }, 404, "no such order"},
		{"unknown address", func(t *testing.T) answer { return full(t).get("/wp-login.php") }, 404, "nothing at this address"},
		{"wrong method", func(t *testing.T) answer { return full(t).post("/cart", nil) }, 405, "cannot be used like that"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d.unchanged(t, func() { refusal(t, c.ask(t), c.status, c.says) })
		})
	}
}

func TestBadInput_Quantities(t *testing.T) {
	d := sharedDemo(t)
	d.drained(t)
	for _, quantity := range []string{"0", "-1", "21", "1000000000", "99999999999999999999", "abc", "1.5", "1e3", "", " 1", "٣"} {
		t.Run("put in "+quantity, func(t *testing.T) {
			d.unchanged(t, func() {
				s := newShopper(t, d.ShopURL)
				a := s.post("/cart/items", url.Values{"sku": {"linen-apron"}, "quantity": {quantity}})
				refusal(t, a, 422, "from 1 to 20")
				shown, _ := a.Page.Find("#quantity").Attr("value")
				want := quantity
				if want == "" {
					want = "1" // a field that was emptied gets its usual value again
				}
				require.Equal(t, want, shown, "what was typed is shown again")
				require.Equal(t, "(0)", s.get("/cart").text(".count"))
			})
		})
		t.Run("change to "+quantity, func(t *testing.T) {
			d.unchanged(t, func() {
				s := newShopper(t, d.ShopURL)
				s.fill("linen-apron", 2)
				refusal(t, s.post("/cart/items/update", url.Values{"sku": {"linen-apron"}, "quantity": {quantity}}), 422, "from 1 to 20")
				require.Equal(t, "(2)", s.get("/cart").text(".count"))
			})
		})
	}
	t.Run("too many in two steps", func(t *testing.T) {
		d.unchanged(t, func() {
			s := newShopper(t, d.ShopURL)
			s.fill("linen-apron", 15)
			refusal(t, s.post("/cart/items", url.Values{"sku": {"linen-apron"}, "quantity": {"6"}}), 422, "at most 20")
			require.Equal(t, "(15)", s.get("/cart").text(".count"))
		})
	})
}

func TestBadInput_Checkout(t *testing.T) {
	d := sharedDemo(t)
	d.drained(t)
	with := func(field string, value ...string) func(url.Values) {
		return func(form url.Values) { form[field] = value }
	}
	for _, c := range []struct {
		name   string
		change func(url.Values)
		status int
		says   string
	}{
		{"e-mail without a domain", with("email", "ada"), 422, "ada@example.com"},
		{"e-mail with an empty domain", with("email", "ada@"), 422, "ada@example.com"},
		{"e-mail with half a domain", with("email", "ada@localhost"), 422, "not a domain"},
		{"two e-mails", with("email", "ada@example.com, eve@example.com"), 422, "ada@example.com"},
		{"e-mail with a line break", with("email", "ada@example.com\r\nBcc: eve@example.com"), 422, "ada@example.com"},
		{"no e-mail", with("email"), 422, "where to send the receipt"},
		{"long e-mail", with("email", strings.Repeat("a", 250)+"@example.com"), 422, "too long"},
		{"no name", with("name", "   "), 422, "your name"},
		{"long name", with("name", strings.Repeat("é", 300)), 422, "200 characters"},
		{"name with a line break", with("name", "Ada\nBcc: eve@example.com"), 422, "cannot be printed"},
		{"no card", with("payment_method"), 422, "enter a card"},
		{"nonsense for a card", with("payment_method", "4242424242424242"), 422, "could not be read"},
		{"cheaper", with("expected_total", "1"), 409, "nothing was ordered"},
		{"cheaper than nothing", with("expected_total", "-10800"), 409, "nothing was ordered"},
		{"no total", with("expected_total"), 409, "nothing was ordered"},
		{"words for a total", with("expected_total", "free"), 409, "nothing was ordered"},
		{"no token", with("checkout_token"), 409, "out of date"},
		{"somebody's token", with("checkout_token", strings.Repeat("a", 26)), 409, "out of date"},
		{"huge token", with("checkout_token", strings.Repeat("a", 20_000)), 409, "out of date"},
		{"bad UTF-8 in the name", with("name", "Ada\xff"), 400, "UTF-8"},
		{"bad UTF-8 in the token", with("checkout_token", "\xc0\xaf"), 400, "UTF-8"},
		{"NUL in the name", with("name", "Ada\x00"), 400, "UTF-8"},
		{"NUL in the e-mail", with("email", "ada\x00@example.com"), 400, "UTF-8"},
		{"NUL in the card", with("payment_method", "pm_\x00"), 400, "UTF-8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d.unchanged(t, func() {
				s := newShopper(t, d.ShopURL)
				s.fill("linen-apron", 2)
				form := s.checkout("Ada", "ada@example.com")
				c.change(form)
				a := s.post("/checkout", form)
				refusal(t, a, c.status, c.says)
				if c.status == 422 {
					require.Equal(t, 1, a.Page.Find("form[action='/checkout']").Length(), "the form is back")
					typed, _ := a.Page.Find("#name").Attr("value")
					require.Equal(t, form.Get("name"), typed, "with what was typed")
				}
				require.Equal(t, "(2)", s.get("/cart").text(".count"), "the cart is as it was")
			})
		})
	}

	post := func(t *testing.T, change func(*http.Request)) answer {
		s := newShopper(t, d.ShopURL)
		s.fill("linen-apron", 2)
		req := s.request(http.MethodPost, "/checkout", strings.NewReader(s.checkout("Ada", "ada@example.com").Encode()))
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		change(req)
		return s.do(req)
	}
	for _, c := range []struct {
		name   string
		change func(*http.Request)
		status int
		says   string
	}{
		{"from another site", func(r *http.Request) {
			r.Header.Set("Origin", "https://evil.example")
			r.Header.Set("Sec-Fetch-Site", "cross-site")
		}, 403, "another site"},
		{"from another site, by an old browser", func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, 403, "another site"},
		{"from another port here", func(r *http.Request) {
			r.Header.Set("Origin", "http://127.0.0.1:1")
			r.Header.Set("Sec-Fetch-Site", "same-site")
		}, 403, "another site"},
		{"no form", func(r *http.Request) { r.Header.Set("Content-Type", "application/json") }, 422, "enter a card"},
		{"broken escape", func(r *http.Request) {
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader("name=%zz")), 8
		}, 400, "could not be read"},
		{"malformed cookie", func(r *http.Request) { r.Header.Set("Cookie", `cart=../../etc/passwd; cart="; =`) }, 409, "your cart is empty"},
		{"cookie of a cart that never was", func(r *http.Request) { r.Header.Set("Cookie", "cart="+strings.Repeat("a", 26)) }, 409, "your cart is empty"},
	} {
		t.Run(c.name, func(t *testing.T) {
			// The jar adds the cart's own cookie after a cookie of ours, and the first one counts.
			d.unchanged(t, func() { refusal(t, post(t, c.change), c.status, c.says) })
		})
	}
	t.Run("malformed cookie on every page", func(t *testing.T) {
		s := newShopper(t, d.ShopURL)
		for _, cookie := range []string{"cart=%00%ff", `cart="`, "cart=" + strings.Repeat("a", 8000), "cart=' OR 1=1 --", "=;=;;"} {
			for _, path := range []string{"/", "/cart", "/products/moka-pot"} {
				req := s.request(http.MethodGet, path, nil)
				req.Header.Set("Cookie", cookie)
				a := s.do(req)
				require.Equal(t, 200, a.Status, "%s with %.20s", path, cookie)
				require.Equal(t, "(0)", a.text(".count"))
			}
		}
	})
}

// endless is a body of so many bytes.
type endless struct{ left int64 }

func (e *endless) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n := min(int64(len(p)), e.left)
	for i := range p[:n] {
		p[i] = 'a'
	}
	e.left -= n
	return int(n), nil
}

func TestBadInput_HugeBodies(t *testing.T) {
	d := sharedDemo(t)
	d.drained(t)
	const size = 10 << 20
	for _, told := range []bool{true, false} {
		for _, path := range []string{"/checkout", "/cart/items", "/api/v1/orders", "/orders/ord_x/pay"} {
			t.Run(fmt.Sprintf("%s, length told %v", path, told), func(t *testing.T) {
				d.unchanged(t, func() {
					s := newShopper(t, d.ShopURL)
					req := s.request(http.MethodPost, path, &endless{left: size})
					req.ContentLength = -1
					if told {
						req.ContentLength = size
					}
					req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
					if strings.HasPrefix(path, "/api/") {
						req.Header.Set("Authorization", "Bearer "+d.APIKey)
						req.Header.Set("Idempotency-Key", "huge")
					}
					a := s.do(req)
					if path == "/orders/ord_x/pay" && !told {
						require.Equal(t, 404, a.Status, "there is no such order, so its body is not read")
						return
					}
					require.Equal(t, 413, a.Status, a.Body)
					require.Regexp(t, `larger than|"detail":"[^"]+`, a.Body)
				})
			})
		}
	}
}

func TestBadInput_OnTheAPI(t *testing.T) {
	d := sharedDemo(t)
	d.drained(t)
	good := orderBody("ada@example.com", "linen-apron", 2, "pm_card_visa")
	swap := func(old, new string) string {
		require.Contains(t, good, old)
		return strings.Replace(good, old, new, 1)
	}
	type problem struct {
		Type, Title, Detail string
		Status              int
		Errors              []struct{ Field, Detail string }
	}
	for i, c := range []struct {
		name, body string
		change     func(*http.Request)
		status     int
		says       string
	}{
		{"no key", good, func(r *http.Request) { r.Header.Del("Authorization") }, 401, "Authorization: Bearer"},
		{"wrong key", good, func(r *http.Request) { r.Header.Set("Authorization", "Bearer shop_guess") }, 401, "not valid"},
		{"key with NUL", good, func(r *http.Request) { r.Header.Set("Authorization", "Bearer shop_\xff") }, 401, "not valid"},
		{"no idempotency key", good, func(r *http.Request) { r.Header.Del("Idempotency-Key") }, 400, "Idempotency-Key"},
		{"long idempotency key", good, func(r *http.Request) { r.Header.Set("Idempotency-Key", strings.Repeat("k", 256)) }, 400, "255"},
		{"idempotency key in Greek", good, func(r *http.Request) { r.Header.Set("Idempotency-Key", "κλειδί") }, 400, "ASCII"},
		{"no body", "", nil, 400, "JSON"},
		{"no JSON", "name=Ada", nil, 400, "JSON"},
		{"half of a body", good[:len(good)/2], nil, 400, "JSON"},
		{"another kind of JSON", `[1,2]`, nil, 422, "JSON array"},
		{"bad UTF-8", swap("Ada", "Ada\xff"), nil, 400, "UTF-8"},
		{"NUL in the name", swap("Ada", `Ada\u0000`), nil, 400, "NUL"},
		{"NUL in the product", swap("linen-apron", `linen\u0000apron`), nil, 400, "NUL"},
		{"NUL as it is", swap("Ada", "Ada\x00"), nil, 400, "JSON"},
		{"no lines", `{"email":"ada@example.com","name":"Ada","payment_method":"pm_card_visa"}`, nil, 422, "lines"},
		{"a hundred and one lines", `{"email":"ada@example.com","name":"Ada","payment_method":"pm_card_visa","lines":[` +
			strings.TrimSuffix(strings.Repeat(`{"sku":"linen-apron","quantity":1},`, 101), ",") + `]}`, nil, 422, "100"},
		{"the same product twice", swap(`"lines":[`, `"lines":[{"sku":"linen-apron","quantity":1},`), nil, 422, "lines[1].sku"},
		{"unknown product", swap("linen-apron", "perpetual-motion"), nil, 422, "no such product"},
		{"quantity 0", swap(`"quantity":2`, `"quantity":0`), nil, 422, "1 to 20"},
		{"quantity -1", swap(`"quantity":2`, `"quantity":-1`), nil, 422, "1 to 20"},
		{"quantity 21", swap(`"quantity":2`, `"quantity":21`), nil, 422, "1 to 20"},
		{"quantity 10^9", swap(`"quantity":2`, `"quantity":1000000000`), nil, 422, "1 to 20"},
		{"quantity 10^30", swap(`"quantity":2`, `"quantity":1e30`), nil, 422, "lines.quantity"},
		{"quantity abc", swap(`"quantity":2`, `"quantity":"abc"`), nil, 422, "lines.quantity"},
		{"quantity 1.5", swap(`"quantity":2`, `"quantity":1.5`), nil, 422, "lines.quantity"},
		{"e-mail without a domain", swap("ada@example.com", "ada"), nil, 422, "ada@example.com"},
		{"long name", swap("Ada Lovelace", strings.Repeat("x", 300)), nil, 422, "200 characters"},
		{"no way to pay", swap("pm_card_visa", ""), nil, 422, "payment_method"},
		{"a card number to pay", swap("pm_card_visa", "4242424242424242"), nil, 422, "payment_method"},
		{"wrong method", good, func(r *http.Request) { r.Method = http.MethodPut }, 405, "cannot be used like that"},
		{"unknown address", good, func(r *http.Request) { r.URL.Path = "/api/v1/nothing" }, 404, "nothing at this address"},
		{"unknown order", "", func(r *http.Request) { r.Method, r.URL.Path = http.MethodGet, "/api/v1/orders/ord_nope" }, 404, "no such order"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d.unchanged(t, func() {
				req, err := http.NewRequest(http.MethodPost, d.APIURL+"/orders", strings.NewReader(c.body))
				require.NoError(t, err)
				req.Header.Set("Authorization", "Bearer "+d.APIKey)
				req.Header.Set("Content-Type", "application/json")
				req.Header.Set("Idempotency-Key", fmt.Sprintf("bad-input-%d", i))
				if c.change != nil {
					c.change(req)
				}
				resp, err := http.DefaultClient.Do(req)
				require.NoError(t, err)
				defer resp.Body.Close()
				raw, err := io.ReadAll(resp.Body)
				require.NoError(t, err)
				require.Equal(t, c.status, resp.StatusCode, string(raw))
				require.Equal(t, "application/problem+json", resp.Header.Get("Content-Type"))
				var p problem
				require.NoError(t, json.NewDecoder(bytes.NewReader(raw)).Decode(&p))
				require.Equal(t, c.status, p.Status)
				require.NotEmpty(t, p.Title)
				require.NotEmpty(t, p.Detail)
				require.Contains(t, string(raw), c.says)
			})
		})
	}

	t.Run("a used key with another body", func(t *testing.T) {
		o := d.place(t, "bad-input-reuse", newEmail("used"), "linen-apron", 1, "pm_card_visa")
		d.completed(t, o)
		d.drained(t)
		d.unchanged(t, func() {
			status, _, raw := call(t.Context(), d.ready, http.MethodPost, "/orders", "bad-input-reuse", good)
			require.Equal(t, 422, status)
			require.Contains(t, string(raw), "another body")
		})
	})
}

// Names in any script are right, and reach every place whole.
func TestNames_InAnyScript(t *testing.T) {
	t.Parallel()
	d := sharedDemo(t)
	for _, name := range []string{
		"李小龍", "Ольга Ладыженская", "مريم ميرزاخاني", "שרה לוי", "अनीता", "Þórdís Jónsdóttir", "Ng", "O’Brien & Söhne <GmbH>",
		"👩🏽‍🚀 Zoë 🇺🇳", "e\u0301te\u0301", "'; DROP TABLE orders; --", strings.Repeat("長", 200), "{{.Name}} ${name} %s",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShopper(t, d.ShopURL)
			s.fill("enamel-mug", 1)
			email := newEmail("script")
			a := s.post("/checkout", s.checkout(name, email))
			require.Equal(t, 303, a.Status, a.text("main"))
			o := d.onlyOrder(t, email)
			require.Equal(t, name, o.Name)
			d.completed(t, o)
			require.Equal(t, 200, s.get(a.Header.Get("Location")).Status)
			mail := d.onlyMail(t, email)
			require.Contains(t, mail.Text, name)
			require.Contains(t, mail.HeaderTo, email)
		})
	}
}
