package stripesim_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v76"

	"shop/internal/stripesim"
)

func TestS13_CreateConfirmRetrieve(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	pi := s.create(func(p *stripe.PaymentIntentParams) {
		p.Currency = stripe.String("USD")
		p.AddMetadata("order_id", "ord_1")
		p.Description = stripe.String("Order 1")
	})
	require.Equal(t, stripe.PaymentIntentStatusRequiresPaymentMethod, pi.Status)
	require.Equal(t, stripe.CurrencyUSD, pi.Currency, "answered in lower case")
	require.Regexp(t, `^pi_[0-9A-Za-z]{24}$`, pi.ID)
	paid, err := s.confirm(pi.ID, "pm_card_visa")
	require.NoError(t, err)
	require.Equal(t, stripe.PaymentIntentStatusSucceeded, paid.Status)
	require.EqualValues(t, 2500, paid.AmountReceived)

	p := &stripe.PaymentIntentParams{}
	p.AddExpand("latest_charge.balance_transaction")
	got, err := s.api.PaymentIntents.Get(pi.ID, p)
	require.NoError(t, err)
	require.True(t, got.LatestCharge.Paid && got.LatestCharge.Captured)
	require.Equal(t, map[string]string{"order_id": "ord_1"}, got.LatestCharge.Metadata, "a successful charge copies the metadata")
	require.EqualValues(t, 2500, got.LatestCharge.BalanceTransaction.Net)
	require.Equal(t, "visa", string(got.LatestCharge.PaymentMethodDetails.Card.Brand))
	require.NotEqual(t, "pm_card_visa", got.PaymentMethod.ID, "the token becomes a new payment method")
	require.Equal(t, ledgerOf(s), int64(2500))
}

func ledgerOf(s *sim) int64 { return s.ledger().Totals["usd"].Net }

func TestS13_CreateAndConfirmInOneCall(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	pi := s.create(func(p *stripe.PaymentIntentParams) {
		p.Confirm, p.PaymentMethod = stripe.Bool(true), stripe.String("pm_card_mastercard")
	})
	require.Equal(t, stripe.PaymentIntentStatusSucceeded, pi.Status)
	created := s.get("/v1/events?type=payment_intent.created").Body["data"].([]any)[0].(map[string]any)
	object := created["data"].(map[string]any)["object"].(map[string]any)
	require.Equal(t, "requires_confirmation", object["status"], "an event shows the object as it was")
}

func TestS13_ConfirmWithoutReturnURLLeavesAnOrphan(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	_, err := s.api.PaymentIntents.New(&stripe.PaymentIntentParams{Amount: stripe.Int64(2500), Currency: stripe.String("usd"),
		Confirm: stripe.Bool(true), PaymentMethod: stripe.String("pm_card_visa")})
	se := stripeError(t, err)
	require.Equal(t, 400, se.HTTPStatusCode)
	require.Empty(t, se.Code)
	require.Empty(t, se.Param)
	require.Contains(t, se.Msg, "you must provide a `return_url`")
	require.NotNil(t, se.PaymentIntent)
	require.Equal(t, se.PaymentIntent.ID, s.get("/v1/payment_intents").Body["data"].([]any)[0].(map[string]any)["id"], "the refusal leaves an object")
	require.Zero(t, ledgerOf(s))
	for _, form := range []string{"&return_url=https://shop.example/back", "&automatic_payment_methods[enabled]=true&automatic_payment_methods[allow_redirects]=never"} {
		r := s.post("/v1/payment_intents", "", "amount=2500&currency=usd&confirm=true&payment_method=pm_card_visa"+form)
		require.Equal(t, 200, r.Status, r.Raw)
	}
	r := s.post("/v1/payment_intents", "", cardOnly+"&automatic_payment_methods[enabled]=true")
	require.Equal(t, 400, r.Status, "types and automatic exclude each other")
}

func TestS13_ConfirmOfAPaidIntentIsRefusedForEver(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	pi := s.paid()
	s.now.add(72 * time.Hour)
	_, err := s.confirm(pi.ID, "pm_card_visa")
	se := stripeError(t, err)
	require.Equal(t, stripe.ErrorCodePaymentIntentUnexpectedState, se.Code)
	require.Equal(t, "You cannot confirm this PaymentIntent because it has already succeeded after being previously confirmed.", se.Msg)
	require.Equal(t, stripe.PaymentIntentStatusSucceeded, se.PaymentIntent.Status)
	require.EqualValues(t, 2500, ledgerOf(s))
}

func TestS13_ConfirmWithoutMethod(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	_, err := s.api.PaymentIntents.Confirm(s.create().ID, &stripe.PaymentIntentConfirmParams{})
	require.Contains(t, stripeError(t, err).Msg, "You cannot confirm this PaymentIntent because it's missing a payment method")
}

func TestS13_DeclineThenSuccess(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	pi := s.create()
	_, err := s.confirm(pi.ID, "pm_card_visa_chargeDeclinedInsufficientFunds")
	se := stripeError(t, err)
	require.Equal(t, 402, se.HTTPStatusCode)
	require.Equal(t, stripe.ErrorTypeCard, se.Type)
	require.Equal(t, stripe.PaymentIntentStatusRequiresPaymentMethod, se.PaymentIntent.Status)
	require.Equal(t, stripe.DeclineCodeInsufficientFunds, se.PaymentIntent.LastPaymentError.DeclineCode)
	require.Regexp(t, "^ch_", se.ChargeID)
	paid, err := s.confirm(pi.ID, "pm_card_visa")
	require.NoError(t, err)
	require.Equal(t, stripe.PaymentIntentStatusSucceeded, paid.Status)
	require.Nil(t, paid.LastPaymentError)
	require.Len(t, s.get("/v1/charges?payment_intent=" + pi.ID).Body["data"], 2)
	require.EqualValues(t, 2500, ledgerOf(s))
}

func TestS13_TooManyConfirmationsCancel(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{MaxConfirmations: 2})
	pi := s.create()
	for range 2 {
		_, err := s.confirm(pi.ID, "pm_card_visa_chargeDeclined")
		require.Error(t, err)
	}
	dead, err := s.confirm(pi.ID, "pm_card_visa")
	require.NoError(t, err)
	require.Equal(t, stripe.PaymentIntentStatusCanceled, dead.Status)
	require.Zero(t, ledgerOf(s))
}

func TestS13_CancelAndItsRefusal(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	pi, err := s.api.PaymentIntents.Cancel(s.create().ID, &stripe.PaymentIntentCancelParams{CancellationReason: stripe.String("abandoned")})
	require.NoError(t, err)
	require.Equal(t, stripe.PaymentIntentStatusCanceled, pi.Status)
	require.Equal(t, stripe.PaymentIntentCancellationReasonAbandoned, pi.CancellationReason)
	_, err = s.confirm(pi.ID, "pm_card_visa")
	require.Equal(t, stripe.ErrorCodePaymentIntentUnexpectedState, stripeError(t, err).Code)
	_, err = s.api.PaymentIntents.Cancel(s.paid().ID, nil)
	se := stripeError(t, err)
	require.Equal(t, "You cannot cancel this PaymentIntent because it has a status of succeeded. Only a PaymentIntent with one of the following statuses may be canceled: requires_payment_method, requires_capture, requires_confirmation, requires_action, processing.", se.Msg)
}

func TestS13_CancelAndConfirmRaceHasOneWinner(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	for range 20 {
		pi := s.create()
		won := make(chan bool, 2)
		go func() { _, err := s.confirm(pi.ID, "pm_card_visa"); won <- err == nil }()
		go func() {
			_, err := s.api.PaymentIntents.Cancel(pi.ID, &stripe.PaymentIntentCancelParams{})
			won <- err == nil
		}()
		one, other := <-won, <-won
		require.NotEqual(t, one, other, "exactly one of confirm and cancel wins")
	}
}

func TestS13_Capture(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	hold := func() *stripe.PaymentIntent {
		pi := s.create(func(p *stripe.PaymentIntentParams) {
			p.CaptureMethod, p.Confirm, p.PaymentMethod = stripe.String("manual"), stripe.Bool(true), stripe.String("pm_card_visa")
		})
		require.Equal(t, stripe.PaymentIntentStatusRequiresCapture, pi.Status)
		require.EqualValues(t, 2500, pi.AmountCapturable)
		return pi
	}
	pi, err := s.api.PaymentIntents.Capture(hold().ID, &stripe.PaymentIntentCaptureParams{AmountToCapture: stripe.Int64(1000)})
	require.NoError(t, err)
	require.Equal(t, stripe.PaymentIntentStatusSucceeded, pi.Status)
	require.EqualValues(t, 1000, pi.AmountReceived)
	require.Zero(t, pi.AmountCapturable)
	require.EqualValues(t, 1000, ledgerOf(s))
	_, err = s.api.PaymentIntents.Capture(pi.ID, nil)
	require.Equal(t, "This PaymentIntent could not be captured because it has a status of succeeded. Only a PaymentIntent with one of the following statuses may be captured: requires_capture.", stripeError(t, err).Msg)

	released, err := s.api.PaymentIntents.Cancel(hold().ID, nil)
	require.NoError(t, err)
	require.Zero(t, released.AmountCapturable)
	_, err = s.api.Refunds.New(&stripe.RefundParams{PaymentIntent: stripe.String(hold().ID)})
	require.Empty(t, stripeError(t, err).Code, "an uncaptured payment is cancelled, not refunded")

	expiring := hold()
	s.control("/_sim/clock", map[string]string{"advance": "168h"})
	require.Equal(t, "canceled", s.get("/v1/payment_intents/" + expiring.ID).Body["status"], "holds expire after seven days")
	require.EqualValues(t, 1000, ledgerOf(s))
}

func TestS13_Lists(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	var ids []string
	for range 7 {
		ids = append(ids, s.create().ID)
		s.now.add(time.Second)
	}
	p := &stripe.PaymentIntentListParams{}
	p.Limit = stripe.Int64(3)
	var got []string
	for it := s.api.PaymentIntents.List(p); it.Next(); {
		got = append(got, it.PaymentIntent().ID)
	}
	require.Len(t, got, 7)
	require.Equal(t, ids[6], got[0], "newest first")
	page := s.get("/v1/payment_intents?limit=3&starting_after=" + ids[3])
	require.Equal(t, false, page.Body["has_more"], "false on a last page that still holds items")
	require.Len(t, page.Body["data"], 3)
	require.Len(t, s.get("/v1/payment_intents?ending_before=" + ids[3]).Body["data"], 3)
	third := s.get("/v1/payment_intents/" + ids[2]).Body["created"].(float64)
	since := &stripe.PaymentIntentListParams{CreatedRange: &stripe.RangeQueryParams{GreaterThanOrEqual: int64(third)}}
	n := 0
	for it := s.api.PaymentIntents.List(since); it.Next(); {
		n++
	}
	require.Equal(t, 5, n)
	require.Equal(t, 400, s.get("/v1/payment_intents?limit=101").Status)
	require.Equal(t, "starting_after", s.get("/v1/payment_intents?starting_after=pi_none").Err["param"])
}

func TestS13_UpdateAndMetadata(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	pi := s.create(func(p *stripe.PaymentIntentParams) { p.AddMetadata("a", "1"); p.AddMetadata("b", "2") })
	r := s.post("/v1/payment_intents/"+pi.ID, "", "amount=3000&metadata[a]=&metadata[c]=3")
	require.EqualValues(t, 3000, r.Body["amount"])
	require.Equal(t, map[string]any{"b": "2", "c": "3"}, r.Body["metadata"], "an empty value unsets a key")
	require.Equal(t, map[string]any{}, s.post("/v1/payment_intents/"+pi.ID, "", "metadata=").Body["metadata"])
	paid := s.paid()
	require.Equal(t, "payment_intent_unexpected_state", s.post("/v1/payment_intents/"+paid.ID, "", "amount=9900").Err["code"])
	require.Equal(t, 200, s.post("/v1/payment_intents/"+paid.ID, "", "metadata[x]=y").Status)
}
