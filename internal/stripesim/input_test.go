package stripesim_test

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"shop/internal/stripesim"
)

const (
	badForm = "Invalid request (check that your POST content type is application/x-www-form-urlencoded). If you have any questions, we can help at https://support.stripe.com/."
	badText = "Invalid request: parameters must be valid UTF-8 without NUL characters."
)

// TestBadInput_Forms: the documented answer on every endpoint that takes a form, and
// nothing happens.
func TestBadInput_Forms(t *testing.T) {
	t.Parallel()
	everyPost(t, func(t *testing.T, s *sim, w world, r route) {
		before := s.digest()
		for form, message := range map[string]string{
			"amount=%zz":                  badForm,
			"amount=%":                    badForm,
			"%zz=1":                       badForm,
			"metadata[a=1":                badForm,
			"metadata[a]]=1":              badForm,
			"metadata[[a]]=1":             badForm,
			"metadata[a]b=1":              badForm,
			"a]=1":                        badForm,
			"[a]=1":                       badForm,
			"[]=1":                        badForm,
			"=1":                          badForm,
			"description=%ff%fe":          badText,
			"%ff=1":                       badText,
			"description=a%00b":           badText,
			"meta%00data=1":               badText,
			`{"amount":2500}`:             "Received unknown parameter: {\"amount\":2500}",
			"<xml/>":                      "Received unknown parameter: <xml/>",
			"metadata" + nest(9, "a"):     badForm,
			"metadata" + nest(5000, "a"):  badForm,
			"metadata" + nest(100, ""):    badForm,
			strings.Repeat("x=1&", 1001):  "Invalid request: more than 1000 parameters were sent.",
			strings.Repeat("x=1&", 20000): "Invalid request: more than 1000 parameters were sent.",
		} {
			got := s.do("POST", r.url(w, ""), map[string]string{"Idempotency-Key": "k"}, form)
			require.Equal(t, 400, got.Status, "%.60s", form)
			require.Equal(t, message, got.Err["message"], "%.60s", form)
			require.Equal(t, "invalid_request_error", got.Err["type"])
		}
		for _, size := range []int{1<<20 + 1, 2 << 20, 3 << 20} {
			got := s.do("POST", r.url(w, ""), map[string]string{"Idempotency-Key": "k"}, "description="+strings.Repeat("x", size))
			require.Equal(t, 413, got.Status)
			require.Equal(t, "Request body is larger than 1 MiB. Send less.", got.Err["message"])
		}
		require.Equal(t, before, s.digest())
		require.Equal(t, 200, s.do("POST", r.url(w, ""), map[string]string{"Idempotency-Key": "k"}, w.fill(r.form)).Status, "and the key is free")
	})
}

// nest is depth pairs of brackets around a name, with a value.
func nest(depth int, name string) string { return strings.Repeat("["+name+"]", depth) + "=1" }

// TestBadInput_TheLargestThatIsTaken: a body of a MiB, a thousand parameters, the
// longest values.
func TestBadInput_TheLargestThatIsTaken(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	r := s.post("/v1/payment_intents", "", cardOnly+"&description="+strings.Repeat("d", 1000)+"&metadata["+strings.Repeat("k", 40)+"]="+strings.Repeat("🙂", 500)+manyKeys(49))
	require.Equal(t, 200, r.Status, r.Raw)
	require.Len(t, r.Body["metadata"], 50)
	r = s.post("/v1/payment_intents", "", cardOnly+strings.Repeat("&metadata[a]=1", 997))
	require.Equal(t, 200, r.Status, "the last of a repeated name counts: %s", r.Raw)
	require.Equal(t, map[string]any{"a": "1"}, r.Body["metadata"])
	r = s.post("/v1/payment_intents", "", cardOnly+"&description="+strings.Repeat("x", 1<<20-len(cardOnly)-len("&description=")))
	require.Equal(t, 400, r.Status)
	require.Equal(t, "parameter_invalid_string_too_long", r.Err["code"], "a MiB is read")
	require.Equal(t, 200, s.post("/v1/payment_intents", "", "&&&"+cardOnly+"&&").Status, "empty fields are none")
	require.Equal(t, 200, s.post("/v1/payment_intents?"+cardOnly, "", "").Status, "parameters of a POST may stand in the query")
}

// TestBadInput_RawBytes: what no HTTP client would send ends in an answer or a closed
// connection, and the server goes on.
func TestBadInput_RawBytes(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	for _, raw := range []string{
		"GARBAGE\r\n\r\n",
		"GET / HTTP/9.9\r\n\r\n",
		"POST /v1/payment_intents HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
		"POST /v1/payment_intents HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\nContent-Length: 20\r\n\r\n",
		"POST /v1/payment_intents HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
		"POST /v1/payment_intents HTTP/1.1\r\nHost: x\r\nIdempotency-Key: a\x00b\r\nContent-Length: 0\r\n\r\n",
		"GET /v1/payment_intents/%zz HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /v1/payment_intents HTTP/1.1\r\n\r\n",
		"GET /" + strings.Repeat("a", 2<<20) + " HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /v1/balance HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("a", 2<<20) + "\r\n\r\n",
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
		require.NoError(t, err)
		require.NoError(t, conn.SetDeadline(time.Now().Add(10*time.Second)))
		_, _ = conn.Write([]byte(raw)) // the server may have hung up in the middle
		line, err := bufio.NewReader(conn).ReadString('\n')
		if err == nil {
			require.Regexp(t, `^HTTP/1\.[01] [45]\d\d `, line, "%.60q", raw)
		}
		conn.Close()
	}
	require.Equal(t, 200, s.post("/v1/payment_intents", "", cardOnly).Status)
}

// TestBadInput_AHalfSentRequestIsNotExecuted.
func TestBadInput_AHalfSentRequestIsNotExecuted(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	require.NoError(t, err)
	form := cardOnly + "&confirm=true&payment_method=pm_card_visa"
	_, err = fmt.Fprintf(conn, "POST /v1/payment_intents HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer sk_test_shop\r\nContent-Length: %d\r\nIdempotency-Key: k\r\n\r\n%s", len(form)+1, form)
	require.NoError(t, err)
	require.NoError(t, conn.Close())
	require.Eventually(t, func() bool { return len(s.requests(map[string][]string{"key": {"k"}})) == 1 }, 5*time.Second, 5*time.Millisecond)
	require.Empty(t, s.get("/v1/payment_intents").Body["data"])
	require.Equal(t, 200, s.post("/v1/payment_intents", "k", form).Status)
}

// TestBadInput_Credentials: every way to send a key, right and wrong.
func TestBadInput_Credentials(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	for authorization, status := range map[string]int{
		"Bearer sk_test_shop":                         200,
		"Bearer  sk_test_shop ":                       200,
		"Bearer rk_test_shop":                         200,
		"Basic c2tfdGVzdF9zaG9wOg==":                  200, // sk_test_shop:
		"Basic c2tfdGVzdF9zaG9wOnB3":                  200, // sk_test_shop:pw
		"bearer sk_test_shop":                         401,
		"sk_test_shop":                                401,
		"Basic !!!":                                   401,
		"Bearer sk_test_":                             401,
		"Bearer sk_test_a b":                          401,
		"Bearer sk_test_ü":                            401,
		"Bearer sk_test_../x":                         401,
		"Bearer sk_test_" + strings.Repeat("a", 200):  200,
		"Bearer sk_test_" + strings.Repeat("a", 201):  401,
		"Bearer sk_test_" + strings.Repeat("a", 5000): 401,
		"Bearer SK_TEST_shop":                         401,
		"Bearer sk_shop":                              401,
		"Bearer test_shop":                            401,
	} {
		r := s.do("GET", "/v1/balance", map[string]string{"Authorization": authorization}, "")
		require.Equal(t, status, r.Status, "%.40q", authorization)
	}
	require.Equal(t, 401, s.do("GET", "/v1/balance?key=sk_test_shop", map[string]string{"Authorization": ""}, "").Status, "a secret key in an address is not taken")
	require.Equal(t, 403, s.do("POST", "/v1/customers", map[string]string{"Authorization": ""}, "key=pk_test_shop").Status, "a publishable one is, as Stripe.js sends it")
}

// TestBadInput_Amounts at the edges of every rule.
func TestBadInput_Amounts(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	for _, c := range []struct {
		amount, currency string
		code             string // "" is taken
	}{
		{"50", "usd", ""}, {"49", "usd", "amount_too_small"}, {"1", "usd", "amount_too_small"}, {"0", "usd", integer}, {"-1", "usd", integer},
		{"99999999", "usd", ""}, {"100000000", "usd", "amount_too_large"}, {"999999999999", "usd", "amount_too_large"}, {"9223372036854775807", "usd", "amount_too_large"},
		{"9223372036854775808", "usd", integer}, {"-9223372036854775808", "usd", integer}, {"-9223372036854775809", "usd", integer},
		{"0050", "usd", ""}, {"+50", "usd", ""}, {" 50", "usd", integer}, {"50 ", "usd", integer}, {"5e1", "usd", integer}, {"50.0", "usd", integer}, {"50,00", "usd", integer},
		{"٥٠", "usd", integer}, {"NaN", "usd", integer}, {"Infinity", "usd", integer}, {"null", "usd", integer}, {"true", "usd", integer},
	} {
		r := s.post("/v1/payment_intents", "", "currency="+c.currency+"&amount="+strings.ReplaceAll(strings.ReplaceAll(c.amount, "+", "%2B"), " ", "%20"))
		if c.code == "" {
			require.Equal(t, 200, r.Status, "%q: %s", c.amount, r.Raw)
			continue
		}
		require.Equal(t, 400, r.Status, "%q: %s", c.amount, r.Raw)
		require.Equal(t, c.code, r.Err["code"], c.amount)
		require.Equal(t, "amount", r.Err["param"], c.amount)
	}
}

// TestS13_MinorUnits is the record's list: how each currency counts, what it shows in
// messages and which amounts it refuses.
func TestS13_MinorUnits(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	shows := func(currency string) string { // how a refusal writes an amount of 123450
		id := s.made("amount=123450&currency=" + currency + "&confirm=true&payment_method_types[]=card&payment_method=pm_card_visa")
		message := s.post("/v1/refunds", "", "amount=123460&payment_intent="+id).Err["message"].(string)
		_, rest, _ := strings.Cut(message, "charge (")
		return strings.TrimSuffix(rest, ")")
	}
	for currency, want := range map[string]string{
		"usd": "$1,234.50", "eur": "€1,234.50", "gbp": "£1,234.50", "chf": "CHF 1,234.50", "sek": "SEK 1,234.50", "ugx": "UGX 1,234.50", "isk": "ISK 1,234.50",
		"bif": "BIF 123,450", "clp": "CLP 123,450", "djf": "DJF 123,450", "gnf": "GNF 123,450", "jpy": "¥123,450", "kmf": "KMF 123,450", "krw": "KRW 123,450",
		"mga": "MGA 123,450", "pyg": "PYG 123,450", "rwf": "RWF 123,450", "vnd": "VND 123,450", "vuv": "VUV 123,450", "xaf": "XAF 123,450", "xof": "XOF 123,450", "xpf": "XPF 123,450",
		"bhd": "BHD 123.450", "jod": "JOD 123.450", "kwd": "KWD 123.450", "omr": "OMR 123.450", "tnd": "TND 123.450",
	} {
		require.Equal(t, want, shows(currency), currency)
	}
	for _, currency := range []string{"bhd", "jod", "kwd", "omr", "tnd"} {
		require.Equal(t, 400, s.post("/v1/payment_intents", "", "amount=12345&currency="+currency).Status, "%s: the last digit must be 0", currency)
	}
	for currency, least := range map[string]int{"usd": 50, "aed": 200, "aud": 50, "bgn": 100, "brl": 50, "cad": 50, "chf": 50, "czk": 1500, "dkk": 250, "eur": 50, "gbp": 30,
		"hkd": 400, "huf": 17500, "inr": 50, "jpy": 50, "mxn": 1000, "myr": 200, "nok": 300, "nzd": 50, "pln": 200, "ron": 200, "sek": 300, "sgd": 50, "thb": 1000, "krw": 1, "clp": 1} {
		require.Equal(t, 200, s.post("/v1/payment_intents", "", fmt.Sprintf("amount=%d&currency=%s", least, currency)).Status, currency)
		require.Equal(t, 400, s.post("/v1/payment_intents", "", fmt.Sprintf("amount=%d&currency=%s", least-1, currency)).Status, currency)
	}
	for _, written := range []string{"USD", "Usd", "usd"} {
		require.Equal(t, "usd", s.post("/v1/payment_intents", "", "amount=100&currency="+written).Body["currency"], "the answer is in lower case")
	}
}

// TestS13_MetadataRules on every object that has metadata.
func TestS13_MetadataRules(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	w := s.populate()
	for _, path := range []string{"/v1/payment_intents/{intent}", "/v1/payment_intents/{paid}", "/v1/refunds/{refund}", "/v1/customers/{customer}", "/v1/webhook_endpoints/{hook}"} {
		path = w.fill(path)
		for _, c := range []struct {
			form string
			want map[string]any
		}{
			{"metadata[a]=1&metadata[b]=2", map[string]any{"a": "1", "b": "2"}},
			{"metadata[b]=3&metadata[c]=4", map[string]any{"a": "1", "b": "3", "c": "4"}},
			{"metadata[a]=", map[string]any{"b": "3", "c": "4"}},
			{"metadata[none]=", map[string]any{"b": "3", "c": "4"}},
			{"", map[string]any{"b": "3", "c": "4"}},
			{"metadata[" + strings.Repeat("k", 40) + "]=" + strings.Repeat("v", 500), map[string]any{"b": "3", "c": "4", strings.Repeat("k", 40): strings.Repeat("v", 500)}},
			{"metadata=", map[string]any{}},
			{"metadata[7]=seven&metadata[x y]=z", map[string]any{"7": "seven", "x y": "z"}},
			{"metadata=&metadata[q]=1", map[string]any{}},
		} {
			r := s.post(path, "", strings.ReplaceAll(c.form, " ", "+"))
			require.Equal(t, 200, r.Status, "%s %s: %s", path, c.form, r.Raw)
			require.Equal(t, c.want, r.Body["metadata"], "%s %s", path, c.form)
			require.Equal(t, c.want, s.get(path).Body["metadata"])
		}
		full := s.post(path, "", strings.TrimPrefix(manyKeys(50), "&"))
		require.Len(t, full.Body["metadata"], 50)
		require.Equal(t, "You can only have up to 50 metadata keys.", s.post(path, "", "metadata[one_more]=1").Err["message"])
		require.Equal(t, 200, s.post(path, "", "metadata[ka]=&metadata[one_more]=1").Status, "in exchange for another")
	}
}

// TestS13_DescriptionAndDescriptorLimits in characters, not bytes.
func TestS13_DescriptionAndDescriptorLimits(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	for form, status := range map[string]int{
		"description=" + strings.Repeat("é", 1000):                 200,
		"description=" + strings.Repeat("é", 1001):                 400,
		"statement_descriptor_suffix=" + strings.Repeat("A", 22):   200,
		"statement_descriptor_suffix=" + strings.Repeat("A", 23):   400,
		"statement_descriptor=CAF%C3%89+M%C3%9CNCHEN":              200,
		"statement_descriptor=%E6%9D%B1%E4%BA%AC":                  400,
		"statement_descriptor=%CE%91%CE%B8%CE%AE%CE%BD%CE%B1":      400,
		"statement_descriptor_suffix=A%5CB":                        400,
		"statement_descriptor_suffix=A*B":                          400,
		"statement_descriptor_suffix=ORDER+17+-+A.B":               200,
		"receipt_email=" + strings.Repeat("e", 800):                200,
		"receipt_email=" + strings.Repeat("e", 801):                400,
		"description=&statement_descriptor=&receipt_email=":        200,
		"description=" + strings.Repeat("%F0%9F%99%82", 1000) + "": 200,
	} {
		require.Equal(t, status, s.post("/v1/payment_intents", "", cardOnly+"&"+form).Status, "%.60s", form)
	}
	id := s.made(cardOnly + "&description=d")
	require.Nil(t, s.post("/v1/payment_intents/"+id, "", "description=").Body["description"], "an empty value unsets")
}
