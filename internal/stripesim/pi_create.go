package stripesim

import (
	"strings"
	"unicode"
)

// intentFields are the parameters that create and update share. Subtrees that
// concern payment methods other than cards are accepted and have no effect.
var intentFields = []string{
	"amount", "currency", "customer", "description", "metadata[*]", "payment_method",
	"payment_method_types[]", "payment_method_options[*]", "payment_method_data[*]", "receipt_email",
	"setup_future_usage", "shipping[*]", "statement_descriptor", "statement_descriptor_suffix", "capture_method",
}

var createIntentSchema = accepts(intentFields...).and(
	"automatic_payment_methods[enabled]", "automatic_payment_methods[allow_redirects]", "confirmation_method",
	"confirm", "confirmation_token", "error_on_requires_action", "mandate", "mandate_data[*]", "off_session",
	"radar_options[*]", "return_url", "use_stripe_sdk")

// createIntent opens a PaymentIntent and, with confirm=true, confirms it at once.
func (c *call) createIntent() (any, *apiError) {
	r := &c.reader
	r.required("amount")
	r.required("currency")
	pi := &intent{PaymentIntent: PaymentIntent{Object: "payment_intent", Created: c.now, Status: needsMethod,
		PaymentMethodOptions: methodOptions{Card: cardOptions{RequestThreeDSecure: "automatic"}}}}
	pi.CaptureMethod, pi.ConfirmationMethod = "automatic", "automatic"
	if v := r.oneOf("confirmation_method", "automatic", "manual"); v != "" {
		pi.ConfirmationMethod = v
	}
	c.readMethodTypes(pi)
	c.readIntentFields(pi)
	confirm := r.bool("confirm")
	conf := c.readConfirmation()
	if !confirm && r.err == nil {
		for _, name := range []string{"return_url", "off_session", "error_on_requires_action", "mandate", "mandate_data", "confirmation_token"} {
			if r.p.has(name) {
				r.fail(invalid(name, "You can only provide `"+name+"` when `confirm` is true."))
			}
		}
	}
	if r.err != nil {
		return nil, r.err
	}
	pi.ID = c.srv.ids.id("pi_3", 23)
	pi.ClientSecret = c.srv.ids.id(pi.ID+"_secret_", 25)
	m, err := c.chooseMethod(pi, conf)
	if err != nil {
		return nil, err
	}
	if m != nil {
		pi.Status = needsConfirmation
	}
	c.put(pi)
	c.emit("payment_intent.created", pi)
	if confirm {
		return c.confirmIntent(pi.edit(), m, conf)
	}
	return &pi.PaymentIntent, nil
}

// readMethodTypes decides between an explicit list of types and the dashboard's
// choice, which is the default since API 2023-08-16.
func (c *call) readMethodTypes(pi *intent) {
	r := &c.reader
	types := r.p.all("payment_method_types[]")
	automatic := r.p.has("automatic_payment_methods")
	enabled := r.bool("automatic_payment_methods[enabled]")
	redirects := r.oneOf("automatic_payment_methods[allow_redirects]", "always", "never")
	if automatic && len(types) > 0 {
		r.fail(invalid("", "You may only specify one of these parameters: automatic_payment_methods, payment_method_types."))
	}
	if _, sent := r.p.get("automatic_payment_methods[enabled]"); automatic && !sent {
		r.fail(missingParam("automatic_payment_methods[enabled]"))
	}
	for _, t := range types {
		if t != "card" {
			r.fail(invalid("payment_method_types", "The payment method type provided: "+t+" is invalid. This simulator knows card."))
		}
	}
	pi.PaymentMethodTypes = []string{"card"}
	if len(types) == 0 && (!automatic || enabled) {
		if redirects == "" {
			redirects = "always"
		}
		pi.AutomaticPaymentMethods = &automaticMethods{AllowRedirects: redirects, Enabled: true}
	}
}

// readIntentFields applies the parameters that create and update share.
func (c *call) readIntentFields(pi *intent) {
	r := &c.reader
	if v := r.str("currency"); v != "" {
		pi.Currency = strings.ToLower(v)
		if !currencies[pi.Currency] {
			r.fail(invalid("currency", "Invalid currency: "+pi.Currency+". Stripe currently supports these currencies: "+currencyList))
		}
	}
	if n, sent := r.int("amount"); sent {
		pi.Amount = n
		r.checkAmount(n, pi.Currency)
	}
	if v := r.str("customer"); v != "" {
		if c.acct.customers.get(v) == nil {
			r.fail(noSuchParam("customer", v, "customer"))
		}
		pi.Customer = &v
	}
	if v := r.oneOf("capture_method", "automatic", "automatic_async", "manual"); v != "" {
		pi.CaptureMethod = v
	}
	if v := r.oneOf("payment_method_options[card][request_three_d_secure]", "automatic", "any", "challenge"); v != "" {
		pi.PaymentMethodOptions.Card.RequestThreeDSecure = v
	}
	r.set("description", 1000, &pi.Description)
	r.set("receipt_email", 800, &pi.ReceiptEmail)
	r.setDescriptor("statement_descriptor", &pi.StatementDescriptor)
	r.setDescriptor("statement_descriptor_suffix", &pi.StatementDescriptorSuffix)
	if _, sent := r.p.get("setup_future_usage"); sent {
		pi.SetupFutureUsage = optional(r.oneOf("setup_future_usage", "on_session", "off_session"))
	}
	if r.p.has("shipping") {
		pi.Shipping = r.readShipping()
	}
	pi.Metadata = r.metadata(pi.Metadata)
}

// set changes an optional string when it was sent; an empty one unsets it.
func (r *reader) set(name string, limit int, field **string) {
	if _, sent := r.p.get(name); sent {
		*field = optional(r.limited(name, limit))
	}
}

func (r *reader) setDescriptor(name string, field **string) {
	r.set(name, 22, field)
	if v := r.str(name); strings.ContainsAny(v, `<>'"\*`) {
		r.fail(invalid(name, "The statement descriptor contains one or more invalid characters: < > \\ ' \" *"))
	}
	foreign := func(c rune) bool { return c > unicode.MaxLatin1 && !unicode.Is(unicode.Latin, c) }
	if strings.ContainsFunc(r.str(name), foreign) {
		r.fail(invalid(name, "The statement descriptor must be in Latin characters."))
	}
}

func (r *reader) readShipping() *shipping {
	b := r.readBilling("shipping")
	return &shipping{Address: b.Address, Name: b.Name, Phone: b.Phone,
		Carrier: optional(r.str("shipping[carrier]")), TrackingNumber: optional(r.str("shipping[tracking_number]"))}
}
