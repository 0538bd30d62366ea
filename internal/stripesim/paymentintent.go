package stripesim

import "time"

// authorizationLife is how long an uncaptured payment is held before it is
// cancelled on its own.
const authorizationLife = 7 * 24 * time.Hour

// PaymentIntent as API 2023-10-16 shows it.
type PaymentIntent struct {
	ID                        string            `json:"id"`
	Object                    string            `json:"object"`
	Amount                    int64             `json:"amount"`
	AmountCapturable          int64             `json:"amount_capturable"`
	AmountDetails             amountDetails     `json:"amount_details"`
	AmountReceived            int64             `json:"amount_received"`
	Application               *string           `json:"application"`
	ApplicationFeeAmount      *int64            `json:"application_fee_amount"`
	AutomaticPaymentMethods   *automaticMethods `json:"automatic_payment_methods"`
	CanceledAt                *int64            `json:"canceled_at"`
	CancellationReason        *string           `json:"cancellation_reason"`
	CaptureMethod             string            `json:"capture_method"`
	ClientSecret              string            `json:"client_secret"`
	ConfirmationMethod        string            `json:"confirmation_method"`
	Created                   int64             `json:"created"`
	Currency                  string            `json:"currency"`
	Customer                  *string           `json:"customer"`
	Description               *string           `json:"description"`
	Invoice                   *string           `json:"invoice"`
	LastPaymentError          *apiError         `json:"last_payment_error"`
	LatestCharge              *string           `json:"latest_charge"`
	Livemode                  bool              `json:"livemode"`
	Metadata                  map[string]string `json:"metadata"`
	NextAction                *nextAction       `json:"next_action"`
	OnBehalfOf                *string           `json:"on_behalf_of"`
	PaymentMethod             *string           `json:"payment_method"`
	PaymentMethodConfig       *struct{}         `json:"payment_method_configuration_details"`
	PaymentMethodOptions      methodOptions     `json:"payment_method_options"`
	PaymentMethodTypes        []string          `json:"payment_method_types"`
	Processing                *struct{}         `json:"processing"`
	ReceiptEmail              *string           `json:"receipt_email"`
	Review                    *string           `json:"review"`
	SetupFutureUsage          *string           `json:"setup_future_usage"`
	Shipping                  *shipping         `json:"shipping"`
	Source                    *string           `json:"source"`
	StatementDescriptor       *string           `json:"statement_descriptor"`
	StatementDescriptorSuffix *string           `json:"statement_descriptor_suffix"`
	Status                    string            `json:"status"`
	TransferData              *struct{}         `json:"transfer_data"`
	TransferGroup             *string           `json:"transfer_group"`
}

type amountDetails struct {
	Tip struct{} `json:"tip"`
}

type automaticMethods struct {
	AllowRedirects string `json:"allow_redirects"`
	Enabled        bool   `json:"enabled"`
}

type methodOptions struct {
	Card cardOptions `json:"card"`
}

type cardOptions struct {
	Installments        *struct{} `json:"installments"`
	MandateOptions      *struct{} `json:"mandate_options"`
	Network             *string   `json:"network"`
	RequestThreeDSecure string    `json:"request_three_d_secure"`
}

type shipping struct {
	Address        address `json:"address"`
	Carrier        *string `json:"carrier"`
	Name           *string `json:"name"`
	Phone          *string `json:"phone"`
	TrackingNumber *string `json:"tracking_number"`
}

// nextAction is what the customer must do; its type decides which member is set.
type nextAction struct {
	RedirectToURL *redirectAction `json:"redirect_to_url,omitempty"`
	Type          string          `json:"type"`
	UseStripeSDK  *sdkAction      `json:"use_stripe_sdk,omitempty"`
}

type redirectAction struct {
	ReturnURL string `json:"return_url"`
	URL       string `json:"url"`
}

// sdkAction is content for Stripe.js only.
type sdkAction struct {
	Source string `json:"source"`
	JS     string `json:"stripe_js"`
	Type   string `json:"type"`
}

// intent is a stored PaymentIntent: what the API shows and what Stripe knows besides.
type intent struct {
	PaymentIntent
	Sim intentSim `json:"_sim"`
}

type intentSim struct {
	ReturnURL     string `json:"return_url,omitempty"`
	Authenticated string `json:"authenticated,omitempty"` // payment method that passed 3-D Secure
	Confirmations int    `json:"confirmations,omitempty"`
	CaptureBefore int64  `json:"capture_before,omitempty"`
}

func (pi *intent) id() string   { return pi.ID }
func (pi *intent) born() int64  { return pi.Created }
func (pi *intent) kind() string { return kindIntent }
func (pi *intent) wire() any    { return &pi.PaymentIntent }

// edit returns a copy to change; stored versions are never modified, so events
// and answers may keep pointing at them.
func (pi *intent) edit() *intent {
	next := *pi
	return &next
}

// returnURLRequired tells whether redirecting payment methods are possible, in
// which case a confirmation needs somewhere to come back to.
func (pi *intent) returnURLRequired() bool {
	a := pi.AutomaticPaymentMethods
	return a != nil && a.Enabled && a.AllowRedirects != "never"
}

// publicIntent is the subset of fields a publishable key may see.
type publicIntent struct {
	ID                      string            `json:"id"`
	Object                  string            `json:"object"`
	Amount                  int64             `json:"amount"`
	AmountDetails           amountDetails     `json:"amount_details"`
	AutomaticPaymentMethods *automaticMethods `json:"automatic_payment_methods"`
	CanceledAt              *int64            `json:"canceled_at"`
	CancellationReason      *string           `json:"cancellation_reason"`
	CaptureMethod           string            `json:"capture_method"`
	ClientSecret            string            `json:"client_secret"`
	ConfirmationMethod      string            `json:"confirmation_method"`
	Created                 int64             `json:"created"`
	Currency                string            `json:"currency"`
	Description             *string           `json:"description"`
	LastPaymentError        *apiError         `json:"last_payment_error"`
	Livemode                bool              `json:"livemode"`
	NextAction              *nextAction       `json:"next_action"`
	PaymentMethod           *string           `json:"payment_method"`
	PaymentMethodTypes      []string          `json:"payment_method_types"`
	Processing              *struct{}         `json:"processing"`
	ReceiptEmail            *string           `json:"receipt_email"`
	SetupFutureUsage        *string           `json:"setup_future_usage"`
	Shipping                *shipping         `json:"shipping"`
	Source                  *string           `json:"source"`
	Status                  string            `json:"status"`
}

func (pi *intent) public() *publicIntent {
	return &publicIntent{ID: pi.ID, Object: pi.Object, Amount: pi.Amount, AmountDetails: pi.AmountDetails,
		AutomaticPaymentMethods: pi.AutomaticPaymentMethods, CanceledAt: pi.CanceledAt,
		CancellationReason: pi.CancellationReason, CaptureMethod: pi.CaptureMethod, ClientSecret: pi.ClientSecret,
		ConfirmationMethod: pi.ConfirmationMethod, Created: pi.Created, Currency: pi.Currency,
		Description: pi.Description, LastPaymentError: pi.LastPaymentError, Livemode: pi.Livemode,
		NextAction: pi.NextAction, PaymentMethod: pi.PaymentMethod, PaymentMethodTypes: pi.PaymentMethodTypes,
		Processing: pi.Processing, ReceiptEmail: pi.ReceiptEmail, SetupFutureUsage: pi.SetupFutureUsage,
		Shipping: pi.Shipping, Source: pi.Source, Status: pi.Status}
}
