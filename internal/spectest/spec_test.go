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
	for _, x := range append(slices.Clone(conversation(t)), shopRequests(t)...) {
		if x.Status >= 300 || x.Method == http.MethodPost && x.Path == "/v1/confirmation_tokens" {
			continue
		}
		w := lint(x)
		require.Equal(t, 200, w.Code, "%s\n%s", x, w.Body)
	}
	refused := lint(exchange{Method: "POST", Path: "/v1/payment_intents", Form: intent + "&bogus=1"})
	require.Equal(t, 400, refused.Code, "the linter itself must refuse")
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
