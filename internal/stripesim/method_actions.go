package stripesim

import "time"

var createMethodSchema = accepts("type", "card[number]", "card[exp_month]", "card[exp_year]", "card[cvc]", "card[token]",
	"billing_details[*]", "metadata[*]", "allow_redisplay", "key", "payment_user_agent", "referrer", "time_on_page", "guid", "muid", "sid")

func expiryYear(now int64) int64 { return int64(time.Unix(now, 0).UTC().Year()) + 2 }

// createMethod makes a payment method from what a customer typed.
func (c *call) createMethod() (any, *apiError) {
	m, err := c.readMethod("")
	if err != nil {
		return nil, err
	}
	c.put(m)
	return &m.PaymentMethod, nil
}

// methodFromData makes and stores a payment method from nested data.
func (c *call) methodFromData(name string) (*method, *apiError) {
	m, err := c.readMethod(name)
	if err == nil {
		c.put(m)
	}
	return m, err
}

// readMethod reads type, card, billing_details and metadata, below a name or bare.
func (c *call) readMethod(below string) (*method, *apiError) {
	r := &c.reader
	at := func(name string) string {
		if below == "" {
			return name
		}
		return below + "[" + name + "]"
	}
	kind := r.required(at("type"))
	if r.err == nil && kind != "card" {
		r.fail(invalid(at("type"), "Invalid "+at("type")+": this simulator knows card."))
	}
	billing := r.readBilling(at("billing_details"))
	if r.err != nil {
		return nil, r.err
	}
	var m *method
	if token := r.str(at("card") + "[token]"); token != "" {
		card := cardsByToken["pm_card_"+trimToken(token)]
		if card == nil {
			return nil, noSuchParam("token", token, at("card")+"[token]")
		}
		m = c.newMethod(card, 12, expiryYear(c.now))
	} else {
		var err *apiError
		if m, err = c.readCard(r, at("card")); err != nil {
			return nil, err
		}
	}
	m.BillingDetails = billing
	if below == "" {
		m.Metadata = r.metadata(nil)
	}
	return m, r.err
}

// trimToken turns the older tok_visa into visa.
func trimToken(token string) string {
	if len(token) > 4 && token[:4] == "tok_" {
		return token[4:]
	}
	return token
}

func (c *call) attachEndpoint() (any, *apiError) {
	name := c.reader.required("customer")
	if c.reader.err != nil {
		return nil, c.reader.err
	}
	if c.liveCustomer(name) == nil {
		return nil, noSuchParam("customer", name, "customer")
	}
	m := c.acct.methods.get(c.id)
	if m == nil && cardsByToken[c.id] == nil {
		return nil, noSuch("PaymentMethod", c.id)
	}
	m, err := c.methodByName(c.id, "id")
	if err != nil {
		return nil, err
	}
	if m, err = c.attach(m, name); err != nil {
		return nil, err
	}
	return &m.PaymentMethod, nil
}

// attach gives a method to a customer.
func (c *call) attach(m *method, customer string) (*method, *apiError) {
	if m.Customer != nil && *m.Customer != customer {
		return nil, refused("", "", "The payment method you provided has already been attached to a customer.")
	}
	next := *m
	next.Customer = &customer
	c.put(&next)
	c.emit("payment_method.attached", &next)
	return &next, nil
}

func (c *call) detachEndpoint() (any, *apiError) {
	m := c.acct.methods.get(c.id)
	if m == nil {
		return nil, noSuch("PaymentMethod", c.id)
	}
	if m.Customer == nil {
		return nil, refused("", "", "The payment method you provided is not attached to a customer so detachment is impossible.")
	}
	return &c.detach(m).PaymentMethod, nil
}

// detach takes a method from its customer for good.
func (c *call) detach(m *method) *method {
	next := *m
	next.Customer, next.Sim.Detached = nil, true
	c.put(&next)
	c.emit("payment_method.detached", &next)
	return &next
}

// customerMethod is GET /v1/customers/{id}/payment_methods/{sub}.
func (c *call) customerMethod() (any, *apiError) {
	m := c.acct.methods.get(c.sub)
	if m == nil || deref(m.Customer) != c.id {
		e := noSuch("PaymentMethod", c.sub)
		e.Param = "customer"
		return nil, e
	}
	return &m.PaymentMethod, nil
}

// listMethods serves both a customer's methods and GET /v1/payment_methods.
func (c *call) listMethods() (any, *apiError) {
	owner := c.id
	if owner == "" {
		owner = c.reader.str("customer")
	} else if c.liveCustomer(owner) == nil {
		return nil, noSuch("customer", owner)
	}
	return listOf(c, &c.acct.methods, "PaymentMethod", func(m *method) bool { return owner != "" && deref(m.Customer) == owner })
}
