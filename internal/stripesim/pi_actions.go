package stripesim

import "crypto/subtle"

// findIntent returns the intent of the path. A publishable key must prove itself
// with the client secret.
func (c *call) findIntent() (*intent, *apiError) {
	pi := c.acct.intents.get(c.id)
	if pi == nil {
		return nil, noSuch("payment_intent", c.id)
	}
	secret, sent := c.reader.p.get("client_secret")
	switch {
	case c.publishable && !sent:
		return nil, missingParam("client_secret")
	case sent && subtle.ConstantTimeCompare([]byte(secret), []byte(pi.ClientSecret)) != 1:
		return nil, invalid("client_secret", "The client_secret provided does not match the client_secret associated with the PaymentIntent.").withCode("payment_intent_invalid_parameter")
	}
	return pi, nil
}

func (c *call) retrieveIntent() (any, *apiError) {
	pi, err := c.findIntent()
	if err != nil {
		return nil, err
	}
	return c.show(pi), nil
}

func (c *call) listIntents() (any, *apiError) {
	customer := c.reader.str("customer")
	return listOf(c, &c.acct.intents, "payment_intent", func(pi *intent) bool { return same(customer, deref(pi.Customer)) })
}

var updateIntentSchema = accepts(intentFields...)

// updateIntent changes an intent that has not been paid; metadata and description
// can be changed in any status.
func (c *call) updateIntent() (any, *apiError) {
	stored, err := c.findIntent()
	if err != nil {
		return nil, err
	}
	pi := stored.edit()
	c.readIntentFields(pi)
	if c.reader.err != nil {
		return nil, c.reader.err
	}
	for _, name := range []string{"amount", "currency", "payment_method", "payment_method_data", "customer", "capture_method", "setup_future_usage", "shipping", "payment_method_options"} {
		if c.reader.p.has(name) {
			if err := stored.may(verbUpdate); err != nil {
				return nil, err
			}
		}
	}
	if c.reader.p.has("payment_method") || c.reader.p.has("payment_method_data") {
		if _, err := c.chooseMethod(pi, confirmation{}); err != nil {
			return nil, err
		}
		pi.NextAction = nil
		pi.Status = needsConfirmation
	}
	c.put(pi)
	return &pi.PaymentIntent, nil
}

var captureIntentSchema = accepts("amount_to_capture", "metadata[*]", "statement_descriptor", "statement_descriptor_suffix", "final_capture")

// captureIntent takes the authorized money, or part of it; the rest is released.
func (c *call) captureIntent() (any, *apiError) {
	r := &c.reader
	stored, err := c.findIntent()
	if err != nil {
		return nil, err
	}
	amount, sent := r.int("amount_to_capture")
	pi := stored.edit()
	pi.Metadata = r.metadata(pi.Metadata)
	r.setDescriptor("statement_descriptor", &pi.StatementDescriptor)
	r.setDescriptor("statement_descriptor_suffix", &pi.StatementDescriptorSuffix)
	if r.err != nil {
		return nil, r.err
	}
	if err := stored.may(verbCapture); err != nil {
		return nil, err
	}
	switch {
	case !sent:
		amount = pi.AmountCapturable
	case amount < 1:
		return nil, badInteger("amount_to_capture", "This value must be greater than or equal to 1.")
	case amount > pi.AmountCapturable:
		return nil, refused("amount_too_large", "amount_to_capture", "You cannot capture more than the amount authorized ("+formatMoney(pi.AmountCapturable, pi.Currency)+").").about(stored)
	}
	ch := *c.acct.charges.get(*pi.LatestCharge)
	ch.Captured, ch.AmountCaptured = true, amount
	ch.PaymentMethodDetails.Card.CaptureBefore = nil
	pi.Status, pi.AmountReceived, pi.AmountCapturable = succeeded, amount, 0
	m := c.acct.methods.get(ch.PaymentMethod)
	c.bookCharge(&ch, m.card().instant)
	c.put(&ch)
	c.put(pi)
	c.emit("charge.captured", &ch)
	c.emit("payment_intent.succeeded", pi)
	c.openDispute(&ch, m.card())
	return &pi.PaymentIntent, nil
}

var cancelIntentSchema = accepts("cancellation_reason")

func (c *call) cancelEndpoint() (any, *apiError) {
	stored, err := c.findIntent()
	if err != nil {
		return nil, err
	}
	reason := c.reader.oneOf("cancellation_reason", "duplicate", "fraudulent", "requested_by_customer", "abandoned")
	if c.reader.err != nil {
		return nil, c.reader.err
	}
	if err := stored.may(verbCancel); err != nil {
		return nil, err
	}
	pi := stored.edit()
	c.cancelIntent(pi, reason)
	return &pi.PaymentIntent, nil
}

// cancelIntent ends an intent, already copied for editing, and releases a hold.
func (c *call) cancelIntent(pi *intent, reason string) {
	if pi.Status == needsCapture {
		ch := *c.acct.charges.get(*pi.LatestCharge)
		ch.Refunded, ch.AmountRefunded = true, ch.Amount
		c.put(&ch)
		c.emit("charge.refunded", &ch)
	}
	at := c.now
	pi.Status, pi.AmountCapturable, pi.NextAction = canceled, 0, nil
	pi.CanceledAt, pi.CancellationReason = &at, optional(reason)
	c.put(pi)
	c.emit("payment_intent.canceled", pi)
}

// expireHolds cancels authorizations older than authorizationLife.
func (c *call) expireHolds() {
	for i := len(c.acct.intents.rows) - 1; i >= 0; i-- {
		pi := c.acct.intents.rows[i]
		if pi.Status == needsCapture && pi.Sim.CaptureBefore <= c.now {
			c.cancelIntent(pi.edit(), "automatic")
		}
	}
}
