package stripesim

// PaymentMethod is the card as the API shows it (the card part of API 2023-10-16).
type PaymentMethod struct {
	ID             string            `json:"id"`
	Object         string            `json:"object"`
	BillingDetails billingDetails    `json:"billing_details"`
	Card           pmCard            `json:"card"`
	Created        int64             `json:"created"`
	Customer       *string           `json:"customer"`
	Livemode       bool              `json:"livemode"`
	Metadata       map[string]string `json:"metadata"`
	Type           string            `json:"type"`
}

type address struct {
	City       *string `json:"city"`
	Country    *string `json:"country"`
	Line1      *string `json:"line1"`
	Line2      *string `json:"line2"`
	PostalCode *string `json:"postal_code"`
	State      *string `json:"state"`
}

type billingDetails struct {
	Address address `json:"address"`
	Email   *string `json:"email"`
	Name    *string `json:"name"`
	Phone   *string `json:"phone"`
}

type pmCard struct {
	Brand             string       `json:"brand"`
	Checks            cardChecks   `json:"checks"`
	Country           string       `json:"country"`
	ExpMonth          int64        `json:"exp_month"`
	ExpYear           int64        `json:"exp_year"`
	Fingerprint       string       `json:"fingerprint"`
	Funding           string       `json:"funding"`
	Last4             string       `json:"last4"`
	Networks          cardNetworks `json:"networks"`
	ThreeDSecureUsage cardUsage    `json:"three_d_secure_usage"`
	Wallet            *struct{}    `json:"wallet"`
}

type cardChecks struct {
	AddressLine1Check      *string `json:"address_line1_check"`
	AddressPostalCodeCheck *string `json:"address_postal_code_check"`
	CVCCheck               *string `json:"cvc_check"`
}

type cardNetworks struct {
	Available []string `json:"available"`
	Preferred *string  `json:"preferred"`
}

type cardUsage struct {
	Supported bool `json:"supported"`
}

// method is a stored payment method: what the API shows and how the card behaves.
type method struct {
	PaymentMethod
	Sim methodSim `json:"_sim"`
}

type methodSim struct {
	CardToken string `json:"card"`               // key into cardsByToken
	SetUp     bool   `json:"set_up,omitempty"`   // saved for off-session use
	Spent     bool   `json:"spent,omitempty"`    // used without a customer: cannot be attached or used again
	Detached  bool   `json:"detached,omitempty"` // gone for good
}

func (m *method) id() string      { return m.ID }
func (m *method) born() int64     { return m.Created }
func (m *method) kind() string    { return kindMethod }
func (m *method) wire() any       { return &m.PaymentMethod }
func (m *method) card() *testCard { return cardsByToken[m.Sim.CardToken] }

// newMethod makes a payment method for a test card. Every use of a pm_card_…
// token makes a new one.
func (c *call) newMethod(card *testCard, month, year int64) *method {
	return &method{
		PaymentMethod: PaymentMethod{
			ID: c.srv.ids.id("pm_1", 23), Object: "payment_method", Created: c.now, Type: "card",
			Metadata: map[string]string{},
			Card: pmCard{
				Brand: card.brand, Checks: cardChecks{CVCCheck: ptr("pass")}, Country: "US",
				ExpMonth: month, ExpYear: year, Fingerprint: cardFingerprint(card.number), Funding: card.funding,
				Last4:             card.number[len(card.number)-4:],
				Networks:          cardNetworks{Available: []string{card.brand}},
				ThreeDSecureUsage: cardUsage{Supported: card.auth != authNotSupported},
			},
		},
		Sim: methodSim{CardToken: card.token},
	}
}

// ptr returns a pointer to s; the API shows an absent string as null.
func ptr(s string) *string { return &s }

// optional is ptr for values where empty means absent.
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
