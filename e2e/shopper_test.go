package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/stretchr/testify/require"
)

// shopper is somebody who shops without a browser: a client with a jar for the
// cart's cookie, which follows no redirect by itself.
type shopper struct {
	t    *testing.T
	base string
	http *http.Client
}

func newShopper(t *testing.T, base string) *shopper {
	t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	return &shopper{t: t, base: base, http: &http.Client{Jar: jar, Timeout: patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// answer is a response, read to its end.
type answer struct {
	Status int
	Header http.Header
	Body   string
	Page   *goquery.Document
}

// text is what a person reads of a part of the page, on one line.
func (a answer) text(selector string) string {
	return strings.Join(strings.Fields(a.Page.Find(selector).Text()), " ")
}

func (s *shopper) do(req *http.Request) answer {
	s.t.Helper()
	resp, err := s.http.Do(req)
	require.NoError(s.t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(s.t, err)
	page, err := goquery.NewDocumentFromReader(bytes.NewReader(raw))
	require.NoError(s.t, err)
	return answer{Status: resp.StatusCode, Header: resp.Header, Body: string(raw), Page: page}
}

func (s *shopper) request(method, path string, body io.Reader) *http.Request {
	s.t.Helper()
	address := path
	if strings.HasPrefix(path, "/") {
		address = s.base + path
	}
	req, err := http.NewRequest(method, address, body)
	require.NoError(s.t, err)
	return req
}

func (s *shopper) get(path string) answer {
	s.t.Helper()
	return s.do(s.request(http.MethodGet, path, nil))
}

func (s *shopper) post(path string, form url.Values) answer {
	s.t.Helper()
	return s.postRaw(path, form.Encode())
}

// postRaw sends a form that has been encoded already, well or badly.
func (s *shopper) postRaw(path, body string) answer {
	s.t.Helper()
	req := s.request(http.MethodPost, path, strings.NewReader(body))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return s.do(req)
}

// fill puts pieces of a product into the cart.
func (s *shopper) fill(sku string, quantity int) {
	s.t.Helper()
	a := s.post("/cart/items", url.Values{"sku": {sku}, "quantity": {fmt.Sprint(quantity)}})
	require.Equal(s.t, http.StatusSeeOther, a.Status, a.Body)
}

// checkout opens the checkout page and fills in its form, with a test card.
func (s *shopper) checkout(name, email string) url.Values {
	s.t.Helper()
	a := s.get("/checkout")
	require.Equal(s.t, http.StatusOK, a.Status)
	form := url.Values{"name": {name}, "email": {email}, "payment_method": {"pm_card_visa"}}
	for _, field := range []string{"checkout_token", "expected_total"} {
		value, ok := a.Page.Find("input[name=" + field + "]").Attr("value")
		require.True(s.t, ok, "the checkout page has no %s", field)
		form.Set(field, value)
	}
	return form
}

// anotherCard opens the page of an order whose card was declined and fills in
// the form for another one.
func (s *shopper) anotherCard(o order, method string) url.Values {
	s.t.Helper()
	attempt, ok := s.get("/orders/" + o.PublicID).Page.Find("input[name=attempt]").Attr("value")
	require.True(s.t, ok, "the order's page offers no other card")
	return url.Values{"attempt": {attempt}, "payment_method": {method}}
}

// cartCookie is what makes the shopper's cart theirs.
func (s *shopper) cartCookie() *http.Cookie {
	s.t.Helper()
	at, err := url.Parse(s.base)
	require.NoError(s.t, err)
	for _, c := range s.http.Jar.Cookies(at) {
		if c.Name == "cart" {
			return c
		}
	}
	require.Fail(s.t, "there is no cart cookie")
	return nil
}

var addresses atomic.Int64

// newEmail is an address that no other test uses.
func newEmail(who string) string {
	return fmt.Sprintf("%s.%d@example.com", who, addresses.Add(1))
}

// keys are the credentials that the demo keeps with its data.
func (d *demo) keys(t *testing.T) map[string]string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(d.data, "keys.json"))
	require.NoError(t, err)
	var keys map[string]string
	require.NoError(t, json.Unmarshal(raw, &keys))
	return keys
}

// apiOrder is what the API answers about an order.
type apiOrder struct {
	ID     string `json:"id"`
	Number int64  `json:"number"`
	State  string `json:"state"`
	Total  int64  `json:"total"`
	URL    string `json:"url"`
}

// call sends one request to the API and returns the status and the body; 0
// when nobody answered.
func call(ctx context.Context, r ready, method, path, key, body string) (status int, header http.Header, answer []byte) {
	req, err := http.NewRequestWithContext(ctx, method, r.APIURL+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, []byte(err.Error())
	}
	req.Header.Set("Authorization", "Bearer "+r.APIKey)
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, []byte(err.Error())
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, nil, []byte(err.Error())
	}
	return resp.StatusCode, resp.Header, raw
}

// orderBody is the body of an order for pieces of one product.
func orderBody(email, sku string, quantity int, paymentMethod string) string {
	return fmt.Sprintf(`{"email":%q,"name":"Ada Lovelace","lines":[{"sku":%q,"quantity":%d}],"payment_method":%q}`, email, sku, quantity, paymentMethod)
}

// place orders through the API, once, and expects that to work.
func (d *demo) place(t *testing.T, key, email, sku string, quantity int, paymentMethod string) order {
	t.Helper()
	status, _, body := call(t.Context(), d.ready, http.MethodPost, "/orders", key, orderBody(email, sku, quantity, paymentMethod))
	require.Equal(t, http.StatusCreated, status, string(body))
	var placed apiOrder
	require.NoError(t, json.Unmarshal(body, &placed))
	found := d.orders(t, "public_id = $1", placed.ID)
	require.Len(t, found, 1)
	return found[0]
}
