package stripesim_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"shop/internal/stripesim"
)

// inStatus makes a PaymentIntent in each status a card can bring it to.
var inStatus = map[string]func(s *sim) string{
	"requires_payment_method": func(s *sim) string { return s.made(cardOnly) },
	"requires_confirmation":   func(s *sim) string { return s.made(cardOnly + "&payment_method=pm_card_visa") },
	"requires_action": func(s *sim) string {
		return s.made(cardOnly + "&confirm=true&payment_method=pm_card_threeDSecure2Required&return_url=" + back)
	},
	"requires_capture": func(s *sim) string {
		return s.made(cardOnly + "&confirm=true&capture_method=manual&payment_method=pm_card_visa")
	},
	"succeeded": func(s *sim) string { return s.made(cardOnly + "&confirm=true&payment_method=pm_card_visa") },
	"canceled": func(s *sim) string {
		id := s.made(cardOnly)
		s.quick("POST", "/v1/payment_intents/"+id+"/cancel", "")
		return id
	},
}

// made creates a PaymentIntent and returns its id.
func (s *sim) made(form string) string {
	s.t.Helper()
	r := s.quick("POST", "/v1/payment_intents", form)
	require.Equal(s.t, 200, r.Status, r.Raw)
	return r.Body["id"].(string)
}

func (s *sim) statusOf(id string) any {
	return s.quick("GET", "/v1/payment_intents/"+id, "").Body["status"]
}

// step is an action on a PaymentIntent in a status: where it leads, or how it is
// refused.
type step struct {
	action, form string
	from         string
	to           string // status afterwards
	refusal      string // whole message; empty when the action is legal
}

const (
	mayConfirm = " Only a PaymentIntent with one of the following statuses may be confirmed: requires_confirmation, requires_action."
	mayCapture = " Only a PaymentIntent with one of the following statuses may be captured: requires_capture."
	mayCancel  = " Only a PaymentIntent with one of the following statuses may be canceled: requires_payment_method, requires_capture, requires_confirmation, requires_action, processing."
	mayUpdate  = " You may only update them on a PaymentIntent with one of the following statuses: requires_payment_method, requires_confirmation, requires_action."
	noMethod   = "You cannot confirm this PaymentIntent because it's missing a payment method. You can either update the PaymentIntent with a payment method and then confirm it again, or confirm it again directly with a payment method or ConfirmationToken."
)

var steps = []step{
	{"confirm", "", "requires_payment_method", "requires_payment_method", noMethod},
	{"confirm", "payment_method=pm_card_visa", "requires_payment_method", "succeeded", ""},
	{"confirm", "payment_method=pm_card_threeDSecure2Required", "requires_payment_method", "requires_action", ""},
	{"confirm", "payment_method=pm_card_visa&capture_method=manual", "requires_payment_method", "requires_capture", ""},
	{"confirm", "", "requires_confirmation", "succeeded", ""},
	{"confirm", "payment_method=pm_card_mastercard", "requires_confirmation", "succeeded", ""},
	{"confirm", "", "requires_action", "requires_action", ""},
	{"confirm", "payment_method=pm_card_visa", "requires_action", "succeeded", ""},
	{"confirm", "payment_method=pm_card_visa", "requires_capture", "requires_capture", "You cannot confirm this PaymentIntent because it has a status of requires_capture." + mayConfirm},
	{"confirm", "payment_method=pm_card_visa", "succeeded", "succeeded", "You cannot confirm this PaymentIntent because it has already succeeded after being previously confirmed."},
	{"confirm", "payment_method=pm_card_visa", "canceled", "canceled", "You cannot confirm this PaymentIntent because it has a status of canceled." + mayConfirm},

	{"capture", "", "requires_payment_method", "requires_payment_method", "This PaymentIntent could not be captured because it has a status of requires_payment_method." + mayCapture},
	{"capture", "", "requires_confirmation", "requires_confirmation", "This PaymentIntent could not be captured because it has a status of requires_confirmation." + mayCapture},
	{"capture", "", "requires_action", "requires_action", "This PaymentIntent could not be captured because it has a status of requires_action." + mayCapture},
	{"capture", "", "requires_capture", "succeeded", ""},
	{"capture", "amount_to_capture=1", "requires_capture", "succeeded", ""},
	{"capture", "amount_to_capture=2500", "requires_capture", "succeeded", ""},
	{"capture", "", "succeeded", "succeeded", "This PaymentIntent could not be captured because it has a status of succeeded." + mayCapture},
	{"capture", "", "canceled", "canceled", "This PaymentIntent could not be captured because it has a status of canceled." + mayCapture},

	{"cancel", "", "requires_payment_method", "canceled", ""},
	{"cancel", "cancellation_reason=duplicate", "requires_confirmation", "canceled", ""},
	{"cancel", "cancellation_reason=fraudulent", "requires_action", "canceled", ""},
	{"cancel", "cancellation_reason=requested_by_customer", "requires_capture", "canceled", ""},
	{"cancel", "", "succeeded", "succeeded", "You cannot cancel this PaymentIntent because it has a status of succeeded." + mayCancel},
	{"cancel", "", "canceled", "canceled", "You cannot cancel this PaymentIntent because it has a status of canceled." + mayCancel},

	{"", "amount=3000", "requires_payment_method", "requires_payment_method", ""},
	{"", "payment_method=pm_card_visa", "requires_payment_method", "requires_confirmation", ""},
	{"", "amount=3000", "requires_confirmation", "requires_confirmation", ""},
	{"", "amount=3000", "requires_action", "requires_action", ""},
	{"", "payment_method=pm_card_visa", "requires_action", "requires_confirmation", ""},
	{"", "amount=3000", "requires_capture", "requires_capture", "This PaymentIntent's payment details could not be updated because it has a status of requires_capture." + mayUpdate},
	{"", "amount=3000", "succeeded", "succeeded", "This PaymentIntent's payment details could not be updated because it has a status of succeeded." + mayUpdate},
	{"", "currency=eur", "succeeded", "succeeded", "This PaymentIntent's payment details could not be updated because it has a status of succeeded." + mayUpdate},
	{"", "payment_method=pm_card_visa", "succeeded", "succeeded", "This PaymentIntent's payment details could not be updated because it has a status of succeeded." + mayUpdate},
	{"", "setup_future_usage=off_session", "succeeded", "succeeded", "This PaymentIntent's payment details could not be updated because it has a status of succeeded." + mayUpdate},
	{"", "shipping[name]=Ada", "canceled", "canceled", "This PaymentIntent's payment details could not be updated because it has a status of canceled." + mayUpdate},
	{"", "capture_method=manual", "canceled", "canceled", "This PaymentIntent's payment details could not be updated because it has a status of canceled." + mayUpdate},
	{"", "metadata[a]=b", "requires_capture", "requires_capture", ""},
	{"", "metadata[a]=b", "succeeded", "succeeded", ""},
	{"", "metadata[a]=b&description=late", "canceled", "canceled", ""},
	{"", "receipt_email=a@example.com", "succeeded", "succeeded", ""},
}

// TestS13_EveryTransition takes every action in every status through a socket: legal
// ones lead where the table says, illegal ones are refused in its words, stored under
// the key, carry the intent and change nothing.
func TestS13_EveryTransition(t *testing.T) {
	t.Parallel()
	covered := map[string]bool{}
	s := start(t, stripesim.Config{})
	for _, c := range steps {
		covered[c.action+" "+c.from] = true
		id := inStatus[c.from](s)
		require.Equal(t, c.from, s.statusOf(id))
		before := s.quick("GET", "/v1/payment_intents/"+id, "")
		path := strings.TrimSuffix("/v1/payment_intents/"+id+"/"+c.action, "/")
		at := c.action + " " + c.form + " from " + c.from
		r := s.post(path, at, c.form)
		require.Equal(t, c.to, s.statusOf(id), "%s: %s", at, r.Raw)
		if c.refusal == "" {
			require.Equal(t, 200, r.Status, "%s: %s", at, r.Raw)
			require.Equal(t, c.to, r.Body["status"], at)
			continue
		}
		require.Equal(t, 400, r.Status, at)
		require.Equal(t, "invalid_request_error", r.Err["type"], at)
		require.Equal(t, "payment_intent_unexpected_state", r.Err["code"], at)
		require.Equal(t, c.refusal, r.Err["message"], at)
		require.NotContains(t, r.Err, "param", at)
		require.NotContains(t, r.Err, "decline_code", at)
		require.Equal(t, before.Body, r.Err["payment_intent"], "%s: the error carries the intent as it is", at)
		require.Equal(t, before.Raw, s.quick("GET", "/v1/payment_intents/"+id, "").Raw, "%s: nothing changed", at)
		again := s.post(path, at, c.form)
		require.Equal(t, r.Raw, again.Raw, at)
		require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"), "I5: %s is stored", at)
	}
	for status := range inStatus {
		for _, action := range []string{"confirm", "capture", "cancel", ""} {
			require.True(t, covered[action+" "+status], "%q from %s is not in the table", action, status)
		}
	}
}

// TestS13_WhatEachTransitionChanges: the fields besides the status.
func TestS13_WhatEachTransitionChanges(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	changes := func(id, action, form string) map[string]any {
		before := s.quick("GET", "/v1/payment_intents/"+id, "").Body
		s.quick("POST", "/v1/payment_intents/"+id+"/"+action, form)
		out := map[string]any{}
		for name, v := range s.quick("GET", "/v1/payment_intents/"+id, "").Body {
			if mustJSON(t, v) != mustJSON(t, before[name]) {
				out[name] = v
			}
		}
		for _, id := range []string{"latest_charge", "payment_method", "canceled_at", "last_payment_error", "next_action"} {
			if out[id] != nil {
				out[id] = "set"
			}
		}
		return out
	}
	require.Equal(t, map[string]any{"status": "succeeded", "amount_received": 2500., "latest_charge": "set", "payment_method": "set"},
		changes(s.made(cardOnly), "confirm", "payment_method=pm_card_visa"))
	require.Equal(t, map[string]any{"status": "succeeded", "amount_received": 2500., "latest_charge": "set"},
		changes(inStatus["requires_confirmation"](s), "confirm", ""))
	require.Equal(t, map[string]any{"last_payment_error": "set", "latest_charge": "set"},
		changes(s.made(cardOnly), "confirm", "payment_method=pm_card_visa_chargeDeclined"), "a decline leaves no method behind")
	require.Equal(t, map[string]any{"status": "requires_payment_method", "last_payment_error": "set", "latest_charge": "set", "payment_method": nil},
		changes(s.made(cardOnly+"&payment_method=pm_card_visa_chargeDeclined"), "confirm", ""))
	require.Equal(t, map[string]any{"status": "requires_action", "next_action": "set", "payment_method": "set"},
		changes(s.made(cardOnly), "confirm", "payment_method=pm_card_threeDSecure2Required&return_url="+back), "nothing was charged")
	require.Equal(t, map[string]any{"status": "requires_capture", "amount_capturable": 2500., "latest_charge": "set", "payment_method": "set"},
		changes(s.made(cardOnly+"&capture_method=manual"), "confirm", "payment_method=pm_card_visa"))
	require.Equal(t, map[string]any{"status": "succeeded", "amount_capturable": 0., "amount_received": 2500.},
		changes(inStatus["requires_capture"](s), "capture", ""))
	require.Equal(t, map[string]any{"status": "succeeded", "amount_capturable": 0., "amount_received": 700.},
		changes(inStatus["requires_capture"](s), "capture", "amount_to_capture=700"))
	require.Equal(t, map[string]any{"status": "canceled", "amount_capturable": 0., "canceled_at": "set", "cancellation_reason": "abandoned"},
		changes(inStatus["requires_capture"](s), "cancel", "cancellation_reason=abandoned"), "cancelling releases the hold")
	require.Equal(t, map[string]any{"status": "canceled", "canceled_at": "set", "next_action": nil},
		changes(inStatus["requires_action"](s), "cancel", ""))
	require.Equal(t, map[string]any{"status": "canceled", "canceled_at": "set", "cancellation_reason": "duplicate"},
		changes(s.made(cardOnly), "cancel", "cancellation_reason=duplicate"))
}

// TestS13_EveryCancellationReason: the four that a client may give.
func TestS13_EveryCancellationReason(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	for _, reason := range []string{"duplicate", "fraudulent", "requested_by_customer", "abandoned"} {
		r := s.post("/v1/payment_intents/"+s.made(cardOnly)+"/cancel", "", "cancellation_reason="+reason)
		require.Equal(t, reason, r.Body["cancellation_reason"])
	}
	require.Nil(t, s.post("/v1/payment_intents/"+s.made(cardOnly)+"/cancel", "", "").Body["cancellation_reason"])
	hold := inStatus["requires_capture"](s)
	s.control("/_sim/clock", map[string]string{"advance": (7 * 24 * time.Hour).String()})
	require.Equal(t, "automatic", s.get("/v1/payment_intents/" + hold).Body["cancellation_reason"], "Stripe's own reason")
}

// TestS13_CancellingAHoldMovesNoMoney: the charge shows the release as a refund, the
// ledger and the balance nothing.
func TestS13_CancellingAHoldMovesNoMoney(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	hold := inStatus["requires_capture"](s)
	charge := s.first("/v1/charges?payment_intent=" + hold)
	require.Equal(t, []any{true, false, 0., 0.}, []any{charge["paid"], charge["captured"], charge["amount_captured"], charge["amount_refunded"]})
	require.NotNil(t, charge["payment_method_details"].(map[string]any)["card"].(map[string]any)["capture_before"])
	require.Nil(t, charge["balance_transaction"])
	s.post("/v1/payment_intents/"+hold+"/cancel", "", "")
	charge = s.first("/v1/charges?payment_intent=" + hold)
	require.Equal(t, []any{true, 2500.}, []any{charge["refunded"], charge["amount_refunded"]})
	require.Zero(t, ledgerOf(s))
	require.Empty(t, s.get("/v1/refunds").Body["data"], "there is no refund object")
	require.Equal(t, []any{map[string]any{"amount": 0., "currency": "usd", "source_types": map[string]any{"card": 0.}}}, s.get("/v1/balance").Body["pending"])
}

// TestS13_TheMachineHasTheDocumentedStatuses: "failed" is none of them.
func TestS13_TheMachineHasTheDocumentedStatuses(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	seen := map[any]bool{}
	for _, makeOne := range inStatus {
		seen[s.statusOf(makeOne(s))] = true
	}
	_, err := s.confirm(s.create().ID, "pm_card_visa_chargeDeclined")
	require.Error(t, err)
	for _, pi := range s.get("/v1/payment_intents?limit=100").Body["data"].([]any) {
		seen[pi.(map[string]any)["status"]] = true
	}
	require.Equal(t, map[any]bool{"requires_payment_method": true, "requires_confirmation": true, "requires_action": true,
		"requires_capture": true, "succeeded": true, "canceled": true}, seen)
}

// TestS13_SetupIntentTransitions does for SetupIntents what the table above does.
func TestS13_SetupIntentTransitions(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	made := func(form string) map[string]any {
		r := s.quick("POST", "/v1/setup_intents", form)
		require.Equal(t, 200, r.Status, r.Raw)
		return r.Body
	}
	for _, c := range []struct{ create, confirm, to, code, message string }{
		{"", "", "requires_payment_method", "setup_intent_unexpected_state", "You cannot confirm this SetupIntent because it's missing a payment method. Update the SetupIntent with a payment method and then confirm it again."},
		{"", "payment_method=pm_card_visa", "succeeded", "", ""},
		{"payment_method=pm_card_visa", "", "succeeded", "", ""},
		{"", "payment_method=pm_card_authenticationRequiredOnSetup&return_url=" + back, "requires_action", "", ""},
		{"", "payment_method=pm_card_threeDSecure2Required", "requires_action", "", ""},
		{"", "payment_method=pm_card_chargeCustomerFail", "succeeded", "", ""}, // attaches, and is declined when charged
		{"", "payment_method=pm_card_visa_chargeDeclined", "requires_payment_method", "card_declined", "Your card was declined."},
		{"", "payment_method=pm_card_chargeDeclinedExpiredCard", "requires_payment_method", "expired_card", "Your card has expired."},
		{"confirm=true&payment_method=pm_card_visa", "", "succeeded", "setup_intent_unexpected_state", "You cannot confirm this SetupIntent because it has a status of succeeded."},
	} {
		si := made(c.create)
		r := s.post("/v1/setup_intents/"+si["id"].(string)+"/confirm", "", c.confirm)
		require.Equal(t, c.to, s.get("/v1/setup_intents/" + si["id"].(string)).Body["status"], c)
		if c.code == "" {
			require.Equal(t, 200, r.Status, r.Raw)
			continue
		}
		require.Equal(t, c.code, r.Err["code"], c)
		require.Equal(t, c.message, r.Err["message"])
		require.Equal(t, si["id"], r.Err["setup_intent"].(map[string]any)["id"], "the error carries the intent")
	}
	for result, to := range map[string]string{"approve": "succeeded", "fail": "requires_payment_method"} {
		si := made("confirm=true&payment_method=pm_card_threeDSecure2Required&return_url=" + back)
		s.decide(si["next_action"].(map[string]any)["redirect_to_url"].(map[string]any)["url"].(string), result)
		after := s.get("/v1/setup_intents/" + si["id"].(string)).Body
		require.Equal(t, to, after["status"])
		if result == "fail" {
			require.Equal(t, "setup_intent_authentication_failure", after["last_setup_error"].(map[string]any)["code"])
		}
	}
}
