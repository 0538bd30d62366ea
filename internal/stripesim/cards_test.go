package stripesim_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v76"

	"shop/internal/stripesim"
)

// card is a row of the record's table of test cards.
type card struct {
	token, number, brand string
	funding              string
	// what a payment leads to
	code, decline, advice, param, message string
	network, outcome, reason, seller      string // of the failed charge
}

const (
	noDetails = "The bank did not return any further details with this decline."
	declined  = "Your card was declined."
)

var cards = []card{
	{"pm_card_visa", "4242424242424242", "visa", "credit", "", "", "", "", "", "", "", "", ""},
	{"pm_card_visa_debit", "4000056655665556", "visa", "debit", "", "", "", "", "", "", "", "", ""},
	{"pm_card_mastercard", "5555555555554444", "mastercard", "credit", "", "", "", "", "", "", "", "", ""},
	{"pm_card_mastercard_debit", "5200828282828210", "mastercard", "debit", "", "", "", "", "", "", "", "", ""},
	{"pm_card_amex", "378282246310005", "amex", "credit", "", "", "", "", "", "", "", "", ""},
	{"pm_card_discover", "6011111111111117", "discover", "credit", "", "", "", "", "", "", "", "", ""},
	{"pm_card_diners", "3056930009020004", "diners", "credit", "", "", "", "", "", "", "", "", ""},
	{"pm_card_jcb", "3566002020360505", "jcb", "credit", "", "", "", "", "", "", "", "", ""},
	{"pm_card_unionpay", "6200000000000005", "unionpay", "credit", "", "", "", "", "", "", "", "", ""},
	{"pm_card_bypassPending", "4000000000000077", "visa", "credit", "", "", "", "", "", "", "", "", ""},
	{"pm_card_createDispute", "4000000000000259", "visa", "credit", "", "", "", "", "", "", "", "", ""},
	{"pm_card_threeDSecureOptional", "4000000000003055", "visa", "credit", "", "", "", "", "", "", "", "", ""},
	{"pm_card_visa_chargeDeclined", "4000000000000002", "visa", "credit", "card_declined", "generic_decline", "try_again_later", "", declined, "declined_by_network", "issuer_declined", "generic_decline", noDetails},
	{"pm_card_visa_chargeDeclinedInsufficientFunds", "4000000000009995", "visa", "credit", "card_declined", "insufficient_funds", "try_again_later", "", "Your card has insufficient funds.", "declined_by_network", "issuer_declined", "insufficient_funds", noDetails},
	{"pm_card_visa_chargeDeclinedLostCard", "4000000000009987", "visa", "credit", "card_declined", "lost_card", "do_not_try_again", "", declined, "declined_by_network", "issuer_declined", "lost_card", noDetails},
	{"pm_card_visa_chargeDeclinedStolenCard", "4000000000009979", "visa", "credit", "card_declined", "stolen_card", "do_not_try_again", "", declined, "declined_by_network", "issuer_declined", "stolen_card", noDetails},
	{"pm_card_chargeDeclinedExpiredCard", "4000000000000069", "visa", "credit", "expired_card", "expired_card", "confirm_card_data", "exp_month", "Your card has expired.", "declined_by_network", "issuer_declined", "expired_card", noDetails},
	{"pm_card_chargeDeclinedIncorrectCvc", "4000000000000127", "visa", "credit", "incorrect_cvc", "incorrect_cvc", "confirm_card_data", "cvc", "Your card's security code is incorrect.", "declined_by_network", "issuer_declined", "incorrect_cvc", noDetails},
	{"pm_card_chargeDeclinedProcessingError", "4000000000000119", "visa", "credit", "processing_error", "processing_error", "try_again_later", "", "An error occurred while processing your card. Try again in a little bit.", "declined_by_network", "issuer_declined", "processing_error", noDetails},
	{"pm_card_chargeDeclinedFraudulent", "4100000000000019", "visa", "credit", "card_declined", "fraudulent", "", "", declined, "not_sent_to_network", "blocked", "highest_risk_level", "Stripe blocked this payment as too risky."},
	{"pm_card_visa_chargeDeclinedVelocityLimitExceeded", "4000000000006975", "visa", "credit", "card_declined", "card_velocity_exceeded", "", "", "Your card was declined for making repeated attempts too frequently or exceeding its amount limit.", "declined_by_network", "issuer_declined", "card_velocity_exceeded", noDetails},
	{"pm_card_chargeCustomerFail", "4000000000000341", "visa", "credit", "card_declined", "generic_decline", "try_again_later", "", declined, "declined_by_network", "issuer_declined", "generic_decline", noDetails},
}

// pays tells, for a whole refusal or a success, that it is what the card's row says.
func (c card) pays(t *testing.T, s *sim, r reply) {
	t.Helper()
	var intent map[string]any
	if c.code == "" {
		require.Equal(t, 200, r.Status, "%s: %s", c.token, r.Raw)
		require.Equal(t, "succeeded", r.Body["status"])
		require.EqualValues(t, 2500, r.Body["amount_received"])
		intent = r.Body
	} else {
		require.Equal(t, 402, r.Status, "%s: %s", c.token, r.Raw)
		intent = r.Err["payment_intent"].(map[string]any)
		want := map[string]any{"type": "card_error", "code": c.code, "decline_code": c.decline, "message": c.message,
			"doc_url": "https://stripe.com/docs/error-codes/" + strings.ReplaceAll(c.code, "_", "-")}
		if c.advice != "" {
			want["advice_code"] = c.advice
		}
		if c.param != "" {
			want["param"] = c.param
		}
		got := map[string]any{}
		for name, v := range r.Err {
			if text, isText := v.(string); isText && name != "charge" && name != "request_log_url" {
				got[name] = text
			}
		}
		require.Equal(t, want, got, c.token)
		require.Equal(t, "requires_payment_method", intent["status"])
		require.Nil(t, intent["payment_method"])
		require.Equal(t, r.Err["charge"], intent["latest_charge"])
		kept := intent["last_payment_error"].(map[string]any)
		require.Equal(t, r.Err["payment_method"], kept["payment_method"])
		require.Equal(t, []any{c.code, c.decline, c.message}, []any{kept["code"], kept["decline_code"], kept["message"]})
		require.NotContains(t, kept, "payment_intent")
	}
	ch := s.quick("GET", "/v1/charges/"+intent["latest_charge"].(string), "").Body
	require.Equal(t, c.code == "", ch["paid"])
	require.Equal(t, c.code == "", ch["captured"])
	details := ch["payment_method_details"].(map[string]any)["card"].(map[string]any)
	require.Equal(t, []any{c.brand, c.brand, c.funding, c.number[len(c.number)-4:]}, []any{details["brand"], details["network"], details["funding"], details["last4"]})
	outcome := ch["outcome"].(map[string]any)
	if c.code == "" {
		require.Equal(t, []any{"succeeded", nil, nil}, []any{ch["status"], ch["failure_code"], ch["failure_message"]})
		require.Equal(t, []any{"approved_by_network", "authorized", nil, "Payment complete."}, []any{outcome["network_status"], outcome["type"], outcome["reason"], outcome["seller_message"]})
		require.NotNil(t, ch["balance_transaction"])
		require.NotNil(t, ch["receipt_url"])
	} else {
		require.Equal(t, []any{"failed", c.code, c.message}, []any{ch["status"], ch["failure_code"], ch["failure_message"]})
		require.Equal(t, []any{c.network, c.outcome, c.reason, c.seller}, []any{outcome["network_status"], outcome["type"], outcome["reason"], outcome["seller_message"]})
		require.Nil(t, ch["balance_transaction"])
		require.Nil(t, ch["receipt_url"])
	}
}

// TestS14_EveryCardEveryWay pays with every card by every way there is: the outcome
// belongs to the card, not to the way.
func TestS14_EveryCardEveryWay(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	pk := map[string]string{"Authorization": "Bearer pk_test_shop"}
	typed := func(below string, c card) string {
		at := func(name string) string {
			if below == "" {
				return name
			}
			first, rest, nested := strings.Cut(name, "[")
			if nested {
				return below + "[" + first + "][" + rest
			}
			return below + "[" + first + "]"
		}
		return at("type") + "=card&" + at("card[number]") + "=" + c.number + "&" + at("card[exp_month]") + "=12&" + at("card[exp_year]") + "=40&" + at("card[cvc]") + "=" + map[bool]string{true: "1234", false: "123"}[c.brand == "amex"]
	}
	for way, pay := range map[string]func(c card) reply{
		"confirm": func(c card) reply {
			return s.post("/v1/payment_intents/"+s.made(cardOnly)+"/confirm", "", "payment_method="+c.token)
		},
		"create and confirm": func(c card) reply {
			return s.post("/v1/payment_intents", "", cardOnly+"&confirm=true&payment_method="+c.token)
		},
		"method on create": func(c card) reply {
			return s.post("/v1/payment_intents/"+s.made(cardOnly+"&payment_method="+c.token)+"/confirm", "", "")
		},
		"method on update": func(c card) reply {
			id := s.made(cardOnly)
			require.Equal(t, 200, s.post("/v1/payment_intents/"+id, "", "payment_method="+c.token).Status)
			return s.post("/v1/payment_intents/"+id+"/confirm", "", "")
		},
		"older token": func(c card) reply {
			return s.post("/v1/payment_intents", "", cardOnly+"&confirm=true&payment_method_data[type]=card&payment_method_data[card][token]=tok_"+strings.TrimPrefix(c.token, "pm_card_"))
		},
		"confirmation token": func(c card) reply {
			tok := s.quick("POST", "/v1/test_helpers/confirmation_tokens", "payment_method="+c.token)
			return s.post("/v1/payment_intents", "", cardOnly+"&confirm=true&confirmation_token="+tok.Body["id"].(string))
		},
		"typed into a method": func(c card) reply {
			m := s.do("POST", "/v1/payment_methods", pk, typed("", c))
			require.Equal(t, 200, m.Status, m.Raw)
			return s.post("/v1/payment_intents", "", cardOnly+"&confirm=true&payment_method="+m.Body["id"].(string))
		},
		"typed into a token": func(c card) reply {
			tok := s.do("POST", "/v1/confirmation_tokens", pk, typed("payment_method_data", c))
			require.Equal(t, 200, tok.Status, tok.Raw)
			return s.post("/v1/payment_intents", "", cardOnly+"&confirm=true&confirmation_token="+tok.Body["id"].(string))
		},
		"saved for a customer": func(c card) reply {
			cus := s.quick("POST", "/v1/customers", "").Body["id"].(string)
			m := s.quick("POST", "/v1/payment_methods/"+c.token+"/attach", "customer="+cus).Body["id"].(string)
			return s.post("/v1/payment_intents", "", cardOnly+"&confirm=true&off_session=true&customer="+cus+"&payment_method="+m)
		},
	} {
		for _, c := range cards {
			c.pays(t, s, pay(c))
		}
		require.NotEmpty(t, way)
	}
}

// TestS14_AnAmericanExpressCardWithoutThreeDSecure shares its number with the plain
// one and says that it does not support 3-D Secure.
func TestS14_AnAmericanExpressCardWithoutThreeDSecure(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	pi, err := s.confirm(s.create().ID, "pm_card_amex_threeDSecureNotSupported")
	require.NoError(t, err)
	m, err := s.api.PaymentMethods.Get(pi.PaymentMethod.ID, nil)
	require.NoError(t, err)
	require.False(t, m.Card.ThreeDSecureUsage.Supported)
	require.Equal(t, stripe.PaymentMethodCardBrandAmex, m.Card.Brand)
}

// TestS14_WhenACardAsksForAuthentication is the record's table of 3-D Secure cards.
func TestS14_WhenACardAsksForAuthentication(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	for _, c := range []struct{ card, form, status, decline string }{
		{"pm_card_threeDSecure2Required", "", "requires_action", ""},
		{"pm_card_threeDSecureRequired", "", "requires_action", ""},
		{"pm_card_authenticationRequiredOnSetup", "", "requires_action", ""},
		{"pm_card_threeDSecureRequiredChargeDeclined", "", "requires_action", ""},
		{"pm_card_threeDSecureOptional", "", "succeeded", ""},
		{"pm_card_threeDSecureOptional", "payment_method_options[card][request_three_d_secure]=any", "requires_action", ""},
		{"pm_card_threeDSecureOptional", "payment_method_options[card][request_three_d_secure]=challenge", "requires_action", ""},
		{"pm_card_threeDSecureOptional", "payment_method_options[card][request_three_d_secure]=automatic", "succeeded", ""},
		{"pm_card_amex_threeDSecureNotSupported", "payment_method_options[card][request_three_d_secure]=any", "succeeded", ""},
		{"pm_card_visa", "payment_method_options[card][request_three_d_secure]=any", "succeeded", ""},
		{"pm_card_threeDSecure2Required", "off_session=true", "requires_payment_method", "authentication_required"},
		{"pm_card_threeDSecure2Required", "off_session=one_off", "requires_payment_method", "authentication_required"},
		{"pm_card_authenticationRequiredOnSetup", "off_session=recurring", "requires_payment_method", "authentication_required"},
		{"pm_card_threeDSecure2Required", "off_session=false", "requires_action", ""},
		{"pm_card_threeDSecure2Required", "error_on_requires_action=true", "requires_payment_method", "authentication_not_handled"},
		{"pm_card_threeDSecure2Required", "error_on_requires_action=false", "requires_action", ""},
	} {
		at := c.card + " " + c.form
		r := s.post("/v1/payment_intents", "", with(cardOnly+"&confirm=true&return_url="+back+"&payment_method="+c.card, c.form))
		intent := r.Body
		if c.decline != "" {
			require.Equal(t, 402, r.Status, at)
			require.Equal(t, []any{"card_error", "authentication_required", c.decline}, []any{r.Err["type"], r.Err["code"], r.Err["decline_code"]}, at)
			require.NotContains(t, r.Err, "param", at)
			intent = r.Err["payment_intent"].(map[string]any)
			require.Equal(t, c.decline == "authentication_required", r.Err["charge"] != nil, "%s: the issuer was asked or not", at)
			require.Equal(t, c.status, s.statusOf(intent["id"].(string)), "%s: a refused create still makes an object", at)
		} else {
			require.Equal(t, 200, r.Status, "%s: %s", at, r.Raw)
		}
		require.Equal(t, c.status, intent["status"], at)
		require.Equal(t, c.status == "requires_action", intent["next_action"] != nil, at)
		require.EqualValues(t, 0, intent["amount_capturable"], at)
	}
}

// TestS14_ASetUpCardPaysOffSession: 4000002500003155 asks on-session always, off-session
// until it was set up, whether by a SetupIntent or by a payment that saves it.
func TestS14_ASetUpCardPaysOffSession(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	cus := s.quick("POST", "/v1/customers", "").Body["id"].(string)
	r := s.post("/v1/payment_intents", "", cardOnly+"&confirm=true&setup_future_usage=off_session&customer="+cus+"&payment_method=pm_card_authenticationRequiredOnSetup&return_url="+back)
	s.decide(r.Body["next_action"].(map[string]any)["redirect_to_url"].(map[string]any)["url"].(string), "approve")
	paid := s.get("/v1/payment_intents/" + r.Body["id"].(string)).Body
	require.Equal(t, "succeeded", paid["status"])
	saved := paid["payment_method"].(string)
	require.Equal(t, cus, s.get("/v1/payment_methods/" + saved).Body["customer"], "the payment saved it")
	charge := s.get("/v1/charges/" + paid["latest_charge"].(string)).Body
	require.Equal(t, map[string]any{"authentication_flow": "challenge", "result": "authenticated", "result_reason": nil, "version": "2.2.0"},
		charge["payment_method_details"].(map[string]any)["card"].(map[string]any)["three_d_secure"])
	for form, status := range map[string]string{"&off_session=true": "succeeded", "&return_url=" + back: "requires_action"} {
		again := s.post("/v1/payment_intents", "", cardOnly+"&confirm=true&customer="+cus+"&payment_method="+saved+form)
		require.Equal(t, status, again.Body["status"], form)
	}
}

// TestS14_TypedCards: what a browser's card form can get wrong.
func TestS14_TypedCards(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	year := s.now.Now().UTC().Year()
	for _, c := range []struct{ number, month, year, cvc, code, param, message string }{
		{"4242424242424242", "12", "2040", "123", "", "", ""},
		{"4242 4242 4242 4242", "1", "40", "123", "", "", ""},
		{"4242-4242-4242-4242", "01", "2041", "999", "", "", ""},
		{"4242424242424241", "12", "2040", "123", "incorrect_number", "number", "Your card number is incorrect."},
		{"4242", "12", "2040", "123", "incorrect_number", "number", "Your card number is incorrect."},
		{"42424242424242424242", "12", "2040", "123", "incorrect_number", "number", "Your card number is incorrect."},
		{"abcdabcdabcdabcd", "12", "2040", "123", "incorrect_number", "number", "Your card number is incorrect."},
		{"4242424242424242", "13", "2040", "123", "invalid_expiry_month", "exp_month", "Your card's expiration month is invalid."},
		{"4242424242424242", "0", "2040", "123", "invalid_expiry_month", "exp_month", "Your card's expiration month is invalid."},
		{"4242424242424242", "-1", "2040", "123", "invalid_expiry_month", "exp_month", "Your card's expiration month is invalid."},
		{"4242424242424242", "12", "2020", "123", "invalid_expiry_year", "exp_year", "Your card's expiration year is invalid."},
		{"4242424242424242", "12", "99", "123", "invalid_expiry_year", "exp_year", "Your card's expiration year is invalid."},
		{"4242424242424242", "12", "3000", "123", "invalid_expiry_year", "exp_year", "Your card's expiration year is invalid."},
		{"4242424242424242", "12", "2040", "12", "invalid_cvc", "cvc", "Your card's security code is invalid."},
		{"4242424242424242", "12", "2040", "12345", "invalid_cvc", "cvc", "Your card's security code is invalid."},
		{"4242424242424242", "12", "2040", "12a", "invalid_cvc", "cvc", "Your card's security code is invalid."},
		{"4242424242424242", "12", "2040", "", "invalid_cvc", "cvc", "Your card's security code is invalid."},
		{"4111111111111111", "12", "2040", "123", "card_declined", "", "Your card was declined. Your request was in test mode, but used a non test card. For a list of valid test cards, visit: https://stripe.com/docs/testing."},
	} {
		form := "type=card&card[number]=" + c.number + "&card[exp_month]=" + c.month + "&card[exp_year]=" + c.year + "&card[cvc]=" + c.cvc
		r := s.do("POST", "/v1/payment_methods", map[string]string{"Authorization": "Bearer pk_test_shop"}, strings.ReplaceAll(form, " ", "+"))
		if c.code == "" {
			require.Equal(t, 200, r.Status, r.Raw)
			require.GreaterOrEqual(t, r.Body["card"].(map[string]any)["exp_year"], float64(year), "two digits mean this century")
			continue
		}
		require.Equal(t, 402, r.Status, "%v: %s", c, r.Raw)
		require.Equal(t, []any{"card_error", c.code, c.message}, []any{r.Err["type"], r.Err["code"], r.Err["message"]}, c)
		if c.param == "" {
			require.NotContains(t, r.Err, "param")
			require.Equal(t, "test_mode_live_card", r.Err["decline_code"])
		} else {
			require.Equal(t, c.param, r.Err["param"])
		}
	}
}

// TestS13_AToken_IsANewMethodEachTime: pm_card_visa names a card, not a method.
func TestS13_AToken_IsANewMethodEachTime(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	first, second := s.paid(), s.paid()
	require.NotEqual(t, first.PaymentMethod.ID, second.PaymentMethod.ID)
	fingerprint := func(pi *stripe.PaymentIntent) string {
		m, err := s.api.PaymentMethods.Get(pi.PaymentMethod.ID, nil)
		require.NoError(t, err)
		return m.Card.Fingerprint
	}
	require.Equal(t, fingerprint(first), fingerprint(second), "of the same card")
	amex, err := s.confirm(s.create().ID, "pm_card_amex")
	require.NoError(t, err)
	require.NotEqual(t, fingerprint(first), fingerprint(amex))
	require.Equal(t, 404, s.get("/v1/payment_methods/pm_card_visa").Status)
}
