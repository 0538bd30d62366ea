package stripesim

// outcome is what the issuer says when a card is charged.
type outcome struct {
	code, decline string // empty code: approved
	advice, param string
	message       string
}

var approved = outcome{}

const (
	msgDeclined     = "Your card was declined."
	msgInsufficient = "Your card has insufficient funds."
	msgExpired      = "Your card has expired."
	msgCVC          = "Your card's security code is incorrect."
	msgProcessing   = "An error occurred while processing your card. Try again in a little bit."
	msgVelocity     = "Your card was declined for making repeated attempts too frequently or exceeding its amount limit."
)

func declinedAs(decline, advice, message string) outcome {
	return outcome{code: "card_declined", decline: decline, advice: advice, message: message}
}

// authentication says when a card asks for 3-D Secure.
type authentication int

const (
	authNever        authentication = iota
	authAlways                      // every payment
	authUnlessSetUp                 // unless saved for off-session use before
	authOptional                    // supported, not asked for
	authNotSupported                // the card cannot do it
)

// testCard is one of Stripe's documented test cards.
type testCard struct {
	token   string // pm_card_…
	number  string
	brand   string
	outcome outcome
	auth    authentication
	dispute string // reason of the dispute the charge will get
	funding string
	instant bool // funds are available at once
}

// testCards follow the recorded table; lists that circulate elsewhere disagree on
// several numbers.
var testCards = []testCard{
	{token: "pm_card_visa", number: "4242424242424242", brand: "visa"},
	{token: "pm_card_visa_debit", number: "4000056655665556", brand: "visa", funding: "debit"},
	{token: "pm_card_mastercard", number: "5555555555554444", brand: "mastercard"},
	{token: "pm_card_mastercard_debit", number: "5200828282828210", brand: "mastercard", funding: "debit"},
	{token: "pm_card_amex", number: "378282246310005", brand: "amex"},
	{token: "pm_card_discover", number: "6011111111111117", brand: "discover"},
	{token: "pm_card_diners", number: "3056930009020004", brand: "diners"},
	{token: "pm_card_jcb", number: "3566002020360505", brand: "jcb"},
	{token: "pm_card_unionpay", number: "6200000000000005", brand: "unionpay"},
	{token: "pm_card_visa_chargeDeclined", number: "4000000000000002", brand: "visa", outcome: declinedAs("generic_decline", "try_again_later", msgDeclined)},
	{token: "pm_card_visa_chargeDeclinedInsufficientFunds", number: "4000000000009995", brand: "visa", outcome: declinedAs("insufficient_funds", "try_again_later", msgInsufficient)},
	{token: "pm_card_visa_chargeDeclinedLostCard", number: "4000000000009987", brand: "visa", outcome: declinedAs("lost_card", "do_not_try_again", msgDeclined)},
	{token: "pm_card_visa_chargeDeclinedStolenCard", number: "4000000000009979", brand: "visa", outcome: declinedAs("stolen_card", "do_not_try_again", msgDeclined)},
	{token: "pm_card_chargeDeclinedExpiredCard", number: "4000000000000069", brand: "visa", outcome: outcome{"expired_card", "expired_card", "confirm_card_data", "exp_month", msgExpired}},
	{token: "pm_card_chargeDeclinedIncorrectCvc", number: "4000000000000127", brand: "visa", outcome: outcome{"incorrect_cvc", "incorrect_cvc", "confirm_card_data", "cvc", msgCVC}},
	{token: "pm_card_chargeDeclinedProcessingError", number: "4000000000000119", brand: "visa", outcome: outcome{"processing_error", "processing_error", "try_again_later", "", msgProcessing}},
	{token: "pm_card_chargeDeclinedFraudulent", number: "4100000000000019", brand: "visa", outcome: declinedAs("fraudulent", "", msgDeclined)},
	{token: "pm_card_visa_chargeDeclinedVelocityLimitExceeded", number: "4000000000006975", brand: "visa", outcome: declinedAs("card_velocity_exceeded", "", msgVelocity)},
	{token: "pm_card_chargeCustomerFail", number: "4000000000000341", brand: "visa", outcome: declinedAs("generic_decline", "try_again_later", msgDeclined)},
	{token: "pm_card_createDispute", number: "4000000000000259", brand: "visa", dispute: "fraudulent"},
	{token: "pm_card_threeDSecure2Required", number: "4000000000003220", brand: "visa", auth: authAlways},
	{token: "pm_card_threeDSecureRequired", number: "4000002760003184", brand: "visa", auth: authAlways},
	{token: "pm_card_authenticationRequiredOnSetup", number: "4000002500003155", brand: "visa", auth: authUnlessSetUp},
	{token: "pm_card_threeDSecureRequiredChargeDeclined", number: "4000008400001629", brand: "visa", auth: authAlways, outcome: declinedAs("generic_decline", "try_again_later", msgDeclined)},
	{token: "pm_card_threeDSecureOptional", number: "4000000000003055", brand: "visa", auth: authOptional},
	{token: "pm_card_amex_threeDSecureNotSupported", number: "378282246310005", brand: "amex", auth: authNotSupported},
	{token: "pm_card_bypassPending", number: "4000000000000077", brand: "visa", instant: true},
}

var (
	cardsByToken  = map[string]*testCard{}
	cardsByNumber = map[string]*testCard{}
)

func init() {
	for i := range testCards {
		c := &testCards[i]
		if c.funding == "" {
			c.funding = "credit"
		}
		cardsByToken[c.token] = c
		if cardsByNumber[c.number] == nil {
			cardsByNumber[c.number] = c
		}
	}
}
