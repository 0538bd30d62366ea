package stripesim

import "net/url"

var confirmIntentSchema = accepts("capture_method", "client_secret", "confirmation_token", "error_on_requires_action", "mandate", "mandate_data[*]",
	"off_session", "payment_method", "payment_method_data[*]", "payment_method_options[*]", "payment_method_types[]",
	"radar_options[*]", "receipt_email", "return_url", "setup_future_usage", "shipping[*]", "use_stripe_sdk", "key")

const returnURLNeeded = "This PaymentIntent is configured to accept payment methods enabled in your Dashboard. Because some of these payment methods might redirect your customer off of your page, you must provide a `return_url`. If you don't want to accept redirect-based payment methods, set `automatic_payment_methods[enabled]` to `true` and `automatic_payment_methods[allow_redirects]` to `never` when creating Setup Intents and Payment Intents."

const methodMissing = "You cannot confirm this PaymentIntent because it's missing a payment method. You can either update the PaymentIntent with a payment method and then confirm it again, or confirm it again directly with a payment method or ConfirmationToken."

// confirmation holds the parameters that only confirming has.
type confirmation struct {
	returnURL     string
	offSession    bool
	errorOnAction bool
	sdk           bool
	token         string
}

func (c *call) readConfirmation() confirmation {
	r := &c.reader
	conf := confirmation{returnURL: r.str("return_url"), errorOnAction: r.bool("error_on_requires_action"),
		sdk: r.bool("use_stripe_sdk"), token: r.str("confirmation_token")}
	switch v := r.str("off_session"); v {
	case "true", "one_off", "recurring":
		conf.offSession = true
	case "", "false":
	default:
		r.fail(invalid("off_session", "Invalid off_session: must be one of true, false, one_off, recurring"))
	}
	if u, err := url.Parse(conf.returnURL); conf.returnURL != "" && (err != nil || u.Scheme == "" || u.Host == "" && u.Opaque == "" && u.Path == "") {
		r.fail(invalid("return_url", "Not a valid URL").withCode("url_invalid"))
	}
	if c.publishable && conf.offSession {
		r.fail(invalid("off_session", "You cannot set off_session with a publishable key."))
	}
	return conf
}

// confirmEndpoint is POST /v1/payment_intents/{id}/confirm.
func (c *call) confirmEndpoint() (any, *apiError) {
	stored, err := c.findIntent()
	if err != nil {
		return nil, err
	}
	conf := c.readConfirmation()
	pi := stored.edit()
	c.readConfirmFields(pi)
	if c.reader.err != nil {
		return nil, c.reader.err
	}
	if err := stored.may(verbConfirm); err != nil {
		return nil, err
	}
	m, err := c.chooseMethod(pi, conf)
	if err != nil {
		return nil, err
	}
	return c.confirmIntent(pi, m, conf)
}

func (c *call) readConfirmFields(pi *intent) {
	r := &c.reader
	r.set("receipt_email", 800, &pi.ReceiptEmail)
	if v := r.oneOf("setup_future_usage", "on_session", "off_session"); v != "" {
		pi.SetupFutureUsage = &v
	}
	if v := r.oneOf("capture_method", "automatic", "automatic_async", "manual"); v != "" {
		pi.CaptureMethod = v
	}
	if r.p.has("shipping") {
		pi.Shipping = r.readShipping()
	}
}

// confirmIntent runs an intent, already copied for editing, to its next status.
// Refusals from here on have executed and leave the intent behind.
func (c *call) confirmIntent(pi *intent, m *method, conf confirmation) (any, *apiError) {
	if tok := c.acct.ctokens.get(conf.token); tok != nil && conf.returnURL == "" {
		conf.returnURL = deref(tok.ReturnURL)
	}
	if m == nil {
		return nil, c.orphan(pi, refused("payment_intent_unexpected_state", "", methodMissing))
	}
	if pi.returnURLRequired() && conf.returnURL == "" {
		return nil, c.orphan(pi, refused("", "", returnURLNeeded))
	}
	pi.Sim.ReturnURL = conf.returnURL
	pi.NextAction, pi.LastPaymentError = nil, nil
	pi.Sim.Confirmations++
	if pi.Sim.Confirmations > c.srv.cfg.MaxConfirmations {
		c.cancelIntent(pi, "automatic")
		return c.show(pi), nil
	}
	if needsAuthentication(pi, m, conf) {
		return c.requireAction(pi, m, conf)
	}
	return c.chargeIntent(pi, m)
}

// orphan keeps an intent whose confirmation was refused: a refused create still
// makes an object.
func (c *call) orphan(pi *intent, e *apiError) *apiError {
	c.put(pi)
	return e.about(pi)
}

// chargeIntent asks the issuer and moves the intent to where the answer leads.
func (c *call) chargeIntent(pi *intent, m *method) (any, *apiError) {
	ch, out := c.authorize(pi, m)
	pi.LatestCharge = &ch.ID
	if out != approved {
		pi.Status, pi.PaymentMethod, pi.NextAction = needsMethod, nil, nil
		pi.Sim.Authenticated = ""
		pi.LastPaymentError = lastError(out, ch, m)
		c.put(ch)
		c.put(pi)
		c.emit("charge.failed", ch)
		c.emit("payment_intent.payment_failed", pi)
		return nil, declineError(out, ch, pi, m)
	}
	c.settleMethod(pi, m)
	pi.NextAction, pi.LastPaymentError = nil, nil
	if pi.CaptureMethod == "manual" {
		pi.Status, pi.AmountCapturable = needsCapture, pi.Amount
		pi.Sim.CaptureBefore = c.now + int64(authorizationLife.Seconds())
		c.put(ch)
		c.put(pi)
		c.emit("charge.succeeded", ch)
		c.emit("payment_intent.amount_capturable_updated", pi)
		return c.show(pi), nil
	}
	pi.Status, pi.AmountReceived = succeeded, pi.Amount
	ch.Captured, ch.AmountCaptured = true, ch.Amount
	c.bookCharge(ch, m.card().instant)
	c.put(ch)
	c.put(pi)
	c.emit("charge.succeeded", ch)
	c.emit("payment_intent.succeeded", pi)
	c.openDispute(ch, m.card())
	return c.show(pi), nil
}

// show renders an intent for the caller: a publishable key sees less.
func (c *call) show(pi *intent) any {
	if c.publishable {
		return pi.public()
	}
	return &pi.PaymentIntent
}
