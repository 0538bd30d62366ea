package spectest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"shop/internal/operations"
	"shop/internal/orders"
	"shop/internal/payments"
	"shop/internal/stripesim"
)

// gatewayCalls are the methods of the shop's gateway and whether shopRequests makes
// them; the others send nothing.
var gatewayCalls = map[string]bool{
	"CreateIntent": true, "ConfirmIntent": true, "CancelIntent": true, "RetrieveIntent": true, "FindIntent": true,
	"CreateRefund": true, "RetrieveRefund": true, "RefundsOf": true, "PaymentIntents": true, "Refunds": true,
	"Timeout": false, "Open": false,
}

// shopRequests lets the shop's own gateway make every call it has, with parameters
// frozen by the shop's own code, and returns what went over the wire: not a list
// that somebody keeps, but what is sent.
func shopRequests(t *testing.T) []exchange {
	t.Helper()
	srv, err := stripesim.New(stripesim.Config{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, srv.Close()) })
	var sent []exchange
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		form, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(form))
		answer := httptest.NewRecorder()
		srv.Handler().ServeHTTP(answer, r)
		sent = append(sent, exchange{r.Method, r.URL.Path, r.URL.RawQuery, string(form), answer.Code, answer.Body.Bytes()})
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	}))
	t.Cleanup(web.Close)

	ctx, since := context.Background(), time.Now().Add(-time.Minute)
	g := payments.NewGateway(payments.GatewayConfig{SecretKey: "sk_test_spec", BaseURL: web.URL, Timeout: 10 * time.Second})
	charge := func(order int64, m payments.Method) (operations.Key, string, payments.ChargeParams) {
		intent, err := payments.ChargeIntent(asJSON(t, orders.Placement{OrderID: order, PublicID: "ord_1", Amount: 4250, Currency: "eur", Payment: asJSON(t, m)}))
		require.NoError(t, err)
		var p payments.ChargeParams
		require.NoError(t, json.Unmarshal(intent.Params, &p))
		pi, _, err := g.CreateIntent(ctx, intent.Key, p)
		require.NoError(t, err)
		return intent.Key, pi.ID, p
	}
	op, paid, p := charge(1, payments.Method{PaymentMethod: "pm_card_visa"})
	_, _, err = g.ConfirmIntent(ctx, op, paid, p)
	require.NoError(t, err)

	op, id, p := charge(2, payments.Method{ConfirmationToken: browserToken(t, web.URL), ShopURL: "http://127.0.0.1:8080"})
	_, _, err = g.ConfirmIntent(ctx, op, id, p)
	require.NoError(t, err)
	_, _, err = g.RetrieveIntent(ctx, id)
	require.NoError(t, err)
	found, _, err := g.FindIntent(ctx, op, since)
	require.NoError(t, err)
	require.Equal(t, id, found)

	op, id, _ = charge(3, payments.Method{PaymentMethod: "pm_card_visa"})
	_, _, err = g.CancelIntent(ctx, op, 1, id)
	require.NoError(t, err)

	refund, err := payments.RefundIntent(asJSON(t, payments.RefundParams{RefundID: "rfd_1", OrderID: 1, PaymentIntent: paid, Amount: 1000,
		Currency: "eur", Metadata: map[string]string{"order_id": "1", "refund": "rfd_1"}}))
	require.NoError(t, err)
	var rp payments.RefundParams
	require.NoError(t, json.Unmarshal(refund.Params, &rp))
	back, _, err := g.CreateRefund(ctx, refund.Key, rp)
	require.NoError(t, err)
	_, _, err = g.RetrieveRefund(ctx, back.ID)
	require.NoError(t, err)
	_, _, err = g.RefundsOf(ctx, paid)
	require.NoError(t, err)
	require.NoError(t, g.PaymentIntents(ctx, since, func(payments.ListedIntent) error { return nil }))
	require.NoError(t, g.Refunds(ctx, since, func(payments.ListedRefund) error { return nil }))
	return sent
}

func asJSON(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return b
}

// browserToken makes a confirmation token as the checkout page would.
func browserToken(t *testing.T, origin string) string {
	t.Helper()
	k := &talk{t: t, url: origin}
	return id(k.post("/v1/test_helpers/confirmation_tokens", "payment_method=pm_card_visa"))
}

func TestEveryCallOfTheGatewayIsMade(t *testing.T) {
	t.Parallel()
	kind := reflect.TypeFor[*payments.Gateway]()
	for i := range kind.NumMethod() {
		require.Contains(t, gatewayCalls, kind.Method(i).Name, "the gateway has a call that shopRequests does not make")
	}
	require.Len(t, gatewayCalls, kind.NumMethod())
}

// TestTheShopSendsWhatIsExpected spells out the parameters of each of the shop's
// calls, so that a new one is looked at before it reaches Stripe.
func TestTheShopSendsWhatIsExpected(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"POST /v1/payment_intents": "amount currency description metadata[attempt] metadata[operation] metadata[order] metadata[order_id]" +
			" payment_method_types[0]",
		"POST /v1/payment_intents/{id}/confirm": "payment_method | confirmation_token return_url",
		"POST /v1/payment_intents/{id}/cancel":  "cancellation_reason",
		"GET /v1/payment_intents/{id}":          "",
		"GET /v1/payment_intents":               "created[gte] expand[0] limit",
		"POST /v1/refunds":                      "amount metadata[order_id] metadata[refund] payment_intent",
		"GET /v1/refunds/{id}":                  "",
		"GET /v1/refunds":                       "limit payment_intent | created[gte] limit",
	}
	got := map[string]string{}
	for _, x := range shopRequests(t) {
		if strings.HasPrefix(x.Path, "/v1/test_helpers/") {
			continue // the browser's part
		}
		require.Equal(t, 200, x.Status, "%s\n%s", x, x.Body)
		form, err := url.ParseQuery(x.Form + x.Query)
		require.NoError(t, err)
		var names []string
		for name, values := range form {
			names = append(names, name)
			require.Len(t, values, 1, "%s is sent once", name)
		}
		slices.Sort(names)
		parts := strings.Split(x.Path, "/")
		if len(parts) > 3 {
			parts[3] = "{id}"
		}
		route, shape := x.Method+" "+strings.Join(parts, "/"), strings.Join(names, " ")
		if old, seen := got[route]; !seen {
			got[route] = shape
		} else if !slices.Contains(strings.Split(old, " | "), shape) {
			got[route] = old + " | " + shape
		}
		switch route {
		case "POST /v1/payment_intents/{id}/cancel":
			require.Equal(t, "abandoned", form.Get("cancellation_reason"))
		case "POST /v1/payment_intents":
			require.Equal(t, "card", form.Get("payment_method_types[0]"))
			require.Equal(t, "4250", form.Get("amount"))
			require.Equal(t, "eur", form.Get("currency"))
			require.Regexp(t, "^[0-9a-f]{64}$", form.Get("metadata[operation]"))
		}
	}
	require.Equal(t, want, got)
}
