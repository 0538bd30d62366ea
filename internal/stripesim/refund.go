package stripesim

// Refund as API 2023-10-16 shows it; it has no livemode.
type Refund struct {
	ID                     string             `json:"id"`
	Object                 string             `json:"object"`
	Amount                 int64              `json:"amount"`
	BalanceTransaction     *string            `json:"balance_transaction"`
	Charge                 string             `json:"charge"`
	Created                int64              `json:"created"`
	Currency               string             `json:"currency"`
	DestinationDetails     destinationDetails `json:"destination_details"`
	Metadata               map[string]string  `json:"metadata"`
	PaymentIntent          *string            `json:"payment_intent"`
	Reason                 *string            `json:"reason"`
	ReceiptNumber          *string            `json:"receipt_number"`
	SourceTransferReversal *string            `json:"source_transfer_reversal"`
	Status                 string             `json:"status"`
	TransferReversal       *string            `json:"transfer_reversal"`
}

type destinationDetails struct {
	Card destinationCard `json:"card"`
	Type string          `json:"type"`
}

type destinationCard struct {
	ReferenceStatus string `json:"reference_status"`
	ReferenceType   string `json:"reference_type"`
	Type            string `json:"type"`
}

type refund struct{ Refund }

func (f *refund) id() string   { return f.ID }
func (f *refund) born() int64  { return f.Created }
func (f *refund) kind() string { return kindRefund }
func (f *refund) wire() any    { return &f.Refund }

var createRefundSchema = accepts("amount", "charge", "payment_intent", "metadata[*]", "reason", "instructions_email")

// createRefund gives money back. Amounts are checked against what is left of the
// charge, in the same critical section that changes it.
func (c *call) createRefund() (any, *apiError) {
	r := &c.reader
	amount, sent := r.int("amount")
	reason := r.oneOf("reason", "duplicate", "fraudulent", "requested_by_customer")
	metadata := r.metadata(nil)
	if sent && r.err == nil && amount < 1 {
		r.fail(badInteger("amount", "Invalid positive integer"))
	}
	if r.err != nil {
		return nil, r.err
	}
	stored, err := c.chargeToRefund()
	if err != nil {
		return nil, err
	}
	left := stored.AmountCaptured - stored.AmountRefunded
	switch {
	case !stored.Paid || !stored.Captured && !stored.Refunded:
		return nil, refused("", "", "This charge has not been captured, so it cannot be refunded. Cancel its PaymentIntent instead.")
	case left <= 0:
		return nil, refused("charge_already_refunded", "", "Charge "+stored.ID+" has already been refunded.")
	case stored.Disputed:
		return nil, refused("charge_disputed", "", "Charge "+stored.ID+" has been charged back; cannot issue a refund.")
	case amount > left:
		return nil, refused("", "amount", "Refund amount ("+formatMoney(amount, stored.Currency)+") is greater than unrefunded amount on charge ("+formatMoney(left, stored.Currency)+")")
	case !sent:
		amount = left
	}
	ch := *stored
	ch.AmountRefunded += amount
	ch.Refunded = ch.AmountRefunded == ch.AmountCaptured
	f := &refund{Refund{ID: c.srv.ids.id("re_3", 23), Object: "refund", Amount: amount, Charge: ch.ID, Created: c.now,
		Currency: ch.Currency, Metadata: metadata, PaymentIntent: optional(ch.PaymentIntent), Reason: optional(reason), Status: "succeeded",
		DestinationDetails: destinationDetails{Type: "card", Card: destinationCard{ReferenceStatus: "pending",
			ReferenceType: "acquirer_reference_number", Type: "refund"}}}}
	f.BalanceTransaction = c.book(-amount, ch.Currency, "refund", f.ID, true)
	c.put(f)
	c.put(&ch)
	c.emit("charge.refunded", &ch)
	c.emit("refund.created", f)
	c.emit("charge.refund.updated", f)
	return &f.Refund, nil
}

// chargeToRefund finds the charge by its id or by its PaymentIntent.
func (c *call) chargeToRefund() (*charge, *apiError) {
	chargeID, intentID := c.reader.str("charge"), c.reader.str("payment_intent")
	switch {
	case chargeID == "" && intentID == "":
		return nil, invalid("", "One of the following params should be provided for this request: payment_intent or charge.")
	case chargeID != "":
		ch := c.acct.charges.get(chargeID)
		if ch == nil {
			return nil, noSuch("charge", chargeID)
		}
		if intentID != "" && ch.PaymentIntent != intentID {
			return nil, refused("", "", "Charge "+chargeID+" does not belong to PaymentIntent "+intentID+".")
		}
		return ch, nil
	}
	pi := c.acct.intents.get(intentID)
	if pi == nil {
		return nil, noSuch("payment_intent", intentID)
	}
	if pi.LatestCharge == nil || pi.Status != succeeded && pi.Status != needsCapture {
		return nil, refused("", "", "This PaymentIntent ("+intentID+") does not have a successful charge to refund.")
	}
	return c.acct.charges.get(*pi.LatestCharge), nil
}

func (c *call) updateRefund() (any, *apiError) {
	stored := c.acct.refunds.get(c.id)
	if stored == nil {
		return nil, noSuch("refund", c.id)
	}
	next := *stored
	next.Metadata = c.reader.metadata(next.Metadata)
	if c.reader.err != nil {
		return nil, c.reader.err
	}
	c.put(&next)
	c.emit("charge.refund.updated", &next)
	return &next.Refund, nil
}

func (c *call) listRefunds() (any, *apiError) {
	ch, pi := c.reader.str("charge"), c.reader.str("payment_intent")
	return listOf(c, &c.acct.refunds, "refund", func(f *refund) bool { return same(ch, f.Charge) && same(pi, deref(f.PaymentIntent)) })
}

func (c *call) listCharges() (any, *apiError) {
	pi, customer := c.reader.str("payment_intent"), c.reader.str("customer")
	return listOf(c, &c.acct.charges, "charge", func(ch *charge) bool { return same(pi, ch.PaymentIntent) && same(customer, deref(ch.Customer)) })
}
