package stripesim_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v76"

	"shop/internal/stripesim"
)

func TestS13_RefundArithmetic(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	pi := s.create(func(p *stripe.PaymentIntentParams) {
		p.Amount, p.Confirm, p.PaymentMethod = stripe.Int64(5000), stripe.Bool(true), stripe.String("pm_card_visa")
	})
	refund := func(amount int64) (*stripe.Refund, error) {
		p := &stripe.RefundParams{PaymentIntent: &pi.ID}
		if amount > 0 {
			p.Amount = &amount
		}
		p.AddMetadata("refund_id", "rf_1")
		return s.api.Refunds.New(p)
	}
	first, err := refund(1500)
	require.NoError(t, err)
	require.Equal(t, stripe.RefundStatusSucceeded, first.Status, "card refunds succeed at once")
	require.NotContains(t, string(first.LastResponse.RawJSON), "livemode")
	charge, err := s.api.Charges.Get(pi.LatestCharge.ID, nil)
	require.NoError(t, err)
	require.False(t, charge.Refunded, "only true when all is refunded")
	require.EqualValues(t, 1500, charge.AmountRefunded)
	_, err = refund(4000)
	se := stripeError(t, err)
	require.Equal(t, "Refund amount ($40.00) is greater than unrefunded amount on charge ($35.00)", se.Msg)
	require.Equal(t, "amount", se.Param)
	require.Empty(t, se.Code)
	rest, err := refund(0)
	require.NoError(t, err)
	require.EqualValues(t, 3500, rest.Amount)
	_, err = refund(0)
	require.Equal(t, stripe.ErrorCodeChargeAlreadyRefunded, stripeError(t, err).Code)
	charge, err = s.api.Charges.Get(pi.LatestCharge.ID, nil)
	require.NoError(t, err)
	require.True(t, charge.Refunded)
	require.Zero(t, ledgerOf(s))

	n := 0
	for it := s.api.Refunds.List(&stripe.RefundListParams{PaymentIntent: &pi.ID}); it.Next(); n++ {
		require.Equal(t, "rf_1", it.Refund().Metadata["refund_id"])
	}
	require.Equal(t, 2, n)
	require.Equal(t, "x", s.post("/v1/refunds/"+first.ID, "", "metadata[note]=x").Body["metadata"].(map[string]any)["note"])
	got, err := s.api.Refunds.Get(first.ID, nil)
	require.NoError(t, err)
	require.Equal(t, first.Amount, got.Amount)
	require.EqualValues(t, 2, len(s.get("/v1/events?type=charge.refunded").Body["data"].([]any)))
}

func TestS13_RefundRefusals(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	unpaid := s.create()
	require.Equal(t, 400, s.post("/v1/refunds", "", "payment_intent="+unpaid.ID).Status)
	_, err := s.confirm(unpaid.ID, "pm_card_visa_chargeDeclined")
	failed := stripeError(t, err).ChargeID
	r := s.post("/v1/refunds", "", "charge="+failed)
	require.Equal(t, 400, r.Status)
	require.NotContains(t, r.Err, "code")
	require.Equal(t, 404, s.post("/v1/refunds", "", "payment_intent=pi_none").Status)
	require.Equal(t, 404, s.get("/v1/refunds/re_none").Status)
}

func TestS13_ConcurrentRefundsNeverExceedTheCharge(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	pi := s.paid()
	done := make(chan bool, 8)
	for range 8 {
		go func() {
			_, err := s.api.Refunds.New(&stripe.RefundParams{PaymentIntent: &pi.ID, Amount: stripe.Int64(1000)})
			done <- err == nil
		}()
	}
	won := 0
	for range 8 {
		if <-done {
			won++
		}
	}
	require.Equal(t, 2, won)
	require.EqualValues(t, 500, ledgerOf(s))
}

func TestS13_Customers(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	cus, err := s.api.Customers.New(&stripe.CustomerParams{Email: stripe.String("ada@example.com"), Name: stripe.String("Ada"), PaymentMethod: stripe.String("pm_card_visa")})
	require.NoError(t, err)
	_, err = s.api.Customers.New(&stripe.CustomerParams{Email: stripe.String("bob@example.com")})
	require.NoError(t, err)
	it := s.api.Customers.List(&stripe.CustomerListParams{Email: stripe.String("ada@example.com")})
	require.True(t, it.Next())
	require.Equal(t, cus.ID, it.Customer().ID)
	require.False(t, it.Next())
	changed, err := s.api.Customers.Update(cus.ID, &stripe.CustomerParams{Phone: stripe.String("+49 30 1"), Address: &stripe.AddressParams{City: stripe.String("Berlin")}})
	require.NoError(t, err)
	require.Equal(t, "Berlin", changed.Address.City)
	gone, err := s.api.Customers.Del(cus.ID, nil)
	require.NoError(t, err)
	require.True(t, gone.Deleted)
	require.Equal(t, map[string]any{"id": cus.ID, "object": "customer", "deleted": true}, s.get("/v1/customers/"+cus.ID).Body, "a deleted one still reads 200")
	require.Len(t, s.get("/v1/customers").Body["data"], 1)
	_, err = s.api.Customers.Del(cus.ID, nil)
	se := stripeError(t, err)
	require.Equal(t, 404, se.HTTPStatusCode)
	require.Equal(t, "id", se.Param)
}

func TestS13_AttachAndDetach(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	cus, err := s.api.Customers.New(&stripe.CustomerParams{})
	require.NoError(t, err)
	m, err := s.api.PaymentMethods.Attach("pm_card_visa", &stripe.PaymentMethodAttachParams{Customer: &cus.ID})
	require.NoError(t, err)
	require.Equal(t, cus.ID, m.Customer.ID)
	require.Len(t, s.get("/v1/customers/" + cus.ID + "/payment_methods").Body["data"], 1)
	r := s.post("/v1/payment_intents", "", cardOnly+"&confirm=true&payment_method="+m.ID)
	require.Contains(t, r.Err["message"], "belongs to a Customer", "a customer's method needs the customer")
	for range 2 {
		pi := s.create(func(p *stripe.PaymentIntentParams) {
			p.Customer, p.PaymentMethod, p.Confirm = &cus.ID, &m.ID, stripe.Bool(true)
		})
		require.Equal(t, stripe.PaymentIntentStatusSucceeded, pi.Status, "an attached method can be used again")
	}
	require.Len(t, s.get("/v1/payment_intents?customer=" + cus.ID).Body["data"], 2)
	_, err = s.api.PaymentMethods.Detach(m.ID, nil)
	require.NoError(t, err)
	for _, action := range []string{"/detach", "/attach"} {
		form := ""
		if action == "/attach" {
			form = "customer=" + cus.ID
		}
		r := s.post("/v1/payment_methods/"+m.ID+action, "", form)
		require.Equal(t, 400, r.Status, action)
		require.NotContains(t, r.Err, "code")
	}
	r = s.get("/v1/customers/" + cus.ID + "/payment_methods/" + m.ID)
	require.Equal(t, 404, r.Status)
	require.Equal(t, "customer", r.Err["param"])
}

func TestS13_AMethodWithoutCustomerServesOnce(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	pi := s.paid()
	_, err := s.confirm(s.create().ID, pi.PaymentMethod.ID)
	require.Contains(t, stripeError(t, err).Msg, "was previously used")
}

func TestS21_ConfirmationTokens(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	token := func(more string) string {
		r := s.post("/v1/test_helpers/confirmation_tokens", "", "payment_method=pm_card_visa"+more)
		require.Equal(t, 200, r.Status, r.Raw)
		return r.Body["id"].(string)
	}
	use := func(id, key string) reply {
		pi := s.create()
		return s.post("/v1/payment_intents/"+pi.ID+"/confirm", key, "confirmation_token="+id)
	}
	id := token("")
	read, err := s.api.ConfirmationTokens.Get(id, nil)
	require.NoError(t, err)
	require.Equal(t, "4242", read.PaymentMethodPreview.Card.Last4)
	require.EqualValues(t, 12*3600, read.ExpiresAt-read.Created)
	first := s.create()
	paid := s.post("/v1/payment_intents/"+first.ID+"/confirm", "k", "confirmation_token="+id)
	require.Equal(t, "succeeded", paid.Body["status"], paid.Raw)
	second := use(id, "")
	require.Equal(t, 400, second.Status)
	require.Equal(t, "payment_intent_confirmation_token_invalid", second.Err["code"])
	require.NotContains(t, second.Err, "param")
	require.Equal(t, paid.Raw, s.post("/v1/payment_intents/"+first.ID+"/confirm", "k", "confirmation_token="+id).Raw, "a replay is answered from the store")
	require.Equal(t, "setup_future_usage", use(token("&setup_future_usage=off_session"), "").Err["param"])
	old := token("")
	s.now.add(12 * time.Hour)
	require.Equal(t, "payment_intent_confirmation_token_invalid", use(old, "").Err["code"])
	r := s.post("/v1/payment_intents", "", "amount=2500&currency=usd&confirm=true&confirmation_token="+token("&return_url="+back))
	require.Equal(t, "succeeded", r.Body["status"], "the token's return_url counts: %s", r.Raw)
}

func TestS13_SearchMayLoseWhatItHadFound(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{SearchLag: -1, SearchFlap: 0.5})
	s.create()
	seen := map[int]bool{}
	for range 60 {
		seen[len(s.get("/v1/payment_intents/search?query=currency:'usd'").Body["data"].([]any))] = true
	}
	require.Equal(t, map[int]bool{0: true, 1: true}, seen)
}

func TestS13_SearchLags(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	pi := s.create(func(p *stripe.PaymentIntentParams) { p.AddMetadata("order_id", "ord_7") })
	s.create()
	find := func(query string) []any {
		r := s.get("/v1/payment_intents/search?query=" + query)
		require.Equal(t, 200, r.Status, r.Raw)
		return r.Body["data"].([]any)
	}
	const byOrder = "metadata%5B'order_id'%5D:'ord_7'"
	require.Empty(t, find(byOrder), "search is not for read-after-write")
	s.now.add(21 * time.Second)
	require.Len(t, find(byOrder), 1)
	require.Equal(t, pi.ID, find(byOrder + "%20AND%20amount%3E2000")[0].(map[string]any)["id"])
	require.Empty(t, find(byOrder+"%20AND%20status:'succeeded'"))
	require.Len(t, find(byOrder+"%20OR%20currency:'usd'"), 2)
	require.Len(t, find("-"+byOrder), 1)
	page := s.get("/v1/payment_intents/search?limit=1&query=currency:'usd'")
	require.Equal(t, true, page.Body["has_more"])
	next := s.get("/v1/payment_intents/search?limit=1&query=currency:'usd'&page=" + page.Body["next_page"].(string))
	require.Equal(t, pi.ID, next.Body["data"].([]any)[0].(map[string]any)["id"])
	for _, bad := range []string{"colour:'red'", "amount", "status:'x", "a:1%20AND", "status:'a'%20AND%20status:'b'%20OR%20status:'c'"} {
		r := s.get("/v1/payment_intents/search?query=" + bad)
		require.Equal(t, 400, r.Status, bad)
		require.NotContains(t, r.Err, "code")
	}
}
