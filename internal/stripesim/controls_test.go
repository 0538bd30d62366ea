package stripesim_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v76"

	"shop/internal/stripesim"
)

// TestControls_Clock: advance, set, reset, and what is not understood.
func TestControls_Clock(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	now := s.now.Now().Unix()
	unix := func(body any) int64 { return int64(s.control("/_sim/clock", body)["unix"].(float64)) }
	require.Equal(t, now+3600, unix(map[string]string{"advance": "1h"}))
	require.Equal(t, now+5400, unix(map[string]string{"advance": "30m"}), "advances add up")
	require.Equal(t, now+1800, unix(map[string]string{"advance": "-1h"}), "and go back")
	require.EqualValues(t, 1800000000, unix(map[string]string{"set": "2027-01-15T08:00:00Z"}))
	require.Equal(t, now, unix(map[string]bool{"reset": true}))
	require.EqualValues(t, 0, s.get("/_sim/clock").Body["ahead_seconds"])
	pi := s.create()
	require.Equal(t, now, pi.Created)
	for _, bad := range []string{`{}`, `{"advance":"tomorrow"}`, `{"advance":5}`, `{"set":"yesterday"}`, `{"by":"1h"}`, `advance=soon`, ``, `[]`} {
		r := s.do("POST", "/_sim/clock", nil, bad)
		require.Equal(t, 400, r.Status, "%q: %s", bad, r.Raw)
	}
	require.EqualValues(t, 0, s.get("/_sim/clock").Body["ahead_seconds"], "none of them moved it")
}

// TestControls_WhatTimeDoes: moving the clock does everything that waiting would.
func TestControls_WhatTimeDoes(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	w := s.populate()
	confirm := func(token string) reply {
		return s.post("/v1/payment_intents/"+s.made(cardOnly)+"/confirm", "", "confirmation_token="+token)
	}
	pending := func() (available, pending float64) {
		b := s.get("/v1/balance").Body
		return b["available"].([]any)[0].(map[string]any)["amount"].(float64), b["pending"].([]any)[0].(map[string]any)["amount"].(float64)
	}
	a, p := pending()
	require.Equal(t, []float64{-100 - 2500, 5000}, []float64{a, p}, "refund and dispute are taken at once, charges wait")
	require.Equal(t, "pending", s.get("/v1/balance_transactions/" + w["txn"]).Body["status"])
	second := s.quick("POST", "/v1/test_helpers/confirmation_tokens", "payment_method=pm_card_visa").Body["id"].(string)
	s.control("/_sim/clock", map[string]string{"advance": "11h59m"})
	require.Equal(t, 200, confirm(second).Status, "a token lives twelve hours")
	s.control("/_sim/clock", map[string]string{"advance": "2m"})
	expired := confirm(w["token"])
	require.Equal(t, "payment_intent_confirmation_token_invalid", expired.Err["code"])
	require.Equal(t, "The ConfirmationToken "+w["token"]+" has expired. Create a new ConfirmationToken.", expired.Err["message"])
	s.control("/_sim/clock", map[string]string{"advance": "36h"})
	require.Equal(t, "available", s.get("/v1/balance_transactions/" + w["txn"]).Body["status"], "two days later")
	require.Equal(t, "requires_capture", s.statusOf(w["hold"]))
	s.control("/_sim/clock", map[string]string{"advance": "119h58m"})
	require.Equal(t, "requires_capture", s.statusOf(w["hold"]), "a minute before seven days")
	s.control("/_sim/clock", map[string]string{"advance": "2m"})
	require.Equal(t, "canceled", s.statusOf(w["hold"]))
	require.Equal(t, "This PaymentIntent could not be captured because it has a status of canceled."+mayCapture, s.post("/v1/payment_intents/"+w["hold"]+"/capture", "", "").Err["message"])
}

// TestControls_Ledger: money that really moved, with what it was for.
func TestControls_Ledger(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	require.Empty(t, s.get("/_sim/ledger").Body["accounts"])
	pi := s.create(func(p *stripe.PaymentIntentParams) { p.AddMetadata("order", "1") })
	_, err := s.confirm(pi.ID, "pm_card_visa_chargeDeclined")
	require.Error(t, err)
	paid, err := s.confirm(pi.ID, "pm_card_visa")
	require.NoError(t, err)
	inStatus["requires_capture"](s)
	s.post("/v1/refunds", "", "amount=500&metadata[why]=broken&payment_intent="+pi.ID)
	s.made("amount=700&currency=eur&confirm=true&payment_method_types[]=card&payment_method=pm_card_visa")
	s.do("POST", "/v1/payment_intents", map[string]string{"Authorization": "Bearer sk_test_other"}, cardOnly+"&confirm=true&payment_method=pm_card_visa")
	account := s.get("/_sim/ledger?account=shop").Body["accounts"].([]any)[0].(map[string]any)
	require.Equal(t, map[string]any{"usd": map[string]any{"charges": 1., "captured": 2500., "refunded": 500., "net": 2000.}, "eur": map[string]any{"charges": 1., "captured": 700., "refunded": 0., "net": 700.}}, account["totals"])
	require.Equal(t, map[string]any{"charge": paid.LatestCharge.ID, "payment_intent": pi.ID, "amount": 2500., "refunded": 500., "currency": "usd", "metadata": map[string]any{"order": "1"}, "created": float64(s.now.Now().Unix())}, account["charges"].([]any)[0])
	require.Equal(t, map[string]any{"why": "broken"}, account["refunds"].([]any)[0].(map[string]any)["metadata"])
	require.Regexp(t, "^acct_1", account["id"])
	require.Len(t, s.get("/_sim/ledger").Body["accounts"], 2)
	require.Empty(t, s.get("/_sim/ledger?account=none").Body["accounts"])
}

// TestControls_Requests: every filter of the journal of requests.
func TestControls_Requests(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	id := s.post("/v1/payment_intents", "create", cardOnly).Body["id"].(string)
	s.post("/v1/payment_intents", "create", cardOnly)
	s.post("/v1/payment_intents/"+id+"/confirm", "confirm", "payment_method=pm_card_visa_chargeDeclined")
	s.post("/v1/payment_intents", "", "bogus=1&amount=1")
	s.do("GET", "/v1/balance", map[string]string{"Authorization": "Bearer sk_test_other"}, "")
	s.do("GET", "/v1/balance", map[string]string{"Authorization": ""}, "")
	s.get("/v1/nonsense")
	short := func(filter string) (out []string) {
		values, err := url.ParseQuery(filter)
		require.NoError(t, err)
		for _, r := range s.requests(values) {
			line := r.Endpoint + " " + http.StatusText(r.Status) + " " + r.Code
			if r.Replayed {
				line += " replayed"
			}
			if r.Executed {
				line += " executed"
			}
			out = append(out, strings.Join(strings.Fields(line), " "))
		}
		return out
	}
	require.Equal(t, []string{"POST /v1/payment_intents OK executed", "POST /v1/payment_intents OK replayed"}, short("key=create"))
	require.Equal(t, []string{"POST /v1/payment_intents/{id}/confirm Payment Required card_declined executed"}, short("path=/v1/payment_intents/"+id+"/confirm"))
	require.Equal(t, []string{"GET /v1/balance OK executed"}, short("account=other"))
	require.Len(t, short("endpoint=POST /v1/payment_intents"), 3)
	require.Equal(t, []string{"POST /v1/payment_intents OK executed", "POST /v1/payment_intents OK replayed", "POST /v1/payment_intents/{id}/confirm Payment Required card_declined executed",
		"POST /v1/payment_intents Bad Request parameter_unknown", "GET /v1/balance OK executed", "GET /v1/balance Unauthorized invalid_request_error", "GET /v1/nonsense Not Found invalid_request_error"}, short(""))
	require.Equal(t, id, s.get("/_sim/requests?key=confirm").Body["requests"].([]any)[0].(map[string]any)["object"], "the intent inside the error")
}

// TestControls_PagesOfEveryObject: each has a page that shows it as the API does, with
// the requests that led to it.
func TestControls_PagesOfEveryObject(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	w := s.populate()
	for _, name := range []string{"customer", "method", "token", "intent", "paid", "charge", "txn", "refund", "dispute", "setup", "hook", "event"} {
		if name == "dispute" {
			w[name] = s.first("/v1/disputes")["id"].(string)
		}
		r := s.get("/_sim/objects/shop/" + w[name])
		require.Equal(t, 200, r.Status, name)
		require.Contains(t, r.Raw, w[name])
		require.NotContains(t, r.Raw, "whsec_", "a secret is no part of a page")
		require.Contains(t, r.Header.Get("Content-Security-Policy"), "default-src 'none'")
	}
	page := s.get("/_sim/objects/shop/" + w["paid"]).Raw
	require.Contains(t, page, "POST /v1/payment_intents")
	require.Equal(t, 404, s.get("/_sim/receipts/ch_none").Status)
	require.Equal(t, 200, s.get("/_sim/receipts/"+w["charge"]).Status)
	require.Equal(t, 404, s.get("/_sim/nonsense").Status)
	require.Equal(t, 404, s.get("/nonsense").Status)
	css := s.get("/_sim/page.css")
	require.Contains(t, css.Header.Get("Content-Type"), "text/css")
	require.NotContains(t, css.Raw, "http", "nothing is loaded from elsewhere")
}

// TestControls_PublicURL is what the addresses for browsers begin with.
func TestControls_PublicURL(t *testing.T) {
	t.Parallel()
	for public, want := range map[string]string{"https://stripe.example/": "https://stripe.example/_sim/", "": ""} {
		s := start(t, stripesim.Config{PublicURL: public})
		if want == "" {
			want = s.URL + "/_sim/"
		}
		pi := s.needsBank("pm_card_threeDSecure2Required")
		require.True(t, strings.HasPrefix(pi.NextAction.RedirectToURL.URL, want+"3ds/shop/"), pi.NextAction.RedirectToURL.URL)
		require.True(t, strings.HasPrefix(s.get("/v1/charges/" + s.paid().LatestCharge.ID).Body["receipt_url"].(string), want+"receipts/"))
	}
}

// TestControls_CORS: a page of another origin may call the API and read its headers.
func TestControls_CORS(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	for _, path := range []string{"/v1/payment_methods", "/v1/payment_intents/pi_1/confirm", "/v1/none", "/_sim/3ds/shop/pi_1"} {
		r := s.do("OPTIONS", path, map[string]string{"Origin": "http://shop.example", "Access-Control-Request-Method": "POST"}, "")
		require.Equal(t, 200, r.Status, path)
		require.Equal(t, "*", r.Header.Get("Access-Control-Allow-Origin"))
		require.Equal(t, "GET, HEAD, PUT, PATCH, POST, DELETE", r.Header.Get("Access-Control-Allow-Methods"))
		require.Equal(t, "Authorization, Content-Type, Idempotency-Key, Stripe-Version", r.Header.Get("Access-Control-Allow-Headers"))
		require.Equal(t, "Request-Id, Idempotency-Key, Idempotent-Replayed, Original-Request, Stripe-Should-Retry, Stripe-Version", r.Header.Get("Access-Control-Expose-Headers"))
	}
}

// TestS13_BankPage: every way to come to it and to leave it.
func TestS13_BankPage(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	for _, c := range []struct{ card, decision, status, redirect string }{
		{"pm_card_threeDSecure2Required", "approve", "succeeded", "succeeded"},
		{"pm_card_threeDSecure2Required", "fail", "requires_payment_method", "failed"},
		{"pm_card_threeDSecure2Required", "nonsense", "requires_payment_method", "failed"},
		{"pm_card_threeDSecureRequiredChargeDeclined", "approve", "requires_payment_method", "failed"},
	} {
		pi := s.needsBank(c.card)
		page := pi.NextAction.RedirectToURL.URL
		to := s.decide(page, c.decision)
		require.Equal(t, url.Values{"order": {"ord_1"}, "payment_intent": {pi.ID}, "payment_intent_client_secret": {pi.ClientSecret}, "redirect_status": {c.redirect}}, to.Query(), c)
		require.Equal(t, "https://shop.example/return", to.Scheme+"://"+to.Host+to.Path)
		require.Equal(t, c.status, s.statusOf(pi.ID), c)
		late := s.get(strings.TrimPrefix(page, s.URL))
		require.Contains(t, late.Raw, c.status, "who comes again sees how it ended")
		require.NotContains(t, late.Raw, "Approve payment")
		s.decide(page, "approve")
		require.Equal(t, c.status, s.statusOf(pi.ID), "a decision is taken once")
	}
	hold := s.post("/v1/payment_intents", "", cardOnly+"&confirm=true&capture_method=manual&payment_method=pm_card_threeDSecure2Required&return_url="+back)
	to := s.decide(hold.Body["next_action"].(map[string]any)["redirect_to_url"].(map[string]any)["url"].(string), "approve")
	require.Equal(t, "succeeded", to.Query().Get("redirect_status"))
	require.Equal(t, "requires_capture", s.statusOf(hold.Body["id"].(string)))
	require.Zero(t, s.ledger().Totals["usd"].Captured-2500, "only the first payment was captured")

	stay := s.needsBank("pm_card_threeDSecure2Required")
	r := s.do("POST", strings.TrimPrefix(stay.NextAction.RedirectToURL.URL, s.URL), nil, "result=approve&stay=1")
	require.Equal(t, 200, r.Status, "Stripe.js stays on its page")
	canceledInBetween := s.needsBank("pm_card_threeDSecure2Required")
	s.post("/v1/payment_intents/"+canceledInBetween.ID+"/cancel", "", "")
	s.decide(canceledInBetween.NextAction.RedirectToURL.URL, "approve")
	require.Equal(t, "canceled", s.statusOf(canceledInBetween.ID), "approving a cancelled payment charges nothing")
}

// TestS21_ATokenCarriesWhatTheCustomerTyped: return address, shipping and the card; what
// the request says wins.
func TestS21_ATokenCarriesWhatTheCustomerTyped(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	token := func() string {
		return s.quick("POST", "/v1/test_helpers/confirmation_tokens", "payment_method=pm_card_threeDSecure2Required&return_url=https://token.example/r&shipping[name]=Token&shipping[address][line1]=1").Body["id"].(string)
	}
	r := s.post("/v1/payment_intents", "", "amount=2500&currency=usd&confirm=true&confirmation_token="+token())
	require.Equal(t, "https://token.example/r", r.Body["next_action"].(map[string]any)["redirect_to_url"].(map[string]any)["return_url"])
	require.Equal(t, "Token", r.Body["shipping"].(map[string]any)["name"])
	r = s.post("/v1/payment_intents", "", "amount=2500&currency=usd&confirm=true&return_url=https://request.example/r&shipping[name]=Request&shipping[address][line1]=2&confirmation_token="+token())
	require.Equal(t, "https://request.example/r", r.Body["next_action"].(map[string]any)["redirect_to_url"].(map[string]any)["return_url"])
	require.Equal(t, "Request", r.Body["shipping"].(map[string]any)["name"])
	used := token()
	s.post("/v1/payment_intents", "", cardOnly+"&confirm=true&confirmation_token="+used)
	require.NotNil(t, s.get("/v1/confirmation_tokens/" + used).Body["payment_intent"], "a spent token names its intent")
	again := s.post("/v1/payment_intents", "", cardOnly+"&confirm=true&confirmation_token="+used)
	require.Equal(t, "The ConfirmationToken "+used+" has already been used to confirm a PaymentIntent. Create a new ConfirmationToken.", again.Err["message"])
}

// TestS13_WhoMayUseAMethod: with and without customers, spent, detached.
func TestS13_WhoMayUseAMethod(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	w := s.populate()
	other := s.quick("POST", "/v1/customers", "").Body["id"].(string)
	const used = "The provided PaymentMethod was previously used with a PaymentIntent without Customer attachment, shared with a connected account without Customer attachment, or was detached from a Customer. It may not be used again. To use a PaymentMethod multiple times, you must attach it to a Customer first."
	pay := func(form string) reply { return s.post("/v1/payment_intents", "", cardOnly+"&confirm=true&"+form) }
	belongs := "The provided PaymentMethod belongs to a Customer; you must pass that Customer in the request: `" + w["customer"] + "`."
	require.Equal(t, belongs, pay("payment_method=" + w["method"]).Err["message"])
	require.Equal(t, belongs, pay("payment_method=" + w["method"] + "&customer=" + other).Err["message"])
	require.Equal(t, 200, pay("payment_method="+w["method"]+"&customer="+w["customer"]).Status)
	require.Equal(t, 200, pay("payment_method="+w["loose"]).Status)
	require.Equal(t, used, pay("payment_method=" + w["loose"]).Err["message"], "without a customer once")
	require.Equal(t, used, s.post("/v1/payment_methods/"+w["loose"]+"/attach", "", "customer="+other).Err["message"])
	require.Equal(t, "The payment method you provided has already been attached to a customer.", s.post("/v1/payment_methods/"+w["method"]+"/attach", "", "customer="+other).Err["message"])
	require.Equal(t, 200, s.post("/v1/payment_methods/"+w["method"]+"/detach", "", "").Status)
	require.Equal(t, used, pay("payment_method=" + w["method"] + "&customer=" + w["customer"]).Err["message"], "detached for good")
	require.Equal(t, "The payment method you provided is not attached to a customer so detachment is impossible.", s.post("/v1/payment_methods/"+w["method"]+"/detach", "", "").Err["message"])
	declinedFirst := s.quick("POST", "/v1/payment_methods", "type=card&card[token]=tok_visa_chargeDeclined").Body["id"].(string)
	for range 2 {
		require.Equal(t, 402, pay("payment_method="+declinedFirst).Status, "a decline does not spend it")
	}
	gone := s.quick("POST", "/v1/customers", "payment_method=pm_card_visa").Body["id"].(string)
	m := idsOf(s.get("/v1/customers/" + gone + "/payment_methods"))[0]
	s.do("DELETE", "/v1/customers/"+gone, nil, "")
	require.Nil(t, s.get("/v1/payment_methods/" + m).Body["customer"], "a deleted customer's methods are detached")
	require.Equal(t, used, pay("payment_method=" + m).Err["message"])
}

// TestS13_RefundsOfEverySort: the refusals in their words.
func TestS13_RefundsOfEverySort(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	w := s.populate()
	failed := s.post("/v1/payment_intents", "", cardOnly+"&confirm=true&payment_method=pm_card_visa_chargeDeclined").Err
	partly := inStatus["requires_capture"](s)
	s.post("/v1/payment_intents/"+partly+"/capture", "", "amount_to_capture=1000")
	for _, c := range []struct{ form, code, param, message string }{
		{"charge={charge}&amount=2401", "", "amount", "Refund amount ($24.01) is greater than unrefunded amount on charge ($24.00)"},
		{"payment_intent=" + partly + "&amount=1001", "", "amount", "Refund amount ($10.01) is greater than unrefunded amount on charge ($10.00)"},
		{"payment_intent={hold}", "", "", "This charge has not been captured, so it cannot be refunded. Cancel its PaymentIntent instead."},
		{"payment_intent={intent}", "", "", "This PaymentIntent ({intent}) does not have a successful charge to refund."},
		{"charge=" + failed["charge"].(string), "", "", "This charge has not been captured, so it cannot be refunded. Cancel its PaymentIntent instead."},
		{"charge={disputed}", "charge_disputed", "", "Charge {disputed} has been charged back; cannot issue a refund."},
	} {
		r := s.post("/v1/refunds", c.form, w.fill(c.form))
		require.Equal(t, 400, r.Status, "%s: %s", c.form, r.Raw)
		require.Equal(t, w.fill(c.message), r.Err["message"], c.form)
		for field, want := range map[string]string{"code": c.code, "param": c.param} {
			if want == "" {
				require.NotContains(t, r.Err, field, c.form)
			} else {
				require.Equal(t, want, r.Err[field], c.form)
			}
		}
		require.Equal(t, "true", s.post("/v1/refunds", c.form, w.fill(c.form)).Header.Get("Idempotent-Replayed"), "I5: %s is stored", c.form)
	}
	for _, c := range []struct {
		amount string
		given  float64
	}{{"&amount=400", 400}, {"", 600}} {
		r := s.post("/v1/refunds", "", "payment_intent="+partly+c.amount)
		require.Equal(t, c.given, r.Body["amount"], "without an amount all that is left: %s", r.Raw)
		require.Equal(t, "succeeded", r.Body["status"])
		require.NotContains(t, r.Body, "livemode")
	}
	require.Equal(t, "charge_already_refunded", s.post("/v1/refunds", "", "payment_intent="+partly).Err["code"])
	require.EqualValues(t, 1100, s.ledger().Totals["usd"].Refunded)
}
