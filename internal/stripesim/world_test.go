package stripesim_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"shop/internal/stripesim"
)

// route is an endpoint as its client knows it: a request that succeeds in a world
// (names in braces are its objects) and what the answer is.
type route struct {
	method, path string // path as the documentation writes it
	id           string // name in the world of the object in the path
	form         string // parameters that are accepted
	object       string // kind of the answer
	noun         string // how a refusal calls an object that is not there
	public       string // "", or what a publishable key needs besides
}

// routes has a line for every endpoint.
var routes = []route{
	{"POST", "/v1/payment_intents", "", "amount=2500&currency=usd", "payment_intent", "", ""},
	{"GET", "/v1/payment_intents", "", "limit=3", "list", "", ""},
	{"GET", "/v1/payment_intents/search", "", "query=currency:'usd'", "search_result", "", ""},
	{"GET", "/v1/payment_intents/{id}", "intent", "", "payment_intent", "payment_intent", "client_secret={intent_secret}"},
	{"POST", "/v1/payment_intents/{id}", "intent", "description=d", "payment_intent", "payment_intent", ""},
	{"POST", "/v1/payment_intents/{id}/confirm", "intent", "payment_method=pm_card_visa", "payment_intent", "payment_intent", "client_secret={intent_secret}"},
	{"POST", "/v1/payment_intents/{id}/capture", "hold", "amount_to_capture=100", "payment_intent", "payment_intent", ""},
	{"POST", "/v1/payment_intents/{id}/cancel", "intent", "cancellation_reason=abandoned", "payment_intent", "payment_intent", ""},
	{"GET", "/v1/charges", "", "payment_intent={paid}", "list", "", ""},
	{"GET", "/v1/charges/{id}", "charge", "", "charge", "charge", ""},
	{"POST", "/v1/refunds", "", "payment_intent={paid}&amount=100", "refund", "", ""},
	{"GET", "/v1/refunds", "", "charge={charge}", "list", "", ""},
	{"GET", "/v1/refunds/{id}", "refund", "", "refund", "refund", ""},
	{"POST", "/v1/refunds/{id}", "refund", "metadata[a]=b", "refund", "refund", ""},
	{"POST", "/v1/payment_methods", "", "type=card&card[token]=tok_visa", "payment_method", "", "type=card&card[number]=4242424242424242&card[exp_month]=12&card[exp_year]=2040"},
	{"GET", "/v1/payment_methods", "", "customer={customer}&type=card", "list", "", ""},
	{"GET", "/v1/payment_methods/{id}", "method", "", "payment_method", "PaymentMethod", ""},
	{"POST", "/v1/payment_methods/{id}/attach", "loose", "customer={customer}", "payment_method", "PaymentMethod", ""},
	{"POST", "/v1/payment_methods/{id}/detach", "method", "", "payment_method", "PaymentMethod", ""},
	{"POST", "/v1/confirmation_tokens", "", "payment_method=pm_card_visa", "confirmation_token", "", "payment_method_data[type]=card&payment_method_data[card][token]=tok_visa"},
	{"GET", "/v1/confirmation_tokens/{id}", "token", "", "confirmation_token", "confirmation_token", "key=pk_test_shop"},
	{"POST", "/v1/test_helpers/confirmation_tokens", "", "payment_method=pm_card_visa", "confirmation_token", "", ""},
	{"POST", "/v1/customers", "", "email=a@example.com", "customer", "", ""},
	{"GET", "/v1/customers", "", "email=ada@example.com", "list", "", ""},
	{"GET", "/v1/customers/{id}", "customer", "", "customer", "customer", ""},
	{"POST", "/v1/customers/{id}", "customer", "name=Ada", "customer", "customer", ""},
	{"DELETE", "/v1/customers/{id}", "customer", "", "customer", "customer", ""},
	{"GET", "/v1/customers/{id}/payment_methods", "customer", "type=card", "list", "customer", ""},
	{"GET", "/v1/customers/{id}/payment_methods/{sub}", "customer", "", "payment_method", "PaymentMethod", ""},
	{"POST", "/v1/setup_intents", "", "payment_method_types[]=card", "setup_intent", "", ""},
	{"GET", "/v1/setup_intents/{id}", "setup", "", "setup_intent", "setupintent", "client_secret={setup_secret}"},
	{"POST", "/v1/setup_intents/{id}/confirm", "setup", "payment_method=pm_card_visa", "setup_intent", "setupintent", "client_secret={setup_secret}"},
	{"GET", "/v1/disputes", "", "charge={disputed}", "list", "", ""},
	{"GET", "/v1/disputes/{id}", "dispute", "", "dispute", "dispute", ""},
	{"POST", "/v1/disputes/{id}/close", "dispute", "", "dispute", "dispute", ""},
	{"GET", "/v1/events", "", "type=charge.succeeded", "list", "", ""},
	{"GET", "/v1/events/{id}", "event", "", "event", "event", ""},
	{"POST", "/v1/webhook_endpoints", "", "url=http://127.0.0.1:9/x&enabled_events[]=nothing.at_all", "webhook_endpoint", "", ""},
	{"GET", "/v1/webhook_endpoints", "", "limit=1", "list", "", ""},
	{"GET", "/v1/webhook_endpoints/{id}", "hook", "", "webhook_endpoint", "webhook_endpoint", ""},
	{"POST", "/v1/webhook_endpoints/{id}", "hook", "description=d", "webhook_endpoint", "webhook_endpoint", ""},
	{"DELETE", "/v1/webhook_endpoints/{id}", "hook", "", "webhook_endpoint", "webhook_endpoint", ""},
	{"GET", "/v1/balance", "", "", "balance", "", ""},
	{"GET", "/v1/balance_transactions/{id}", "txn", "", "balance_transaction", "balance_transaction", ""},
}

// world is one of everything, by name.
type world map[string]string

// populate makes a world in the account "shop".
func (s *sim) populate() world {
	s.t.Helper()
	w := world{}
	one := func(name, path, form string) map[string]any {
		r := s.quick("POST", path, w.fill(form))
		require.Equal(s.t, 200, r.Status, r.Raw)
		w[name], _ = r.Body["id"].(string)
		return r.Body
	}
	one("customer", "/v1/customers", "email=ada@example.com")
	one("method", "/v1/payment_methods/pm_card_visa/attach", "customer={customer}")
	one("loose", "/v1/payment_methods", "type=card&card[token]=tok_visa")
	one("token", "/v1/test_helpers/confirmation_tokens", "payment_method=pm_card_visa")
	w["intent_secret"] = one("intent", "/v1/payment_intents", cardOnly)["client_secret"].(string)
	w["charge"] = one("paid", "/v1/payment_intents", cardOnly+"&confirm=true&payment_method=pm_card_visa")["latest_charge"].(string)
	w["txn"] = s.quick("GET", "/v1/charges/"+w["charge"], "").Body["balance_transaction"].(string)
	one("hold", "/v1/payment_intents", cardOnly+"&confirm=true&capture_method=manual&payment_method=pm_card_visa")
	one("refund", "/v1/refunds", "payment_intent={paid}&amount=100")
	w["disputed"] = one("dispute", "/v1/payment_intents", cardOnly+"&confirm=true&payment_method=pm_card_createDispute")["latest_charge"].(string)
	w["dispute"] = s.first("/v1/disputes")["id"].(string)
	w["setup_secret"] = one("setup", "/v1/setup_intents", "")["client_secret"].(string)
	one("hook", "/v1/webhook_endpoints", "url=http://127.0.0.1:9/x&enabled_events[]=nothing.at_all")
	w["event"] = s.first("/v1/events")["id"].(string)
	return w
}

// first returns the newest object of a list.
func (s *sim) first(path string) map[string]any {
	s.t.Helper()
	data := s.quick("GET", path, "").Body["data"].([]any)
	require.NotEmpty(s.t, data)
	return data[0].(map[string]any)
}

// fill puts ids in place of names in braces.
func (w world) fill(text string) string {
	for name, id := range w {
		text = strings.ReplaceAll(text, "{"+name+"}", id)
	}
	return text
}

// url is the path of a route to an object; empty takes the world's own.
func (r route) url(w world, id string) string {
	if id == "" {
		id = w[r.id]
	}
	return strings.NewReplacer("{id}", id, "{sub}", w["method"]).Replace(r.path)
}

// ask sends a route's request with more or other parameters.
func (s *sim) ask(r route, path string, header map[string]string, form string) reply {
	s.t.Helper()
	if r.method != "POST" {
		if form != "" {
			path += "?" + strings.ReplaceAll(form, "'", "%27")
		}
		return s.do(r.method, path, header, "")
	}
	return s.do(r.method, path, header, form)
}

func (r route) name() string { return r.method + " " + r.path }

// with joins two forms.
func with(form, more string) string { return strings.Trim(form+"&"+more, "&") }

// everyRoute runs a check for every endpoint, each in a world of its own.
func everyRoute(t *testing.T, check func(t *testing.T, s *sim, w world, r route)) {
	for _, r := range routes {
		t.Run(r.name(), func(t *testing.T) {
			t.Parallel()
			s := start(t, stripesim.Config{SearchLag: -1})
			check(t, s, s.populate(), r)
		})
	}
}

// everyPost is everyRoute for those that write.
func everyPost(t *testing.T, check func(t *testing.T, s *sim, w world, r route)) {
	everyRoute(t, func(t *testing.T, s *sim, w world, r route) {
		if r.method == "POST" {
			check(t, s, w, r)
		}
	})
}
