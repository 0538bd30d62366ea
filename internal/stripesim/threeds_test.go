package stripesim_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v76"

	"shop/internal/stripesim"
)

const back = "https://shop.example/return?order=ord_1"

// needsBank confirms with a card that asks for 3-D Secure.
func (s *sim) needsBank(card string) *stripe.PaymentIntent {
	s.t.Helper()
	pi, err := s.api.PaymentIntents.Confirm(s.create().ID, &stripe.PaymentIntentConfirmParams{
		PaymentMethod: stripe.String(card), ReturnURL: stripe.String(back)})
	require.NoError(s.t, err, "requires_action is a 200")
	require.Equal(s.t, stripe.PaymentIntentStatusRequiresAction, pi.Status)
	return pi
}

// decide plays the person at the bank's page and returns where the browser goes.
func (s *sim) decide(page, result string) *url.URL {
	s.t.Helper()
	path := strings.TrimPrefix(page, s.URL)
	r := s.do("POST", path, nil, "result="+result)
	require.Equal(s.t, 303, r.Status, r.Raw)
	u, err := url.Parse(r.Header.Get("Location"))
	require.NoError(s.t, err)
	return u
}

func TestS13_ThreeDSecureApproved(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	pi := s.needsBank("pm_card_threeDSecure2Required")
	require.Equal(t, stripe.PaymentIntentNextActionTypeRedirectToURL, pi.NextAction.Type)
	require.Equal(t, back, pi.NextAction.RedirectToURL.ReturnURL)
	require.Zero(t, pi.AmountCapturable)
	require.Zero(t, ledgerOf(s), "nothing is charged before the customer approved")
	page := s.get(strings.TrimPrefix(pi.NextAction.RedirectToURL.URL, s.URL))
	require.Contains(t, page.Raw, "$25.00")
	require.Contains(t, page.Raw, "Approve payment")

	to := s.decide(pi.NextAction.RedirectToURL.URL, "approve")
	require.Equal(t, "shop.example", to.Host)
	require.Equal(t, url.Values{"order": {"ord_1"}, "payment_intent": {pi.ID}, "payment_intent_client_secret": {pi.ClientSecret}, "redirect_status": {"succeeded"}}, to.Query())
	require.Equal(t, "succeeded", s.get("/v1/payment_intents/" + pi.ID).Body["status"])
	s.decide(pi.NextAction.RedirectToURL.URL, "approve")
	require.EqualValues(t, 2500, ledgerOf(s), "deciding twice charges once")
}

func TestS13_ThreeDSecureFailedThenAnotherCard(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	pi := s.needsBank("pm_card_threeDSecure2Required")
	require.Equal(t, "failed", s.decide(pi.NextAction.RedirectToURL.URL, "fail").Query().Get("redirect_status"))
	got, err := s.api.PaymentIntents.Get(pi.ID, nil)
	require.NoError(t, err)
	require.Equal(t, stripe.PaymentIntentStatusRequiresPaymentMethod, got.Status)
	require.Equal(t, stripe.ErrorCodePaymentIntentAuthenticationFailure, got.LastPaymentError.Code)
	_, err = s.confirm(pi.ID, "pm_card_visa")
	require.NoError(t, err)
	require.EqualValues(t, 2500, ledgerOf(s))
}

func TestS14_ThreeDSecureThenDeclined(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	pi := s.needsBank("pm_card_threeDSecureRequiredChargeDeclined")
	s.decide(pi.NextAction.RedirectToURL.URL, "approve")
	got, err := s.api.PaymentIntents.Get(pi.ID, nil)
	require.NoError(t, err)
	require.Equal(t, stripe.PaymentIntentStatusRequiresPaymentMethod, got.Status)
	require.Equal(t, stripe.ErrorCodeCardDeclined, got.LastPaymentError.Code)
}

func TestS13_ManualConfirmationNeedsTheServerAgain(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	pi := s.create(func(p *stripe.PaymentIntentParams) {
		p.ConfirmationMethod, p.Confirm = stripe.String("manual"), stripe.Bool(true)
		p.PaymentMethod, p.ReturnURL = stripe.String("pm_card_threeDSecure2Required"), stripe.String(back)
	})
	s.decide(pi.NextAction.RedirectToURL.URL, "approve")
	require.Equal(t, "requires_confirmation", s.get("/v1/payment_intents/" + pi.ID).Body["status"])
	require.Zero(t, ledgerOf(s))
	done, err := s.api.PaymentIntents.Confirm(pi.ID, &stripe.PaymentIntentConfirmParams{ReturnURL: stripe.String(back)})
	require.NoError(t, err)
	require.Equal(t, stripe.PaymentIntentStatusSucceeded, done.Status)
}

func TestS13_ErrorOnRequiresAction(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	_, err := s.api.PaymentIntents.New(&stripe.PaymentIntentParams{Amount: stripe.Int64(2500), Currency: stripe.String("usd"),
		PaymentMethodTypes: stripe.StringSlice([]string{"card"}), Confirm: stripe.Bool(true), ErrorOnRequiresAction: stripe.Bool(true),
		PaymentMethod: stripe.String("pm_card_threeDSecure2Required")})
	se := stripeError(t, err)
	require.Equal(t, 402, se.HTTPStatusCode)
	require.Equal(t, stripe.ErrorCodeAuthenticationRequired, se.Code)
	require.Equal(t, stripe.DeclineCode("authentication_not_handled"), se.DeclineCode)
	require.Empty(t, se.Param)
	require.Equal(t, "requires_payment_method", s.get("/v1/payment_intents/" + se.PaymentIntent.ID).Body["status"])
}

func TestS13_OffSessionNeedsAuthentication(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	_, err := s.api.PaymentIntents.New(&stripe.PaymentIntentParams{Amount: stripe.Int64(2500), Currency: stripe.String("usd"),
		PaymentMethodTypes: stripe.StringSlice([]string{"card"}), Confirm: stripe.Bool(true), OffSession: stripe.Bool(true),
		PaymentMethod: stripe.String("pm_card_threeDSecure2Required")})
	se := stripeError(t, err)
	require.Equal(t, 402, se.HTTPStatusCode)
	require.Equal(t, stripe.ErrorCodeAuthenticationRequired, se.Code)
	require.Equal(t, stripe.DeclineCodeAuthenticationRequired, se.DeclineCode)
	require.Zero(t, ledgerOf(s))
}

func TestS13_WithoutReturnURLTheActionIsForStripeJS(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	pi, err := s.confirm(s.create().ID, "pm_card_threeDSecure2Required")
	require.NoError(t, err)
	require.Equal(t, stripe.PaymentIntentNextActionTypeUseStripeSDK, pi.NextAction.Type)
}

func TestThreeDSecurePageNeedsTheSecret(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	pi := s.needsBank("pm_card_threeDSecure2Required")
	require.Equal(t, 404, s.get("/_sim/3ds/shop/"+pi.ID+"?s=wrong").Status)
	require.Equal(t, 404, s.do("POST", "/_sim/3ds/shop/"+pi.ID, nil, "result=approve").Status)
	require.Equal(t, 404, s.get("/_sim/3ds/nobody/"+pi.ID).Status)
	require.Zero(t, ledgerOf(s))
}

func TestSetupIntentSavesACardForOffSessionUse(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	cus, err := s.api.Customers.New(&stripe.CustomerParams{})
	require.NoError(t, err)
	si, err := s.api.SetupIntents.New(&stripe.SetupIntentParams{Customer: &cus.ID, Confirm: stripe.Bool(true),
		PaymentMethod: stripe.String("pm_card_authenticationRequiredOnSetup"), ReturnURL: stripe.String(back)})
	require.NoError(t, err)
	require.Equal(t, stripe.SetupIntentStatusRequiresAction, si.Status)
	to := s.decide(si.NextAction.RedirectToURL.URL, "approve")
	require.Equal(t, si.ID, to.Query().Get("setup_intent"))
	si, err = s.api.SetupIntents.Get(si.ID, nil)
	require.NoError(t, err)
	require.Equal(t, stripe.SetupIntentStatusSucceeded, si.Status)
	pi := s.create(func(p *stripe.PaymentIntentParams) {
		p.Customer, p.PaymentMethod, p.Confirm, p.OffSession = &cus.ID, &si.PaymentMethod.ID, stripe.Bool(true), stripe.Bool(true)
	})
	require.Equal(t, stripe.PaymentIntentStatusSucceeded, pi.Status)
	_, err = s.api.SetupIntents.Confirm(si.ID, nil)
	require.Equal(t, stripe.ErrorCodeSetupIntentUnexpectedState, stripeError(t, err).Code)
}
