package stripesim

// authorize asks the issuer for the money: it makes the charge and tells whether
// the card was approved. The charge copies the intent's metadata.
func (c *call) authorize(pi *intent, m *method) (*charge, outcome) {
	card := m.card()
	out := card.outcome
	ch := &charge{Charge{
		ID: c.srv.ids.id("ch_3", 23), Object: "charge", Amount: pi.Amount, Created: c.now,
		BillingDetails:                m.BillingDetails,
		CalculatedStatementDescriptor: ptr("LOCAL STRIPE"),
		Currency:                      pi.Currency, Customer: pi.Customer, Description: pi.Description,
		Metadata: pi.Metadata, PaymentIntent: pi.ID, PaymentMethod: m.ID,
		PaymentMethodDetails: paymentMethodDetails{Type: "card", Card: chargeCard{
			Brand: m.Card.Brand, Checks: m.Card.Checks, Country: m.Card.Country, ExpMonth: m.Card.ExpMonth,
			ExpYear: m.Card.ExpYear, Fingerprint: m.Card.Fingerprint, Funding: m.Card.Funding,
			Last4: m.Card.Last4, Network: m.Card.Brand,
		}},
		ReceiptEmail: pi.ReceiptEmail, Shipping: pi.Shipping,
		StatementDescriptor: pi.StatementDescriptor, StatementDescriptorSuffix: pi.StatementDescriptorSuffix,
		Outcome: chargeOutcome{NetworkStatus: "approved_by_network", RiskLevel: "normal", RiskScore: 42,
			SellerMessage: "Payment complete.", Type: "authorized"},
	}}
	if pi.Sim.Authenticated == m.ID {
		ch.PaymentMethodDetails.Card.ThreeDSecure = &threeDSecure{AuthenticationFlow: ptr("challenge"), Result: "authenticated", Version: "2.2.0"}
	}
	if out != approved {
		ch.decline(out)
		return ch, out
	}
	ch.Status, ch.Paid = "succeeded", true
	ch.PaymentMethodDetails.Card.AmountAuthorized = &ch.Amount
	ch.ReceiptURL = ptr(c.origin + "/_sim/receipts/" + ch.ID)
	if pi.CaptureMethod == "manual" {
		before := c.now + int64(authorizationLife.Seconds())
		ch.PaymentMethodDetails.Card.CaptureBefore = &before
	}
	return ch, approved
}

// decline marks a charge as refused by the issuer.
func (ch *charge) decline(out outcome) {
	reason := out.decline
	ch.Status = "failed"
	ch.FailureCode, ch.FailureMessage = ptr(out.code), ptr(out.message)
	ch.Outcome = chargeOutcome{NetworkStatus: "declined_by_network", Reason: &reason, RiskLevel: "normal", RiskScore: 42,
		SellerMessage: "The bank did not return any further details with this decline.", Type: "issuer_declined"}
	if reason == "fraudulent" {
		ch.Outcome.NetworkStatus, ch.Outcome.Type = "not_sent_to_network", "blocked"
		ch.Outcome.RiskLevel, ch.Outcome.RiskScore = "highest", 92
		ch.Outcome.Reason = ptr("highest_risk_level")
		ch.Outcome.SellerMessage = "Stripe blocked this payment as too risky."
	}
}

// declineError is the 402 for a refused charge.
func declineError(out outcome, ch *charge, pi *intent, m *method) *apiError {
	e := lastError(out, ch, m)
	e.PaymentIntent = &pi.PaymentIntent
	return e
}

// lastError is the part of a decline that a PaymentIntent keeps as last_payment_error.
func lastError(out outcome, ch *charge, m *method) *apiError {
	e := refused(out.code, out.param, out.message)
	e.status, e.Type = 402, typeCard
	e.DeclineCode, e.AdviceCode, e.Charge = out.decline, out.advice, ch.ID
	e.PaymentMethod = &m.PaymentMethod
	return e
}
