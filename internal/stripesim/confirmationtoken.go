package stripesim

import "time"

// tokenLife is how long a ConfirmationToken can be used.
const tokenLife = 12 * time.Hour

// ConfirmationToken carries what a customer typed from the browser to the server.
type ConfirmationToken struct {
	ID               string        `json:"id"`
	Object           string        `json:"object"`
	Created          int64         `json:"created"`
	ExpiresAt        *int64        `json:"expires_at"`
	Livemode         bool          `json:"livemode"`
	MandateData      *struct{}     `json:"mandate_data"`
	PaymentIntent    *string       `json:"payment_intent"`
	Preview          methodPreview `json:"payment_method_preview"`
	ReturnURL        *string       `json:"return_url"`
	SetupFutureUsage *string       `json:"setup_future_usage"`
	SetupIntent      *string       `json:"setup_intent"`
	Shipping         *shipping     `json:"shipping"`
	UseStripeSDK     bool          `json:"use_stripe_sdk"`
}

type methodPreview struct {
	BillingDetails billingDetails `json:"billing_details"`
	Card           pmCard         `json:"card"`
	Type           string         `json:"type"`
}

type ctoken struct {
	ConfirmationToken
	Sim ctokenSim `json:"_sim"`
}

type ctokenSim struct {
	Method *method `json:"method"` // what it will become when spent
}

func (t *ctoken) id() string   { return t.ID }
func (t *ctoken) born() int64  { return t.Created }
func (t *ctoken) kind() string { return kindToken }
func (t *ctoken) wire() any    { return &t.ConfirmationToken }

var createTokenSchema = accepts("payment_method", "payment_method_data[*]", "return_url", "setup_future_usage", "shipping[*]",
	"use_stripe_sdk", "mandate_data[*]", "payment_method_options[*]", "client_context[*]", "key")

// createToken serves both Stripe.js (publishable key, card data) and the test
// helper (secret key, a payment method or pm_card_… token).
func (c *call) createToken() (any, *apiError) {
	r := &c.reader
	conf := c.readConfirmation()
	usage := r.oneOf("setup_future_usage", "on_session", "off_session")
	if r.err != nil {
		return nil, r.err
	}
	m, err := c.tokenMethod()
	if err != nil {
		return nil, err
	}
	expires := c.now + int64(tokenLife.Seconds())
	t := &ctoken{ConfirmationToken: ConfirmationToken{
		ID: c.srv.ids.id("ctoken_1", 23), Object: "confirmation_token", Created: c.now, ExpiresAt: &expires,
		Preview:   methodPreview{BillingDetails: m.BillingDetails, Card: m.Card, Type: m.Type},
		ReturnURL: optional(conf.returnURL), SetupFutureUsage: optional(usage), UseStripeSDK: conf.sdk,
	}, Sim: ctokenSim{Method: m}}
	if r.p.has("shipping") {
		t.Shipping = r.readShipping()
	}
	c.put(t)
	return &t.ConfirmationToken, nil
}

func (c *call) tokenMethod() (*method, *apiError) {
	if c.reader.p.has("payment_method_data") {
		return c.readMethod("payment_method_data")
	}
	name := c.reader.str("payment_method")
	if card := cardsByToken[name]; card != nil {
		return c.newMethod(card, 12, expiryYear(c.now)), nil
	}
	if name == "" {
		return nil, missingParam("payment_method_data")
	}
	return c.methodByName(name, "payment_method")
}

// spendToken uses a ConfirmationToken for an intent; it serves exactly once.
func (c *call) spendToken(pi *intent, conf confirmation) (*method, *apiError) {
	t := c.acct.ctokens.get(conf.token)
	switch {
	case t == nil:
		e := noSuchParam("confirmation_token", conf.token, "confirmation_token")
		e.status = 404
		return nil, e
	case t.PaymentIntent != nil:
		return nil, refused("payment_intent_confirmation_token_invalid", "", "The ConfirmationToken "+t.ID+" has already been used to confirm a PaymentIntent. Create a new ConfirmationToken.")
	case *t.ExpiresAt <= c.now:
		return nil, refused("payment_intent_confirmation_token_invalid", "", "The ConfirmationToken "+t.ID+" has expired. Create a new ConfirmationToken.")
	case deref(t.SetupFutureUsage) != deref(pi.SetupFutureUsage) && t.SetupFutureUsage != nil:
		return nil, refused("", "setup_future_usage", "The provided setup_future_usage ("+orNone(deref(pi.SetupFutureUsage))+") does not match the setup_future_usage from the ConfirmationToken ("+*t.SetupFutureUsage+").")
	}
	m, err := c.useMethod(pi, t.Sim.Method)
	if err != nil {
		return nil, err
	}
	if pi.Shipping == nil {
		pi.Shipping = t.Shipping
	}
	spent := *t
	spent.PaymentIntent = &pi.ID
	c.put(&spent)
	if c.acct.methods.get(m.ID) == nil {
		c.put(m)
	}
	return m, nil
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func (c *call) retrieveToken() (any, *apiError) {
	t := c.acct.ctokens.get(c.id)
	if t == nil {
		e := noSuch("confirmation_token", c.id)
		e.Param = "confirmation_token"
		return nil, e
	}
	return &t.ConfirmationToken, nil
}
