package stripesim

import "net/url"

// The declines that concern authentication.
var (
	authRequired    = outcome{code: "authentication_required", decline: "authentication_required", message: "Your card was declined. This transaction requires authentication."}
	authNotHandled  = outcome{code: "authentication_required", decline: "authentication_not_handled", message: "Your card was declined. This transaction requires authentication."}
	authFailureText = "The provided PaymentMethod has failed authentication. You can provide payment_method_data or a new PaymentMethod to attempt to fulfill this PaymentIntent again."
)

// requireAction answers a confirmation whose card asks for 3-D Secure: that is a
// 200 with status requires_action, unless the client said it could not handle it.
func (c *call) requireAction(pi *intent, m *method, conf confirmation) (any, *apiError) {
	if conf.offSession {
		return c.refuseUnauthenticated(pi, m)
	}
	if conf.errorOnAction {
		e := refused(authNotHandled.code, "", authNotHandled.message)
		e.status, e.Type, e.DeclineCode, e.PaymentMethod = 402, typeCard, authNotHandled.decline, &m.PaymentMethod
		kept := *e
		pi.Status, pi.PaymentMethod, pi.LastPaymentError = needsMethod, nil, &kept
		c.put(pi)
		c.emit("payment_intent.payment_failed", pi)
		return nil, e.about(pi)
	}
	pi.Status, pi.AmountCapturable = needsAction, 0
	pi.NextAction = c.nextAction(pi.ID, pi.ClientSecret, conf)
	c.put(pi)
	c.emit("payment_intent.requires_action", pi)
	return c.show(pi), nil
}

// refuseUnauthenticated is the issuer's soft decline of a payment without the customer.
func (c *call) refuseUnauthenticated(pi *intent, m *method) (any, *apiError) {
	ch, _ := c.authorize(pi, m)
	ch.Paid, ch.ReceiptURL = false, nil
	ch.PaymentMethodDetails.Card.AmountAuthorized = nil
	ch.decline(authRequired)
	pi.LatestCharge = &ch.ID
	pi.Status, pi.PaymentMethod = needsMethod, nil
	pi.LastPaymentError = lastError(authRequired, ch, m)
	c.put(ch)
	c.put(pi)
	c.emit("charge.failed", ch)
	c.emit("payment_intent.payment_failed", pi)
	return nil, declineError(authRequired, ch, pi, m)
}

// nextAction points the customer at the page where a person approves or fails.
func (c *call) nextAction(id, secret string, conf confirmation) *nextAction {
	page := c.origin + "/_sim/3ds/" + c.acct.name + "/" + id + "?s=" + url.QueryEscape(secret)
	if conf.sdk || conf.returnURL == "" {
		return &nextAction{Type: "use_stripe_sdk", UseStripeSDK: &sdkAction{Source: id, JS: page, Type: "three_d_secure_redirect"}}
	}
	return &nextAction{Type: "redirect_to_url", RedirectToURL: &redirectAction{ReturnURL: conf.returnURL, URL: page}}
}

// authenticated ends the customer's part: approved by the bank or not.
func (c *call) authenticated(stored *intent, approved bool) {
	pi := stored.edit()
	pi.NextAction = nil
	m := c.acct.methods.get(deref(pi.PaymentMethod))
	if !approved {
		e := invalid("", authFailureText).withCode("payment_intent_authentication_failure")
		e.PaymentMethod = &m.PaymentMethod
		pi.Status, pi.PaymentMethod, pi.LastPaymentError = needsMethod, nil, e
		c.put(pi)
		c.emit("payment_intent.payment_failed", pi)
		return
	}
	pi.Sim.Authenticated = m.ID
	if pi.ConfirmationMethod == "manual" {
		pi.Status = needsConfirmation // the server confirms again
		c.put(pi)
		return
	}
	_, _ = c.chargeIntent(pi, m) // a decline here is kept on the intent and told by events
}
