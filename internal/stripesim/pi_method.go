package stripesim

import "strings"

// chooseMethod finds the payment method a create or confirm is about: one named
// by id, a pm_card_… token (which becomes a new payment method), raw data, a
// confirmation token, or the one the intent already has. nil means none.
func (c *call) chooseMethod(pi *intent, conf confirmation) (*method, *apiError) {
	r := &c.reader
	named := r.str("payment_method")
	switch {
	case conf.token != "" && named != "":
		return nil, invalid("", "You may only specify one of these parameters: confirmation_token, payment_method.")
	case conf.token != "":
		return c.spendToken(pi, conf)
	case r.p.has("payment_method_data"):
		m, err := c.methodFromData("payment_method_data")
		if err != nil {
			return nil, err
		}
		return c.useMethod(pi, m)
	case named != "":
		m, err := c.methodByName(named, "payment_method")
		if err != nil {
			return nil, err
		}
		return c.useMethod(pi, m)
	case pi.PaymentMethod != nil:
		return c.acct.methods.get(*pi.PaymentMethod), nil
	}
	return nil, nil
}

// methodByName resolves an id or a pm_card_… token.
func (c *call) methodByName(name, param string) (*method, *apiError) {
	if card := cardsByToken[name]; card != nil {
		m := c.newMethod(card, 12, expiryYear(c.now))
		c.put(m)
		return m, nil
	}
	m := c.acct.methods.get(name)
	if m == nil {
		noun := "PaymentMethod"
		if strings.HasPrefix(name, "pm_card_") {
			noun = "PaymentMethod test token"
		}
		return nil, noSuchParam(noun, name, param)
	}
	if m.Sim.Detached || m.Sim.Spent && m.Customer == nil {
		return nil, refused("", "", "The provided PaymentMethod was previously used with a PaymentIntent without Customer attachment, shared with a connected account without Customer attachment, or was detached from a Customer. It may not be used again. To use a PaymentMethod multiple times, you must attach it to a Customer first.")
	}
	return m, nil
}

// useMethod makes a method the intent's own, if it may be.
func (c *call) useMethod(pi *intent, m *method) (*method, *apiError) {
	if m.Customer != nil && deref(pi.Customer) != *m.Customer {
		return nil, refused("", "", "The provided PaymentMethod belongs to a Customer; you must pass that Customer in the request: `"+*m.Customer+"`.")
	}
	pi.PaymentMethod = &m.ID
	if pi.Sim.Authenticated != m.ID {
		pi.Sim.Authenticated = ""
	}
	return m, nil
}

// settleMethod notes what a successful payment does to its method: with a
// customer and setup_future_usage it is saved, without a customer it is spent.
func (c *call) settleMethod(pi *intent, m *method) {
	next := *m
	switch {
	case pi.Customer != nil && pi.SetupFutureUsage != nil:
		next.Customer = pi.Customer
		next.Sim.SetUp = next.Sim.SetUp || *pi.SetupFutureUsage == "off_session"
	case m.Customer == nil:
		next.Sim.Spent = true
	default:
		return
	}
	c.put(&next)
}

// needsAuthentication tells whether the issuer will ask for 3-D Secure now.
func needsAuthentication(pi *intent, m *method, conf confirmation) bool {
	if pi.Sim.Authenticated == m.ID {
		return false
	}
	switch m.card().auth {
	case authAlways:
		return true
	case authUnlessSetUp:
		return !m.Sim.SetUp || !conf.offSession
	case authOptional:
		ask := pi.PaymentMethodOptions.Card.RequestThreeDSecure
		return ask == "any" || ask == "challenge"
	}
	return false
}
