package stripesim_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/stretchr/testify/require"

	"shop/internal/stripesim"
)

func TestPageShowsWhatStripeSaw(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	require.Contains(t, s.get("/").Raw, "Nobody has called yet")
	pi := s.post("/v1/payment_intents", "op:1:create", cardOnly+"&metadata[order_id]=<b>1</b>").Body["id"].(string)
	_, err := s.confirm(pi, "pm_card_visa_chargeDeclined")
	require.Error(t, err)
	s.paid()
	r := s.get("/")
	require.Equal(t, 200, r.Status)
	require.Contains(t, r.Header.Get("Content-Security-Policy"), "default-src 'none'")
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(r.Raw))
	require.NoError(t, err)
	text := doc.Text()
	for _, want := range []string{"$25.00 net", "order_id=<b>1</b>", "card_declined / generic_decline", "payment_intent.succeeded", "op:1:create", "executed"} {
		require.Contains(t, text, want)
	}
	require.Zero(t, doc.Find("script, [style], [onclick]").Length(), "the page needs no script and no inline style")
	doc.Find("a[href^='/_sim/objects/']").Each(func(_ int, a *goquery.Selection) {
		require.Equal(t, 200, s.get(a.AttrOr("href", "")).Status)
	})
	require.Equal(t, 404, s.get("/_sim/objects/shop/pi_none").Status)
	require.Equal(t, 404, s.get("/_sim/objects/nobody/pi_none").Status)
}

func TestPageButtons(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	r := s.do("POST", "/_sim/faults", nil, "back=1&kind=rate_limit&endpoint=POST&count=1&delay=0")
	require.Equal(t, http.StatusSeeOther, r.Status)
	require.Contains(t, s.get("/").Raw, "0 of 1")
	require.Equal(t, 429, s.post("/v1/payment_intents", "", cardOnly).Status)
	require.Equal(t, http.StatusSeeOther, s.do("POST", "/_sim/faults/clear", nil, "").Status)
	require.Contains(t, s.get("/").Raw, "every request is answered as it should be")
	require.Equal(t, http.StatusSeeOther, s.do("POST", "/_sim/clock", nil, "back=1&advance=25h").Status)
	require.Contains(t, s.get("/").Raw, "25h0m0s ahead")
	require.Equal(t, http.StatusSeeOther, s.do("POST", "/_sim/webhooks", nil, "back=1&trick=twin").Status)
	require.Contains(t, s.get("/").Raw, `value="twin" aria-pressed="true"`)
	require.EqualValues(t, 1, s.get("/_sim/webhooks").Body["twin"])
	require.Equal(t, 200, s.get("/healthz").Status)
	require.Equal(t, 400, s.do("POST", "/_sim/faults", nil, "kind=nonsense").Status)
	require.Equal(t, 400, s.do("POST", "/_sim/clock", nil, `{"advanse":"1h"}`).Status, "a misspelt field is told")
	pi := s.paid()
	require.Contains(t, s.get(strings.TrimPrefix(s.get("/v1/charges/" + pi.LatestCharge.ID).Body["receipt_url"].(string), s.URL)).Raw, "$25.00")
}

func TestRequestsCanBePagedThrough(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	for i := range 7 {
		s.post("/v1/payment_intents", strings.Repeat("k", i+1), cardOnly)
	}
	var keys []string
	since := "0"
	for {
		page := s.get("/_sim/requests?limit=3&since=" + since).Body["requests"].([]any)
		if len(page) == 0 {
			break
		}
		for _, e := range page {
			entry := e.(map[string]any)
			keys = append(keys, entry["idempotency_key"].(string))
			since = strconv.Itoa(int(entry["n"].(float64)))
		}
	}
	require.Equal(t, []string{"k", "kk", "kkk", "kkkk", "kkkkk", "kkkkkk", "kkkkkkk"}, keys)
	newest := s.get("/_sim/requests?limit=2").Body["requests"].([]any)
	require.Equal(t, "kkkkkk", newest[0].(map[string]any)["idempotency_key"])
	require.Equal(t, 400, s.get("/_sim/requests?since=x").Status)
}

func TestStripeJSIsServed(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	js := s.get("/_sim/js/v3/")
	require.Contains(t, js.Header.Get("Content-Type"), "javascript")
	require.Contains(t, js.Raw, "createConfirmationToken")
	require.Contains(t, s.get("/_sim/js/v3/card.css").Header.Get("Content-Type"), "text/css")
	require.Equal(t, 404, s.get("/_sim/js/v3/none.js").Status)
}
