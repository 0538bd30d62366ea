package spectest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-mock/embedded"
	"github.com/stripe/stripe-mock/server"
)

// TestEveryAnswerFitsTheDescription validates each recorded answer, and each event
// object, against Stripe's OpenAPI description.
func TestEveryAnswerFitsTheDescription(t *testing.T) {
	t.Parallel()
	spec, err := LoadSpec()
	require.NoError(t, err)
	seen := map[string]bool{} // each problem is told once
	check := func(what string, problems []string) {
		for _, p := range problems {
			if !seen[p] {
				seen[p] = true
				t.Errorf("%s\n\t%s", what, p)
			}
		}
	}
	for _, x := range conversation(t) {
		if x.Method == http.MethodPost && x.Path == "/v1/confirmation_tokens" || strings.Contains(x.Query, "client_secret") {
			continue // Stripe.js's own calls are not part of the published description
		}
		check(x.String(), spec.CheckResponse(x.Method, x.Path, x.Status, x.Body))
		var body struct {
			Object string
			Data   json.RawMessage
		}
		require.NoError(t, json.Unmarshal(x.Body, &body))
		if body.Object == "list" && x.Path == "/v1/events" {
			var events []struct {
				Type string
				Data struct{ Object map[string]any }
			}
			require.NoError(t, json.Unmarshal(body.Data, &events))
			for _, e := range events {
				check("event "+e.Type, spec.CheckEvent(e.Data.Object))
			}
		}
	}
}

// TestEveryKeyIsAFieldOfStripeGo looks for keys that the client library of the
// simulator's own API version does not know.
func TestEveryKeyIsAFieldOfStripeGo(t *testing.T) {
	t.Parallel()
	found := map[string]string{}
	for _, x := range conversation(t) {
		var body any
		require.NoError(t, json.Unmarshal(x.Body, &body))
		for _, key := range UnknownFields(body) {
			for name := range notInV76 {
				if strings.HasSuffix(key, name) {
					key = ""
				}
			}
			if key != "" {
				found[key] = x.String()
			}
		}
	}
	require.Empty(t, found)
}

// TestEveryAcceptedRequestPassesStripeMock uses stripe-mock as a linter: it knows
// each operation's parameters. The shop's own request shapes are among them.
func TestEveryAcceptedRequestPassesStripeMock(t *testing.T) {
	t.Parallel()
	description, err := server.LoadSpec(embedded.OpenAPISpec, "")
	require.NoError(t, err)
	fixtures, err := server.LoadFixtures(embedded.OpenAPIFixtures, "")
	require.NoError(t, err)
	mock, err := server.NewStubServer(fixtures, description, false, false)
	require.NoError(t, err)
	lint := func(x exchange) *httptest.ResponseRecorder {
		r := httptest.NewRequest(x.Method, x.Path+"?"+x.Query, strings.NewReader(x.Form))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Authorization", "Bearer sk_test_123")
		w := httptest.NewRecorder()
		mock.HandleRequest(w, r)
		return w
	}
	for _, x := range append(slices.Clone(conversation(t)), shopRequests()...) {
		if x.Status >= 300 || x.Method == http.MethodPost && x.Path == "/v1/confirmation_tokens" {
			continue
		}
		w := lint(x)
		require.Equal(t, 200, w.Code, "%s\n%s", x, w.Body)
	}
	refused := lint(exchange{Method: "POST", Path: "/v1/payment_intents", Form: intent + "&bogus=1"})
	require.Equal(t, 400, refused.Code, "the linter itself must refuse")
}

// shopRequests are the requests that the shop sends, shape by shape.
func shopRequests() []exchange {
	const pi = "/v1/payment_intents"
	return []exchange{
		{Method: "POST", Path: pi, Form: "amount=4250&currency=eur&description=Order+ord_1&payment_method_types[0]=card&metadata[order_id]=ord_1&metadata[attempt]=1"},
		{Method: "POST", Path: pi + "/pi_1/confirm", Form: "confirmation_token=ctoken_1&return_url=http://127.0.0.1:8080/orders/ord_1"},
		{Method: "POST", Path: pi + "/pi_1/confirm", Form: "payment_method=pm_card_visa"},
		{Method: "POST", Path: pi + "/pi_1/cancel", Form: "cancellation_reason=abandoned"},
		{Method: "POST", Path: pi + "/pi_1/capture", Form: "amount_to_capture=1000"},
		{Method: "POST", Path: "/v1/refunds", Form: "payment_intent=pi_1&amount=1000&reason=requested_by_customer&metadata[refund_id]=rf_1"},
		{Method: "GET", Path: pi + "/pi_1"},
		{Method: "GET", Path: pi, Query: "created[gte]=1700000000&limit=100&starting_after=pi_1"},
		{Method: "GET", Path: "/v1/charges", Query: "payment_intent=pi_1"},
		{Method: "GET", Path: "/v1/refunds", Query: "payment_intent=pi_1"},
		{Method: "GET", Path: "/v1/events", Query: "created[gte]=1700000000&limit=100"},
	}
}

// TestTheChecksCatch shows that each check fails on what it is for.
func TestTheChecksCatch(t *testing.T) {
	t.Parallel()
	spec, err := LoadSpec()
	require.NoError(t, err)
	require.NotEmpty(t, spec.CheckResponse("GET", "/v1/payment_intents/pi_1", 200, []byte(`{"id":"pi_1","object":"payment_intent","created":1,"livemode":false,"status":"failed"}`)), "a status that does not exist")
	require.NotEmpty(t, spec.CheckResponse("GET", "/v1/payment_intents/pi_1", 402, []byte(`{"error":{"type":"rate_limit_error"}}`)), "an error type that is not on the wire")
	require.NotEmpty(t, spec.CheckResponse("GET", "/v1/payment_intents/pi_1", 200, []byte(`{"id":"pi_1","object":"payment_intent","created":"1","livemode":false,"status":"succeeded"}`)), "a string for a number")
	require.Equal(t, []string{"payment_intent.invented"}, UnknownFields(map[string]any{"object": "payment_intent", "invented": 1}))
}
