package stripesim

// Charge is one attempt to take money, as API 2023-10-16 shows it.
type Charge struct {
	ID                            string               `json:"id"`
	Object                        string               `json:"object"`
	Amount                        int64                `json:"amount"`
	AmountCaptured                int64                `json:"amount_captured"`
	AmountRefunded                int64                `json:"amount_refunded"`
	Application                   *string              `json:"application"`
	ApplicationFee                *string              `json:"application_fee"`
	ApplicationFeeAmount          *int64               `json:"application_fee_amount"`
	BalanceTransaction            *string              `json:"balance_transaction"`
	BillingDetails                billingDetails       `json:"billing_details"`
	CalculatedStatementDescriptor *string              `json:"calculated_statement_descriptor"`
	Captured                      bool                 `json:"captured"`
	Created                       int64                `json:"created"`
	Currency                      string               `json:"currency"`
	Customer                      *string              `json:"customer"`
	Description                   *string              `json:"description"`
	Disputed                      bool                 `json:"disputed"`
	FailureBalanceTransaction     *string              `json:"failure_balance_transaction"`
	FailureCode                   *string              `json:"failure_code"`
	FailureMessage                *string              `json:"failure_message"`
	FraudDetails                  struct{}             `json:"fraud_details"`
	Invoice                       *string              `json:"invoice"`
	Livemode                      bool                 `json:"livemode"`
	Metadata                      map[string]string    `json:"metadata"`
	OnBehalfOf                    *string              `json:"on_behalf_of"`
	Outcome                       chargeOutcome        `json:"outcome"`
	Paid                          bool                 `json:"paid"`
	PaymentIntent                 string               `json:"payment_intent"`
	PaymentMethod                 string               `json:"payment_method"`
	PaymentMethodDetails          paymentMethodDetails `json:"payment_method_details"`
	ReceiptEmail                  *string              `json:"receipt_email"`
	ReceiptNumber                 *string              `json:"receipt_number"`
	ReceiptURL                    *string              `json:"receipt_url"`
	Refunded                      bool                 `json:"refunded"`
	Review                        *string              `json:"review"`
	Shipping                      *shipping            `json:"shipping"`
	Source                        *struct{}            `json:"source"`
	SourceTransfer                *string              `json:"source_transfer"`
	StatementDescriptor           *string              `json:"statement_descriptor"`
	StatementDescriptorSuffix     *string              `json:"statement_descriptor_suffix"`
	Status                        string               `json:"status"`
	TransferData                  *struct{}            `json:"transfer_data"`
	TransferGroup                 *string              `json:"transfer_group"`
}

type chargeOutcome struct {
	NetworkStatus string  `json:"network_status"`
	Reason        *string `json:"reason"`
	RiskLevel     string  `json:"risk_level"`
	RiskScore     int64   `json:"risk_score"`
	SellerMessage string  `json:"seller_message"`
	Type          string  `json:"type"`
}

type paymentMethodDetails struct {
	Card chargeCard `json:"card"`
	Type string     `json:"type"`
}

type chargeCard struct {
	AmountAuthorized *int64        `json:"amount_authorized"`
	Brand            string        `json:"brand"`
	CaptureBefore    *int64        `json:"capture_before,omitempty"`
	Checks           cardChecks    `json:"checks"`
	Country          string        `json:"country"`
	ExpMonth         int64         `json:"exp_month"`
	ExpYear          int64         `json:"exp_year"`
	Fingerprint      string        `json:"fingerprint"`
	Funding          string        `json:"funding"`
	Installments     *struct{}     `json:"installments"`
	Last4            string        `json:"last4"`
	Mandate          *string       `json:"mandate"`
	Network          string        `json:"network"`
	ThreeDSecure     *threeDSecure `json:"three_d_secure"`
	Wallet           *struct{}     `json:"wallet"`
}

type threeDSecure struct {
	AuthenticationFlow *string `json:"authentication_flow"`
	Result             string  `json:"result"`
	ResultReason       *string `json:"result_reason"`
	Version            string  `json:"version"`
}

// charge is a stored charge.
type charge struct{ Charge }

func (ch *charge) id() string   { return ch.ID }
func (ch *charge) born() int64  { return ch.Created }
func (ch *charge) kind() string { return kindCharge }
func (ch *charge) wire() any    { return &ch.Charge }
