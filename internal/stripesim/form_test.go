package stripesim

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNormalizeKey(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"amount":                 "amount",
		"metadata[order_id]":     "metadata[order_id]",
		"expand[]":               "expand[]",
		"expand[0]":              "expand[]",
		"items[12][price]":       "items[][price]",
		"a[b][c][3]":             "a[b][c][]",
		"metadata[2024]":         "metadata[]",
		"metadata[99999]":        "metadata[99999]",
		"shipping[address][x y]": "shipping[address][x y]",
	} {
		got, ok := normalizeKey(key)
		require.True(t, ok, key)
		require.Equal(t, want, got)
	}
	for _, key := range []string{"", "[", "]", "[a]", "a]", "a[", "a[b", "a[b]c", "a]b[c]", "a[b[c]]", "a" + strings.Repeat("[b]", maxFormNesting+1)} {
		_, ok := normalizeKey(key)
		require.False(t, ok, key)
	}
}

func TestMetadataMayHaveNumericKeys(t *testing.T) {
	t.Parallel()
	p, err := parseForm("metadata[7]=x&metadata[a]=y")
	require.Nil(t, err)
	require.Nil(t, createIntentSchema.check(p))
	r := reader{p: p}
	require.Equal(t, map[string]string{"7": "x", "a": "y"}, r.metadata(nil))
}

func TestParams(t *testing.T) {
	t.Parallel()
	p, err := parseForm("amount=1&amount=2&expand[]=a&expand[1]=b&shipping[name]=N&flag=true&empty=&plus=a+b%20c")
	require.Nil(t, err)
	r := reader{p: p}
	require.Equal(t, "2", r.str("amount"), "the last of a repeated name counts")
	require.Equal(t, []string{"a", "b"}, p.all("expand[]"))
	require.True(t, p.has("shipping"))
	require.False(t, p.has("ship"))
	require.Equal(t, "a b c", r.str("plus"))
	require.True(t, r.bool("flag"))
	require.Nil(t, r.err)
	require.Equal(t, "", r.required("empty"))
	require.Equal(t, "parameter_invalid_empty", r.err.Code)
	r.required("missing")
	require.Equal(t, "empty", r.err.Param, "the first refusal is kept")
}

func TestSchema(t *testing.T) {
	t.Parallel()
	s := accepts("amount", "metadata[*]", "list[]", "card[number]")
	for name, known := range map[string]bool{"amount": true, "expand[]": true, "metadata[a]": true, "metadata[a][b]": true, "metadata": true,
		"list[]": true, "card[number]": true, "list": false, "card": false, "card[cvc]": false, "amount[a]": false, "metadat": false, "other": false} {
		require.Equal(t, known, s.knows(name), name)
	}
	require.True(t, s.and("other").knows("other"))
	require.False(t, s.knows("other"), "and does not change the original")
}

// TestFingerprint: what asks for the same has the same fingerprint, what does not
// has another.
func TestFingerprint(t *testing.T) {
	t.Parallel()
	print := func(method, path, form string) string {
		p, err := parseForm(form)
		require.Nil(t, err)
		return fingerprint(method, path, p)
	}
	base := print("POST", "/v1/x", "a=1&b[c]=2&l[]=x&l[]=y")
	require.Equal(t, base, print("POST", "/v1/x", "b[c]=2&l[0]=x&a=1&l[1]=y"), "order of names, spelling of indexes")
	require.Equal(t, base, print("POST", "/v1/x", "%61=1&b%5Bc%5D=2&l%5B%5D=x&l[]=y"), "encoding")
	for _, other := range []string{
		print("POST", "/v1/y", "a=1&b[c]=2&l[]=x&l[]=y"),
		print("POST", "/v1/x", "a=1&b[c]=2&l[]=y&l[]=x"),
		print("POST", "/v1/x", "a=1&b[c]=3&l[]=x&l[]=y"),
		print("POST", "/v1/x", "a=1&b[c]=2&l[]=x"),
		print("POST", "/v1/x", "a=1&b[d]=2&l[]=x&l[]=y"),
		print("POST", "/v1/x", "a=1"),
	} {
		require.NotEqual(t, base, other)
	}
	require.NotEqual(t, print("POST", "/x", "metadata[7]=a"), print("POST", "/x", "metadata[8]=a"), "a numeric name is a name")
	require.NotEqual(t, print("POST", "/x", "a=bc"), print("POST", "/x", "ab=c"), "names and values do not run together")
}

func TestParseQuery(t *testing.T) {
	t.Parallel()
	got, any, err := parseQuery(`metadata["order"]:"a \"b\"" AND -status:'succeeded' AND amount>=100 AND currency~"us"`)
	require.Nil(t, err)
	require.False(t, any)
	require.Equal(t, []clause{
		{field: "metadata.order", op: ":", value: `a "b"`},
		{field: "status", op: ":", value: "succeeded", negated: true},
		{field: "amount", op: ">=", value: "100"},
		{field: "currency", op: "~", value: "us"},
	}, got)
	pi := &intent{PaymentIntent: PaymentIntent{Amount: 100, Currency: "usd", Status: canceled, Created: 50, Customer: ptr("cus_1"), Metadata: map[string]string{"order": `a "b"`}}}
	require.True(t, pi.matches(got, false))
	for query, want := range map[string]bool{"amount:100": true, "amount>100": false, "amount<101": true, "amount<=99": false, "amount:x": false, "created>49": true,
		"customer:'cus_1'": true, "status:'CANCELED'": true, "metadata['none']:'x'": false, "status:'x' OR amount:100": true} {
		cl, any, err := parseQuery(query)
		require.Nil(t, err, query)
		require.Equal(t, want, pi.matches(cl, any), query)
	}
}

func TestLuhnAndDigits(t *testing.T) {
	t.Parallel()
	for _, c := range testCards {
		require.True(t, luhn(c.number), c.token)
		wrong := c.number[:len(c.number)-1] + string('0'+(c.number[len(c.number)-1]-'0'+1)%10)
		require.False(t, luhn(wrong), c.token)
	}
	for _, bad := range []string{"", "4242", "4242 4242", "424242424242424x", strings.Repeat("4", 20), "+42424242424242"} {
		require.False(t, luhn(bad), bad)
	}
	require.True(t, digits("123", 3, 4))
	require.False(t, digits("12", 3, 4))
	require.False(t, digits("12a", 3, 4))
}

func TestAuthenticate(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]credential{
		"Bearer sk_test_shop":        {"shop", false},
		"Bearer rk_test_shop":        {"shop", false},
		"Bearer pk_test_shop":        {"shop", true},
		"Bearer sk_test_sim_a_b":     {"sim_a_b", false},
		"Basic cGtfdGVzdF9zaG9wOg==": {"shop", true},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Authorization", header)
		got, err := authenticate(r, nil)
		require.Nil(t, err, header)
		require.Equal(t, want, got)
	}
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	_, err := authenticate(r, params{{key: "key", norm: "key", val: "sk_test_shop"}})
	require.NotNil(t, err, "a secret key is not taken from a parameter")
	require.Equal(t, accountID("a"), accountID("a"))
	require.NotEqual(t, accountID("a"), accountID("b"))
	require.NotContains(t, maskKey("sk_nonsense_0123456789"), "0123")
}

func TestExpandIsCheckedBeforeAnythingExecutes(t *testing.T) {
	t.Parallel()
	s := quiet(t, Config{})
	post := func(form string) int {
		r := httptest.NewRequest(http.MethodPost, "/v1/payment_intents", strings.NewReader(form))
		r.Header.Set("Authorization", "Bearer sk_test_x")
		r.Header.Set("Idempotency-Key", "k")
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		return w.Code
	}
	const pay = "amount=2500&currency=usd&payment_method_types[]=card&confirm=true&payment_method=pm_card_visa&expand[]="
	require.Equal(t, 400, post(pay+"charges"))
	require.Empty(t, s.account("x").intents.rows)
	require.Equal(t, 200, post(pay+"latest_charge"), "and the key is free")
	for i := range endpoints {
		for _, path := range []string{"data.nothing", "nothing", "data", ""} {
			p := params{{key: "expand[]", norm: "expand[]", val: path}}
			if path == "data" && endpoints[i].checkExpand(p) == nil {
				continue // expanding a list's data itself changes nothing
			}
			require.NotNil(t, endpoints[i].checkExpand(p), "%s %s", endpoints[i].path, path)
		}
	}
}

// TestListPages walks a table in pages of every size, forwards and backwards.
func TestListPages(t *testing.T) {
	t.Parallel()
	s := quiet(t, Config{})
	a := s.account("x")
	for i := range 23 {
		a.store(&customer{Customer: Customer{ID: string(rune('a' + i)), Created: int64(i / 3)}})
	}
	page := func(query string) (ids string, more bool) {
		p, err := parseForm(query)
		require.Nil(t, err)
		c := &call{acct: a, ep: &endpoint{path: "/v1/customers"}, reader: reader{p: p}}
		v, err := c.listCustomers()
		require.Nil(t, err)
		for _, o := range v.(*list).Data {
			ids += o.(*Customer).ID
		}
		return ids, v.(*list).HasMore
	}
	const newestFirst = "wvutsrqponmlkjihgfedcba"
	for _, limit := range []string{"1", "2", "5", "22", "23", "100"} {
		got, cursor, more := "", "", true
		for more {
			var ids string
			ids, more = page("limit=" + limit + cursor)
			got += ids
			cursor = "&starting_after=" + got[len(got)-1:]
		}
		require.Equal(t, newestFirst, got, "pages of %s", limit)
		got, cursor, more = "a", "&ending_before=a", true
		for more {
			var ids string
			ids, more = page("limit=" + limit + cursor)
			got = ids + got
			cursor = "&ending_before=" + got[:1]
		}
		require.Equal(t, newestFirst, got, "backwards in pages of %s", limit)
	}
	for query, want := range map[string]string{"created=2": "ihg", "created[gte]=7": "wv", "created[gt]=6&limit=100": "wv", "created[lt]=1": "cba", "created[lte]=0": "cba", "created[gt]=1&created[lt]=3": "ihg", "created[gt]=99": ""} {
		got, _ := page(query)
		require.Equal(t, want, got, query)
	}
}
