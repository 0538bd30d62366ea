package stripesim

// evidenceTime is how long a merchant has to answer a dispute, in seconds.
const evidenceTime = 7 * 24 * 60 * 60

// Dispute as API 2023-10-16 shows it.
type Dispute struct {
	ID                   string               `json:"id"`
	Object               string               `json:"object"`
	Amount               int64                `json:"amount"`
	BalanceTransactions  []BalanceTransaction `json:"balance_transactions"`
	Charge               string               `json:"charge"`
	Created              int64                `json:"created"`
	Currency             string               `json:"currency"`
	Evidence             map[string]string    `json:"evidence"`
	EvidenceDetails      evidenceDetails      `json:"evidence_details"`
	IsChargeRefundable   bool                 `json:"is_charge_refundable"`
	Livemode             bool                 `json:"livemode"`
	Metadata             map[string]string    `json:"metadata"`
	PaymentIntent        string               `json:"payment_intent"`
	PaymentMethodDetails disputeMethod        `json:"payment_method_details"`
	Reason               string               `json:"reason"`
	Status               string               `json:"status"`
}

type evidenceDetails struct {
	DueBy           int64 `json:"due_by"`
	HasEvidence     bool  `json:"has_evidence"`
	PastDue         bool  `json:"past_due"`
	SubmissionCount int64 `json:"submission_count"`
}

type disputeMethod struct {
	Card disputeCard `json:"card"`
	Type string      `json:"type"`
}

type disputeCard struct {
	Brand             string  `json:"brand"`
	NetworkReasonCode *string `json:"network_reason_code"`
}

type dispute struct{ Dispute }

func (d *dispute) id() string   { return d.ID }
func (d *dispute) born() int64  { return d.Created }
func (d *dispute) kind() string { return kindDispute }
func (d *dispute) wire() any    { return &d.Dispute }

// openDispute disputes a captured charge if its card is one that does so.
func (c *call) openDispute(stored *charge, card *testCard) {
	if card.dispute == "" {
		return
	}
	ch := *stored
	ch.Disputed = true
	d := &dispute{Dispute{ID: c.srv.ids.id("du_1", 23), Object: "dispute", Amount: ch.AmountCaptured, Charge: ch.ID, Created: c.now,
		Currency: ch.Currency, Evidence: map[string]string{}, EvidenceDetails: evidenceDetails{DueBy: c.now + evidenceTime},
		Metadata: map[string]string{}, PaymentIntent: ch.PaymentIntent, Reason: card.dispute, Status: "needs_response",
		PaymentMethodDetails: disputeMethod{Type: "card", Card: disputeCard{Brand: ch.PaymentMethodDetails.Card.Brand, NetworkReasonCode: ptr("10.4")}}}}
	id := c.book(-d.Amount, d.Currency, "adjustment", d.ID, true)
	d.BalanceTransactions = []BalanceTransaction{c.acct.txns.get(*id).BalanceTransaction}
	c.put(&ch)
	c.put(d)
	c.emit("charge.dispute.created", d)
	c.emit("charge.dispute.funds_withdrawn", d)
}

func (c *call) listDisputes() (any, *apiError) {
	ch, pi := c.reader.str("charge"), c.reader.str("payment_intent")
	return listOf(c, &c.acct.disputes, "dispute", func(d *dispute) bool { return same(ch, d.Charge) && same(pi, d.PaymentIntent) })
}

// closeDispute accepts a dispute: it is lost.
func (c *call) closeDispute() (any, *apiError) {
	stored := c.acct.disputes.get(c.id)
	if stored == nil {
		return nil, noSuch("dispute", c.id)
	}
	if stored.Status == "lost" || stored.Status == "won" {
		return nil, refused("", "", "This dispute is already closed.")
	}
	next := *stored
	next.Status = "lost"
	c.put(&next)
	c.emit("charge.dispute.closed", &next)
	return &next.Dispute, nil
}
