package stripesim_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v76"

	"shop/internal/stripesim"
)

func TestS12_Keys(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	for header, message := range map[string]string{
		"":                            "You did not provide an API key",
		"Bearer sk_live_abc":          "a live key",
		"Bearer nonsense":             "Invalid API Key provided",
		"Bearer sk_test_":             "Invalid API Key provided",
		"Bearer sk_test_shop-with-<>": "Invalid API Key provided",
	} {
		r := s.do("GET", "/v1/balance", map[string]string{"Authorization": header}, "")
		require.Equal(t, 401, r.Status, header)
		require.Equal(t, "invalid_request_error", r.Err["type"])
		require.NotContains(t, r.Err, "code")
		require.NotContains(t, r.Err, "param")
		require.Contains(t, r.Err["message"], message)
		require.Regexp(t, "^req_", r.Header.Get("Request-Id"))
	}
	basic := s.do("GET", "/v1/balance", map[string]string{"Authorization": "Basic c2tfdGVzdF9zaG9wOg=="}, "")
	require.Equal(t, 200, basic.Status, "curl -u sk_test_shop: works too")
}

// TestS12_Table is the table of errors in the record, row by row.
func TestS12_Table(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	pi := s.create().ID
	for name, c := range map[string]struct {
		method, path, form string
		status             int
		code, param        string
		message            string
	}{
		"unknown URL":            {"GET", "/v1/nonsense", "", 404, "", "", "Unrecognized request URL (GET: /v1/nonsense)"},
		"unknown method":         {"PUT", "/v1/payment_intents", "", 404, "", "", "Unrecognized request URL (PUT"},
		"unknown parameter":      {"POST", "/v1/customers", "bogus=1", 400, "parameter_unknown", "bogus", "Received unknown parameter: bogus"},
		"unknown nested":         {"POST", "/v1/payment_intents", cardOnly + "&automatic_payment_methods[x]=1", 400, "parameter_unknown", "automatic_payment_methods[x]", ""},
		"unknown in a query":     {"GET", "/v1/payment_intents?bogus=1", "", 400, "parameter_unknown", "bogus", ""},
		"decimal amount":         {"POST", "/v1/payment_intents", "amount=25.00&currency=usd", 400, "parameter_invalid_integer", "amount", "Invalid integer: 25.00"},
		"zero refund":            {"POST", "/v1/refunds", "payment_intent=" + pi + "&amount=0", 400, "parameter_invalid_integer", "amount", ""},
		"missing amount":         {"POST", "/v1/payment_intents", "currency=usd", 400, "parameter_missing", "amount", "Missing required param: amount."},
		"missing query":          {"GET", "/v1/payment_intents/search", "", 400, "parameter_missing", "query", ""},
		"unknown object":         {"GET", "/v1/payment_intents/pi_none", "", 404, "resource_missing", "id", "No such payment_intent: 'pi_none'"},
		"unknown event":          {"GET", "/v1/events/evt_none", "", 404, "resource_missing", "id", ""},
		"refund of nothing":      {"POST", "/v1/refunds", "charge=ch_none", 404, "resource_missing", "id", "No such charge: 'ch_none'"},
		"unknown customer":       {"POST", "/v1/payment_intents", cardOnly + "&customer=cus_none", 400, "resource_missing", "customer", "No such customer: 'cus_none'"},
		"unknown payment method": {"POST", "/v1/payment_intents/" + pi + "/confirm", "payment_method=pm_none", 400, "resource_missing", "payment_method", "No such PaymentMethod: 'pm_none'"},
		"unknown token":          {"POST", "/v1/payment_intents/" + pi + "/confirm", "confirmation_token=ctoken_none", 404, "resource_missing", "confirmation_token", ""},
		"unknown token read":     {"GET", "/v1/confirmation_tokens/ctoken_none", "", 404, "resource_missing", "confirmation_token", ""},
		"too small":              {"POST", "/v1/payment_intents", "amount=49&currency=usd", 400, "amount_too_small", "amount", "Amount must be at least $0.50 usd"},
		"too large":              {"POST", "/v1/payment_intents", "amount=100000000&currency=usd", 400, "amount_too_large", "amount", "Amount must be no more than $999,999.99"},
		"yen too small":          {"POST", "/v1/payment_intents", "amount=49&currency=jpy", 400, "amount_too_small", "amount", "Amount must be at least ¥50 jpy"},
		"unknown currency":       {"POST", "/v1/payment_intents", "amount=100&currency=zzz", 400, "", "currency", "Invalid currency: zzz. Stripe currently supports these currencies: usd"},
		"raw card":               {"POST", "/v1/payment_methods", "type=card&card[number]=4242424242424242&card[exp_month]=1&card[exp_year]=2040", 402, "", "", "generally unsafe"},
		"bad expand":             {"GET", "/v1/payment_intents/" + pi + "?expand[]=amount", "", 400, "", "", "This property cannot be expanded (amount)."},
		"deep expand":            {"GET", "/v1/payment_intents/" + pi + "?expand[]=latest_charge.payment_intent.latest_charge.payment_intent.customer", "", 400, "", "", "more than 4 levels"},
		"no refund target":       {"POST", "/v1/refunds", "amount=1", 400, "", "", "One of the following params"},
		"long description":       {"POST", "/v1/payment_intents", cardOnly + "&description=" + strings.Repeat("d", 1001), 400, "parameter_invalid_string_too_long", "description", ""},
		"bad descriptor":         {"POST", "/v1/payment_intents", cardOnly + "&statement_descriptor_suffix=a%3Cb", 400, "", "statement_descriptor_suffix", ""},
		"return_url early":       {"POST", "/v1/payment_intents", cardOnly + "&return_url=https://a.example", 400, "", "return_url", ""},
		"bad boolean":            {"POST", "/v1/payment_intents", cardOnly + "&confirm=yes", 400, "", "confirm", "Invalid boolean: yes"},
		"bad enum":               {"POST", "/v1/payment_intents/" + pi + "/cancel", "cancellation_reason=boredom", 400, "", "cancellation_reason", ""},
		"dinar last digit":       {"POST", "/v1/payment_intents", "amount=1001&currency=kwd", 400, "", "amount", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := s.do(c.method, c.path, nil, c.form)
			require.Equal(t, c.status, r.Status, r.Raw)
			require.Equal(t, "invalid_request_error", r.Err["type"])
			require.Contains(t, r.Err["message"], c.message)
			for field, want := range map[string]string{"code": c.code, "param": c.param} {
				if want == "" {
					require.NotContains(t, r.Err, field)
				} else {
					require.Equal(t, want, r.Err[field])
				}
			}
			require.NotContains(t, r.Raw, ":null}", "absent is absent")
		})
	}
}

func TestS12_Versions(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	version := func(v string) reply { return s.do("GET", "/v1/balance", map[string]string{"Stripe-Version": v}, "") }
	require.Equal(t, "2023-10-16", version("").Header.Get("Stripe-Version"))
	require.Equal(t, "2019-12-03", version("2019-12-03").Header.Get("Stripe-Version"), "an old version is accepted and echoed")
	r := version("2023-01-32")
	require.Equal(t, 400, r.Status)
	require.NotContains(t, r.Err, "code")
	require.NotContains(t, r.Err, "param")
}

// TestS14_DeclineTable is the table of test cards in the record.
func TestS14_DeclineTable(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	for token, want := range map[string][5]string{ // code, decline_code, advice_code, param, message
		"pm_card_visa_chargeDeclined":                      {"card_declined", "generic_decline", "try_again_later", "", "Your card was declined."},
		"pm_card_visa_chargeDeclinedInsufficientFunds":     {"card_declined", "insufficient_funds", "try_again_later", "", "Your card has insufficient funds."},
		"pm_card_visa_chargeDeclinedLostCard":              {"card_declined", "lost_card", "do_not_try_again", "", "Your card was declined."},
		"pm_card_visa_chargeDeclinedStolenCard":            {"card_declined", "stolen_card", "do_not_try_again", "", "Your card was declined."},
		"pm_card_chargeDeclinedExpiredCard":                {"expired_card", "expired_card", "confirm_card_data", "exp_month", "Your card has expired."},
		"pm_card_chargeDeclinedIncorrectCvc":               {"incorrect_cvc", "incorrect_cvc", "confirm_card_data", "cvc", "Your card's security code is incorrect."},
		"pm_card_chargeDeclinedProcessingError":            {"processing_error", "processing_error", "try_again_later", "", "An error occurred while processing your card. Try again in a little bit."},
		"pm_card_chargeDeclinedFraudulent":                 {"card_declined", "fraudulent", "", "", "Your card was declined."},
		"pm_card_visa_chargeDeclinedVelocityLimitExceeded": {"card_declined", "card_velocity_exceeded", "", "", ""},
		"pm_card_chargeCustomerFail":                       {"card_declined", "generic_decline", "", "", ""},
	} {
		t.Run(token, func(t *testing.T) {
			pi := s.create()
			r := s.post("/v1/payment_intents/"+pi.ID+"/confirm", "", "payment_method="+token)
			require.Equal(t, 402, r.Status)
			require.Equal(t, "card_error", r.Err["type"])
			require.Equal(t, want[0], r.Err["code"])
			require.Equal(t, want[1], r.Err["decline_code"])
			require.Contains(t, r.Err["message"], want[4])
			for i, field := range map[int]string{2: "advice_code", 3: "param"} {
				if want[i] != "" {
					require.Equal(t, want[i], r.Err[field])
				}
			}
			require.Equal(t, "https://stripe.com/docs/error-codes/"+strings.ReplaceAll(want[0], "_", "-"), r.Err["doc_url"])
			inError := r.Err["payment_intent"].(map[string]any)
			require.Equal(t, "requires_payment_method", inError["status"])
			require.Equal(t, want[0], inError["last_payment_error"].(map[string]any)["code"])
			require.Equal(t, "failed", s.get("/v1/charges/" + r.Err["charge"].(string)).Body["status"])
			require.Equal(t, "card", r.Err["payment_method"].(map[string]any)["type"])
		})
	}
	require.Zero(t, ledgerOf(s))
}

func TestS14_CardsThatSucceed(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	for token, brand := range map[string]string{"pm_card_visa": "visa", "pm_card_mastercard": "mastercard", "pm_card_amex": "amex",
		"pm_card_discover": "discover", "pm_card_threeDSecureOptional": "visa", "pm_card_amex_threeDSecureNotSupported": "amex", "pm_card_bypassPending": "visa"} {
		pi, err := s.confirm(s.create().ID, token)
		require.NoError(t, err)
		require.Equal(t, brand, s.get("/v1/charges/" + pi.LatestCharge.ID).Body["payment_method_details"].(map[string]any)["card"].(map[string]any)["brand"])
	}
	balance, err := s.api.Balance.Get(nil)
	require.NoError(t, err)
	require.EqualValues(t, 2500, balance.Available[0].Amount, "bypassPending is available at once")
	require.EqualValues(t, 6*2500, balance.Pending[0].Amount)
}

func TestS14_DisputeCard(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	pi, err := s.confirm(s.create().ID, "pm_card_createDispute")
	require.NoError(t, err)
	it := s.api.Disputes.List(&stripe.DisputeListParams{PaymentIntent: &pi.ID})
	require.True(t, it.Next())
	d := it.Dispute()
	require.Equal(t, stripe.DisputeReasonFraudulent, d.Reason)
	require.Equal(t, stripe.DisputeStatusNeedsResponse, d.Status)
	_, err = s.api.Refunds.New(&stripe.RefundParams{PaymentIntent: &pi.ID})
	se := stripeError(t, err)
	require.Equal(t, stripe.ErrorCode("charge_disputed"), se.Code)
	require.Len(t, s.get("/v1/events?type=charge.dispute.created").Body["data"], 1)
	closed, err := s.api.Disputes.Close(d.ID, nil)
	require.NoError(t, err)
	require.Equal(t, stripe.DisputeStatusLost, closed.Status)
}

func TestS22_PublishableKeys(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	pk := map[string]string{"Authorization": "Bearer pk_test_shop"}
	pi := s.create()
	path := "/v1/payment_intents/" + pi.ID
	require.Equal(t, 403, s.do("POST", "/v1/payment_intents", pk, cardOnly).Status)
	require.Equal(t, "client_secret", s.do("GET", path, pk, "").Err["param"])
	require.Equal(t, 400, s.do("GET", path+"?client_secret=wrong", pk, "").Status)
	seen := s.do("GET", path+"?client_secret="+pi.ClientSecret, pk, "")
	require.Equal(t, pi.ID, seen.Body["id"])
	for _, hidden := range []string{"metadata", "customer", "latest_charge", "amount_received"} {
		require.NotContains(t, seen.Body, hidden)
	}
	card := "type=card&card[exp_month]=12&card[exp_year]=40&card[cvc]=123&card[number]="
	m := s.do("POST", "/v1/payment_methods", pk, card+"4242+4242+4242+4242")
	require.Equal(t, "4242", m.Body["card"].(map[string]any)["last4"])
	declined := s.do("POST", path+"/confirm", pk, "client_secret="+pi.ClientSecret+"&payment_method=pm_card_visa_chargeDeclined")
	require.Equal(t, 402, declined.Status)
	require.NotContains(t, declined.Err["payment_intent"], "metadata", "an error shows no more than a read")
	paid := s.do("POST", path+"/confirm", pk, "client_secret="+pi.ClientSecret+"&payment_method="+m.Body["id"].(string))
	require.Equal(t, "succeeded", paid.Body["status"], paid.Raw)
	for number, code := range map[string]string{"4242424242424241": "incorrect_number", "4111111111111111": "card_declined"} {
		r := s.do("POST", "/v1/payment_methods", pk, card+number)
		require.Equal(t, 402, r.Status)
		require.Equal(t, code, r.Err["code"])
	}
	require.Equal(t, "invalid_expiry_year", s.do("POST", "/v1/payment_methods", pk, "type=card&card[number]=4242424242424242&card[exp_month]=1&card[exp_year]=2020").Err["code"])
	cors := s.do("OPTIONS", "/v1/payment_methods", map[string]string{"Origin": "http://shop.example"}, "")
	require.Equal(t, "*", cors.Header.Get("Access-Control-Allow-Origin"))
	require.Contains(t, cors.Header.Get("Access-Control-Allow-Headers"), "Authorization")
	require.Equal(t, "*", m.Header.Get("Access-Control-Allow-Origin"))
	r := s.do("POST", "/v1/confirmation_tokens", map[string]string{"Authorization": ""}, "key=pk_test_shop&payment_method_data[type]=card&payment_method_data[card][number]=4242424242424242&payment_method_data[card][exp_month]=1&payment_method_data[card][exp_year]=2040")
	require.Equal(t, http.StatusOK, r.Status, r.Raw)
}

func TestS13_MetadataLimits(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	long := strings.Repeat("é", 41)
	r := s.post("/v1/payment_intents", "", cardOnly+"&metadata["+long+"]=v")
	require.Equal(t, "Invalid key: "+long+" must be a string under 40 characters", r.Err["message"])
	require.Equal(t, "metadata", r.Err["param"])
	r = s.post("/v1/payment_intents", "", cardOnly+"&metadata[k]="+strings.Repeat("v", 501))
	require.Contains(t, r.Err["message"], "must be a string under 500 characters")
	form := cardOnly
	for i := range 51 {
		form += fmt.Sprintf("&metadata[k%d]=v", i)
	}
	require.Equal(t, 400, s.post("/v1/payment_intents", "", form).Status)
	require.Equal(t, 200, s.post("/v1/payment_intents", "", cardOnly+"&metadata[🙂]="+strings.Repeat("🙂", 500)).Status)
}

func TestBadInputIsAnsweredNotDied(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	for name, form := range map[string]string{
		"bad escape":      "amount=%zz",
		"open bracket":    "metadata[a=1",
		"close bracket":   "a]=1",
		"bracket first":   "[a]=1",
		"absurd nesting":  "metadata" + strings.Repeat("[a]", 5000) + "=1",
		"invalid UTF-8":   "description=%ff%fe",
		"NUL":             "description=a%00b",
		"no name":         "=1",
		"many parameters": strings.Repeat("metadata[a]=1&", 2000),
	} {
		require.Equal(t, 400, s.post("/v1/payment_intents", "", form).Status, name)
	}
	require.Equal(t, 413, s.post("/v1/payment_intents", "", "description="+strings.Repeat("x", 2<<20)).Status)
	require.Equal(t, 400, s.post("/v1/payment_intents", "", "amount=99999999999999999999&currency=usd").Status)
	require.Equal(t, 400, s.post("/v1/payment_intents", "", "amount=-5&currency=usd").Status)
	require.Equal(t, 200, s.post("/v1/payment_intents", "", "&&"+cardOnly+"&").Status)
}
