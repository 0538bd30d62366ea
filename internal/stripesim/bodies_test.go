package stripesim_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"shop/internal/stripesim"
)

var prefixes = regexp.MustCompile(`"invoice_prefix":"[0-9A-Z]{8}"`)

// names replaces what is different in every run by names in order of appearance, so
// that whole bodies can be compared.
type names struct {
	origin string
	seen   map[string]string
	count  map[string]int
}

var ids = regexp.MustCompile(`(ctoken|pi|ch|pm|cus|re|du|seti|evt|we|txn|req)_[0-9A-Za-z]{14,}(_secret_[0-9A-Za-z]+)?`)

func (n *names) replace(body string) string {
	body = strings.ReplaceAll(body, n.origin, "http://sim")
	body = prefixes.ReplaceAllString(body, `"invoice_prefix":"PREFIX"`)
	return ids.ReplaceAllStringFunc(body, func(id string) string {
		kind, _, _ := strings.Cut(id, "_")
		base, secret, hasSecret := strings.Cut(id, "_secret_")
		if n.seen[base] == "" {
			n.count[kind]++
			n.seen[base] = fmt.Sprintf("%s_%d", kind, n.count[kind])
		}
		if hasSecret && secret != "" {
			return n.seen[base] + "_secret"
		}
		return n.seen[base]
	})
}

// TestBodies compares whole answers with what they must be: every field, in order,
// absent ones absent.
func TestBodies(t *testing.T) {
	t.Parallel()
	clock := &fakeClock{t: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)}
	s := start(t, stripesim.Config{Now: clock.Now, SearchLag: -1})
	n := &names{origin: s.URL, seen: map[string]string{}, count: map[string]int{}}
	var last reply
	compared := 0
	body := func(what string) {
		t.Helper()
		var pretty bytes.Buffer
		require.NoError(t, json.Indent(&pretty, []byte(n.replace(last.Raw)), "", "  "))
		want, known := bodiesOfPayments[what]
		if !known {
			want = bodiesOfOthers[what]
		}
		require.Equal(t, strings.TrimSpace(want), pretty.String(), what)
		compared++
	}
	id := func() string { return last.Body["id"].(string) }

	last = s.post("/v1/customers", "", "email=ada@example.com&name=Ada&phone=1&description=First&metadata[a]=b&address[line1]=1+Street&address[city]=Berlin&address[country]=DE&shipping[name]=Ada&shipping[address][line1]=1+Street")
	customer := id()
	body("customer")

	last = s.post("/v1/payment_intents", "", cardOnly+"&description=Order+1&metadata[order_id]=1&receipt_email=a@example.com&statement_descriptor_suffix=ORDER&customer="+customer+"&shipping[name]=Ada&shipping[phone]=2&shipping[carrier]=Post&shipping[tracking_number]=T1&shipping[address][line1]=1&shipping[address][postal_code]=10115")
	intent := id()
	body("payment_intent")

	last = s.post("/v1/payment_intents/"+intent+"/confirm", "", "payment_method=pm_card_visa_chargeDeclinedInsufficientFunds")
	body("decline")

	last = s.post("/v1/payment_intents/"+intent+"/confirm", "", "payment_method=pm_card_visa&return_url=https://shop.example/r")
	body("payment_intent paid")
	charge := last.Body["latest_charge"].(string)

	last = s.get("/v1/charges/" + charge)
	body("charge")
	txn := last.Body["balance_transaction"].(string)

	last = s.get("/v1/balance_transactions/" + txn)
	body("balance_transaction")

	last = s.get("/v1/payment_methods/" + s.get("/v1/payment_intents/" + intent).Body["payment_method"].(string))
	body("payment_method")

	last = s.post("/v1/refunds", "", "charge="+charge+"&amount=500&reason=requested_by_customer&metadata[refund_id]=r1")
	body("refund")

	last = s.get("/v1/charges?customer=" + customer + "&limit=1&starting_after=" + charge)
	body("list of a failed charge")

	last = s.post("/v1/payment_intents", "", "amount=2500&currency=usd&confirm=true&payment_method=pm_card_threeDSecure2Required&return_url=https://shop.example/r")
	body("payment_intent in action")
	page := last.Body["next_action"].(map[string]any)["redirect_to_url"].(map[string]any)["url"].(string)
	action := last
	s.decide(page, "fail")
	last = s.do("GET", "/v1/payment_intents/"+action.Body["id"].(string)+"?client_secret="+action.Body["client_secret"].(string), map[string]string{"Authorization": "Bearer pk_test_shop"}, "")
	body("payment_intent for a browser, authentication failed")

	last = s.post("/v1/payment_intents", "", cardOnly+"&confirm=true&payment_method=pm_card_threeDSecure2Required")
	last.Raw = mustJSON(t, last.Body["next_action"])
	body("next_action for Stripe.js")

	last = s.post("/v1/test_helpers/confirmation_tokens", "", "payment_method=pm_card_amex&return_url=https://shop.example/r&setup_future_usage=off_session&shipping[name]=Ada&shipping[address][line1]=1")
	body("confirmation_token")

	last = s.post("/v1/payment_intents", "", cardOnly+"&confirm=true&payment_method=pm_card_createDispute")
	last = s.get("/v1/disputes")
	body("disputes")

	last = s.post("/v1/setup_intents", "", "confirm=true&payment_method=pm_card_visa&customer="+customer+"&description=Save&metadata[a]=b")
	body("setup_intent")

	last = s.post("/v1/setup_intents", "", "confirm=true&payment_method=pm_card_chargeDeclinedExpiredCard")
	last.Raw = mustJSON(t, map[string]any{"setup_intent": last.Err["setup_intent"].(map[string]any)["status"], "code": last.Err["code"], "param": last.Err["param"], "type": last.Err["type"], "decline_code": last.Err["decline_code"]})
	body("setup_intent declined")

	last = s.post("/v1/customers", "op:7", "email=e@example.com")
	last = s.get("/v1/events?limit=1")
	body("events")

	last = s.post("/v1/webhook_endpoints", "", "url=https://shop.example/hook&enabled_events[]=charge.succeeded&enabled_events[]=charge.failed&description=Hook&metadata[a]=b&api_version=2023-10-16")
	secret := last.Body["secret"].(string)
	require.Regexp(t, "^whsec_[0-9A-Za-z]{32}$", secret)
	last.Raw = strings.Replace(last.Raw, secret, "whsec", 1)
	body("webhook_endpoint, new")
	last = s.get("/v1/webhook_endpoints/" + id())
	body("webhook_endpoint, read again without its secret")

	last = s.get("/v1/balance")
	body("balance")

	last = s.get("/v1/payment_intents/search?limit=1&query=status:%27canceled%27")
	body("search")

	last = s.do("DELETE", "/v1/customers/"+customer, nil, "")
	body("customer, deleted")

	last = s.get("/v1/nonsense")
	body("error")
	require.Equal(t, len(bodiesOfPayments)+len(bodiesOfOthers), compared)
}
