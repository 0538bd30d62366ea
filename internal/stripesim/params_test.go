package stripesim_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"shop/internal/stripesim"
)

func emptyString(name string) string {
	return "You passed an empty string for '" + name + "'. We assume empty values are an attempt to unset a parameter; however '" + name + "' cannot be unset. You should remove '" + name + "' from your request or supply a non-empty value."
}

// wrong is a request with one thing wrong and its exact refusal. Names in braces
// are objects of the world.
type wrong struct {
	ask     string // method and path; after "stored " the refusal is one by business logic, kept under the key
	form    string
	status  int
	code    string
	param   string
	message string
}

const generallyUnsafe = "Sending credit card numbers directly to the Stripe API is generally unsafe. To continue processing use Stripe.js, the Stripe mobile bindings, or Stripe Elements. For more information, see https://dashboard.stripe.com/account/integration/settings. If you are qualified to handle card data directly, see https://support.stripe.com/questions/enabling-access-to-raw-card-data-apis."

const (
	missing  = "parameter_missing"
	integer  = "parameter_invalid_integer"
	tooLong  = "parameter_invalid_string_too_long"
	none     = "resource_missing"
	onCreate = "POST /v1/payment_intents"
	onUpdate = "POST /v1/payment_intents/{intent}"
	onPay    = "POST /v1/payment_intents/{intent}/confirm"
	onTake   = "POST /v1/payment_intents/{hold}/capture"
	onRefund = "POST /v1/refunds"
)

var x501 = strings.Repeat("x", 501)

var wrongs = []wrong{
	// What is missing.
	{onCreate, "currency=usd", 400, missing, "amount", "Missing required param: amount."},
	{onCreate, "amount=100", 400, missing, "currency", "Missing required param: currency."},
	{onCreate, "", 400, missing, "amount", "Missing required param: amount."},
	{onCreate, cardOnly[:24] + "&automatic_payment_methods[allow_redirects]=never", 400, missing, "automatic_payment_methods[enabled]", "Missing required param: automatic_payment_methods[enabled]."},
	{onCreate, cardOnly + "&payment_method_data[card][number]=4242424242424242", 400, missing, "payment_method_data[type]", "Missing required param: payment_method_data[type]."},
	{onCreate, cardOnly + "&payment_method_data[type]=card", 400, missing, "payment_method_data[card][number]", "Missing required param: payment_method_data[card][number]."},
	{onRefund, "", 400, "", "", "One of the following params should be provided for this request: payment_intent or charge."},
	{onRefund, "amount=100", 400, "", "", "One of the following params should be provided for this request: payment_intent or charge."},
	{"POST /v1/payment_methods", "", 400, missing, "type", "Missing required param: type."},
	{"POST /v1/payment_methods", "type=card", 400, missing, "card[number]", "Missing required param: card[number]."},
	{"POST /v1/payment_methods", "type=card&card[number]=4242424242424242", 400, missing, "card[exp_month]", "Missing required param: card[exp_month]."},
	{"POST /v1/payment_methods", "type=card&card[number]=4242424242424242&card[exp_month]=1", 400, missing, "card[exp_year]", "Missing required param: card[exp_year]."},
	{"POST /v1/payment_methods/{loose}/attach", "", 400, missing, "customer", "Missing required param: customer."},
	{"POST /v1/confirmation_tokens", "", 400, missing, "payment_method_data", "Missing required param: payment_method_data."},
	{"POST /v1/test_helpers/confirmation_tokens", "return_url=https://a.example", 400, missing, "payment_method_data", "Missing required param: payment_method_data."},
	{"POST /v1/webhook_endpoints", "enabled_events[]=*", 400, missing, "url", "Missing required param: url."},
	{"POST /v1/webhook_endpoints", "url=https://a.example", 400, missing, "enabled_events", "Missing required param: enabled_events."},
	{"GET /v1/payment_intents/search", "", 400, missing, "query", "Missing required param: query."},
	{"GET /v1/payment_intents/search", "limit=1", 400, missing, "query", "Missing required param: query."},

	// What is empty where it cannot be.
	{onCreate, "amount=&currency=usd", 400, "parameter_invalid_empty", "amount", emptyString("amount")},
	{onCreate, "amount=100&currency=", 400, "parameter_invalid_empty", "currency", emptyString("currency")},
	{"POST /v1/payment_methods", "type=", 400, "parameter_invalid_empty", "type", emptyString("type")},
	{"POST /v1/payment_methods/{loose}/attach", "customer=", 400, "parameter_invalid_empty", "customer", emptyString("customer")},
	{"POST /v1/webhook_endpoints", "url=&enabled_events[]=*", 400, "parameter_invalid_empty", "url", emptyString("url")},
	{"GET /v1/payment_intents/search", "query=", 400, "parameter_invalid_empty", "query", emptyString("query")},

	// What is no integer.
	{onCreate, "amount=25.00&currency=usd", 400, integer, "amount", "Invalid integer: 25.00"},
	{onCreate, "amount=abc&currency=usd", 400, integer, "amount", "Invalid integer: abc"},
	{onCreate, "amount=1e3&currency=usd", 400, integer, "amount", "Invalid integer: 1e3"},
	{onCreate, "amount=0x10&currency=usd", 400, integer, "amount", "Invalid integer: 0x10"},
	{onCreate, "amount=1_000&currency=usd", 400, integer, "amount", "Invalid integer: 1_000"},
	{onCreate, "amount=1,000&currency=usd", 400, integer, "amount", "Invalid integer: 1,000"},
	{onCreate, "amount=+&currency=usd", 400, integer, "amount", "Invalid integer:  "},
	{onCreate, "amount=99999999999999999999&currency=usd", 400, integer, "amount", "Invalid integer: 99999999999999999999"},
	{onUpdate, "amount=2.5", 400, integer, "amount", "Invalid integer: 2.5"},
	{onTake, "amount_to_capture=ten", 400, integer, "amount_to_capture", "Invalid integer: ten"},
	{onTake, "amount_to_capture=0", 400, integer, "amount_to_capture", "This value must be greater than or equal to 1."},
	{onTake, "amount_to_capture=-1", 400, integer, "amount_to_capture", "This value must be greater than or equal to 1."},
	{onRefund, "payment_intent={paid}&amount=25.00", 400, integer, "amount", "Invalid integer: 25.00"},
	{onRefund, "payment_intent={paid}&amount=0", 400, integer, "amount", "Invalid positive integer"},
	{onRefund, "payment_intent={paid}&amount=-100", 400, integer, "amount", "Invalid positive integer"},
	{onRefund, "payment_intent={paid}&amount=", 400, integer, "amount", "Invalid integer: "},
	{"POST /v1/payment_methods", "type=card&card[number]=4242424242424242&card[exp_month]=May&card[exp_year]=2040", 400, integer, "card[exp_month]", "Invalid integer: May"},
	{"POST /v1/payment_methods", "type=card&card[number]=4242424242424242&card[exp_month]=5&card[exp_year]=soon", 400, integer, "card[exp_year]", "Invalid integer: soon"},
	{"GET /v1/payment_intents", "created[gte]=yesterday", 400, integer, "created[gte]", "Invalid integer: yesterday"},
	{"GET /v1/charges", "created=now", 400, integer, "created", "Invalid integer: now"},
	{"GET /v1/events", "created[lt]=", 400, integer, "created[lt]", "Invalid integer: "},
	{"GET /v1/payment_intents/search", "query=status:%27x%27&limit=0", 400, integer, "limit", "This value must be between 1 and 100."},
	{"GET /v1/payment_intents/search", "query=status:%27x%27&limit=101", 400, integer, "limit", "This value must be between 1 and 100."},
	{"GET /v1/payment_intents/search", "query=status:%27x%27&page=two", 400, "", "page", "Invalid page token."},

	// What is too small, too large or in no currency.
	{onCreate, "amount=0&currency=usd", 400, integer, "amount", "This value must be greater than or equal to 1."},
	{onCreate, "amount=-1&currency=usd", 400, integer, "amount", "Invalid positive integer"},
	{onCreate, "amount=49&currency=usd", 400, "amount_too_small", "amount", "Amount must be at least $0.50 usd"},
	{onCreate, "amount=100000000&currency=usd", 400, "amount_too_large", "amount", "Amount must be no more than $999,999.99"},
	{onCreate, "amount=9223372036854775807&currency=usd", 400, "amount_too_large", "amount", "Amount must be no more than $999,999.99"},
	{onUpdate, "amount=49", 400, "amount_too_small", "amount", "Amount must be at least $0.50 usd"},
	{onUpdate, "amount=100000000", 400, "amount_too_large", "amount", "Amount must be no more than $999,999.99"},
	{onUpdate, "currency=xyz", 400, "", "currency", "Invalid currency: xyz. Stripe currently supports these currencies: usd, aed"},
	{onCreate, "amount=100&currency=us", 400, "", "currency", "Invalid currency: us. Stripe currently supports these currencies: usd, aed"},
	{onCreate, "amount=100&currency=BTC", 400, "", "currency", "Invalid currency: btc. Stripe currently supports these currencies: usd, aed"},
	{"stored " + onTake, "amount_to_capture=2501", 400, "amount_too_large", "amount_to_capture", "You cannot capture more than the amount authorized ($25.00)."},

	// What is no boolean or not one of a few.
	{onCreate, cardOnly + "&confirm=1", 400, "", "confirm", "Invalid boolean: 1"},
	{onCreate, cardOnly + "&confirm=True", 400, "", "confirm", "Invalid boolean: True"},
	{onCreate, cardOnly + "&confirm=", 400, "", "confirm", "Invalid boolean: "},
	{onCreate, cardOnly + "&capture_method=later", 400, "", "capture_method", "Invalid capture_method: must be one of automatic, automatic_async, manual"},
	{onCreate, cardOnly + "&confirmation_method=never", 400, "", "confirmation_method", "Invalid confirmation_method: must be one of automatic, manual"},
	{onCreate, cardOnly + "&setup_future_usage=always", 400, "", "setup_future_usage", "Invalid setup_future_usage: must be one of on_session, off_session"},
	{onCreate, cardOnly + "&payment_method_options[card][request_three_d_secure]=maybe", 400, "", "payment_method_options[card][request_three_d_secure]", "Invalid payment_method_options[card][request_three_d_secure]: must be one of automatic, any, challenge"},
	{onCreate, "amount=100&currency=usd&automatic_payment_methods[enabled]=yes", 400, "", "automatic_payment_methods[enabled]", "Invalid boolean: yes"},
	{onCreate, "amount=100&currency=usd&automatic_payment_methods[enabled]=true&automatic_payment_methods[allow_redirects]=some", 400, "", "automatic_payment_methods[allow_redirects]", "Invalid automatic_payment_methods[allow_redirects]: must be one of always, never"},
	{onPay, "off_session=perhaps", 400, "", "off_session", "Invalid off_session: must be one of true, false, one_off, recurring"},
	{onPay, "error_on_requires_action=2", 400, "", "error_on_requires_action", "Invalid boolean: 2"},
	{onPay, "use_stripe_sdk=on", 400, "", "use_stripe_sdk", "Invalid boolean: on"},
	{onPay, "capture_method=x", 400, "", "capture_method", "Invalid capture_method: must be one of automatic, automatic_async, manual"},
	{"POST /v1/payment_intents/{intent}/cancel", "cancellation_reason=boredom", 400, "", "cancellation_reason", "Invalid cancellation_reason: must be one of duplicate, fraudulent, requested_by_customer, abandoned"},
	{"POST /v1/payment_intents/{intent}/cancel", "cancellation_reason=automatic", 400, "", "cancellation_reason", "Invalid cancellation_reason: must be one of duplicate, fraudulent, requested_by_customer, abandoned"},
	{onRefund, "payment_intent={paid}&reason=because", 400, "", "reason", "Invalid reason: must be one of duplicate, fraudulent, requested_by_customer"},
	{"POST /v1/customers", "tax_exempt=yes", 400, "", "tax_exempt", "Invalid tax_exempt: must be one of none, exempt, reverse"},
	{"POST /v1/setup_intents", "usage=twice", 400, "", "usage", "Invalid usage: must be one of off_session, on_session"},
	{"POST /v1/webhook_endpoints/{hook}", "disabled=never", 400, "", "disabled", "Invalid boolean: never"},
	{"POST /v1/payment_methods", "type=sepa_debit", 400, "", "type", "Invalid type: this simulator knows card."},

	// What is a value where an array or hash belongs, or the other way round.
	{onCreate, "amount=100&currency=usd&payment_method_types=card", 400, "", "payment_method_types", "Invalid array"},
	{onCreate, "amount=100&currency=usd&payment_method_types=", 400, "", "payment_method_types", "Invalid array"},
	{onCreate, cardOnly + "&metadata=x", 400, "", "metadata", "Invalid object"},
	{onCreate, cardOnly + "&automatic_payment_methods=true", 400, "", "automatic_payment_methods", "Invalid object"},
	{onCreate, cardOnly + "&expand=customer", 400, "", "expand", "Invalid array"},
	{onCreate, cardOnly + "&amount[a]=1", 400, "parameter_unknown", "amount[a]", "Received unknown parameter: amount[a]"},
	{onCreate, cardOnly + "&currency[]=usd", 400, "parameter_unknown", "currency[]", "Received unknown parameter: currency[]"},
	{"GET /v1/payment_intents", "created[since]=1", 400, "parameter_unknown", "created[since]", "Received unknown parameter: created[since]"},
	{"POST /v1/webhook_endpoints", "url=https://a.example&enabled_events=*", 400, "", "enabled_events", "Invalid array"},
	{"POST /v1/payment_methods", "type=card&card=4242424242424242", 400, "", "card", "Invalid object"},

	// What is too long or has characters that are not allowed.
	{onCreate, cardOnly + "&description=" + strings.Repeat("d", 1001), 400, tooLong, "description", "Invalid string: must be at most 1000 characters"},
	{onUpdate, "description=" + strings.Repeat("é", 1001), 400, tooLong, "description", "Invalid string: must be at most 1000 characters"},
	{onCreate, cardOnly + "&statement_descriptor_suffix=" + strings.Repeat("S", 23), 400, tooLong, "statement_descriptor_suffix", "Invalid string: must be at most 22 characters"},
	{onCreate, cardOnly + "&statement_descriptor=A%3CB", 400, "", "statement_descriptor", "The statement descriptor contains one or more invalid characters: < > \\ ' \" *"},
	{onCreate, cardOnly + "&statement_descriptor_suffix=A%3EB", 400, "", "statement_descriptor_suffix", "The statement descriptor contains one or more invalid characters: < > \\ ' \" *"},
	{onCreate, cardOnly + "&statement_descriptor_suffix=A%27B", 400, "", "statement_descriptor_suffix", "The statement descriptor contains one or more invalid characters: < > \\ ' \" *"},
	{onCreate, cardOnly + "&statement_descriptor_suffix=A%22B", 400, "", "statement_descriptor_suffix", "The statement descriptor contains one or more invalid characters: < > \\ ' \" *"},
	{onCreate, cardOnly + "&statement_descriptor_suffix=%D0%97%D0%B0%D0%BA%D0%B0%D0%B7", 400, "", "statement_descriptor_suffix", "The statement descriptor must be in Latin characters."},
	{"POST /v1/customers", "email=" + strings.Repeat("e", 513), 400, tooLong, "email", "Invalid string: must be at most 512 characters"},
	{"POST /v1/customers", "name=" + strings.Repeat("n", 257), 400, tooLong, "name", "Invalid string: must be at most 256 characters"},
	{"POST /v1/customers/{customer}", "phone=" + strings.Repeat("1", 21), 400, tooLong, "phone", "Invalid string: must be at most 20 characters"},
	{"POST /v1/webhook_endpoints/{hook}", "description=" + x501, 400, tooLong, "description", "Invalid string: must be at most 500 characters"},

	// Metadata, wherever it is taken.
	{onCreate, cardOnly + "&metadata[" + strings.Repeat("k", 41) + "]=v", 400, "", "metadata", "Invalid key: " + strings.Repeat("k", 41) + " must be a string under 40 characters"},
	{onUpdate, "metadata[k]=" + x501, 400, "", "metadata", "Invalid val: " + x501 + " must be a string under 500 characters"},
	{onTake, "metadata[k]=" + x501, 400, "", "metadata", "Invalid val: " + x501 + " must be a string under 500 characters"},
	{onRefund, "payment_intent={paid}&metadata[k]=" + x501, 400, "", "metadata", "Invalid val: " + x501 + " must be a string under 500 characters"},
	{"POST /v1/refunds/{refund}", "metadata[k]=" + x501, 400, "", "metadata", "Invalid val: " + x501 + " must be a string under 500 characters"},
	{"POST /v1/customers", "metadata[k]=" + x501, 400, "", "metadata", "Invalid val: " + x501 + " must be a string under 500 characters"},
	{"POST /v1/setup_intents", "metadata[k]=" + x501, 400, "", "metadata", "Invalid val: " + x501 + " must be a string under 500 characters"},
	{"POST /v1/webhook_endpoints/{hook}", "metadata[k]=" + x501, 400, "", "metadata", "Invalid val: " + x501 + " must be a string under 500 characters"},
	{"POST /v1/payment_methods", "type=card&card[token]=tok_visa&metadata[k]=" + x501, 400, "", "metadata", "Invalid val: " + x501 + " must be a string under 500 characters"},
	{onCreate, cardOnly + "&metadata[0]=a" + strings.Repeat("&metadata[x]=y", 1) + manyKeys(50), 400, "", "metadata", "You can only have up to 50 metadata keys."},

	{onCreate, cardOnly + "&metadata[a][b]=v", 400, "", "metadata", "Invalid val: metadata[a][b] must be a string under 500 characters"},
	{onCreate, cardOnly + "&metadata[a][]=v", 400, "", "metadata", "Invalid val: metadata[a][] must be a string under 500 characters"},
	{onCreate, cardOnly + "&metadata" + nest(8, "a"), 400, "", "metadata", "Invalid val: metadata[a][a][a][a][a][a][a][a] must be a string under 500 characters"},

	// What names an object that is not there.
	{onCreate, cardOnly + "&customer=cus_none", 400, none, "customer", "No such customer: 'cus_none'"},
	{onCreate, cardOnly + "&payment_method=pm_none", 400, none, "payment_method", "No such PaymentMethod: 'pm_none'"},
	{onCreate, cardOnly + "&payment_method=pm_card_none", 400, none, "payment_method", "No such PaymentMethod test token: 'pm_card_none'"},
	{onCreate, cardOnly + "&confirm=true&confirmation_token=ctoken_none", 404, none, "confirmation_token", "No such confirmation_token: 'ctoken_none'"},
	{onUpdate, "customer=cus_none", 400, none, "customer", "No such customer: 'cus_none'"},
	{onUpdate, "payment_method=pm_none", 400, none, "payment_method", "No such PaymentMethod: 'pm_none'"},
	{onPay, "payment_method=pm_none", 400, none, "payment_method", "No such PaymentMethod: 'pm_none'"},
	{onPay, "confirmation_token=ctoken_none", 404, none, "confirmation_token", "No such confirmation_token: 'ctoken_none'"},
	{onPay, "payment_method_data[type]=card&payment_method_data[card][token]=tok_none", 400, none, "payment_method_data[card][token]", "No such token: 'tok_none'"},
	{onRefund, "charge=ch_none", 404, none, "id", "No such charge: 'ch_none'"},
	{onRefund, "payment_intent=pi_none", 404, none, "id", "No such payment_intent: 'pi_none'"},
	{"POST /v1/payment_methods/{loose}/attach", "customer=cus_none", 400, none, "customer", "No such customer: 'cus_none'"},
	{"POST /v1/setup_intents", "customer=cus_none", 400, none, "customer", "No such customer: 'cus_none'"},
	{"POST /v1/setup_intents/{setup}/confirm", "payment_method=pm_none", 400, none, "payment_method", "No such PaymentMethod: 'pm_none'"},
	{"POST /v1/customers", "payment_method=pm_none", 400, none, "payment_method", "No such PaymentMethod: 'pm_none'"},
	{"POST /v1/customers/{customer}", "invoice_settings[default_payment_method]={loose}", 400, none, "invoice_settings[default_payment_method]", "No such PaymentMethod: '{loose}'"},
	{"POST /v1/test_helpers/confirmation_tokens", "payment_method=pm_none", 400, none, "payment_method", "No such PaymentMethod: 'pm_none'"},

	// What cannot be together, or only in other company.
	{onCreate, cardOnly + "&automatic_payment_methods[enabled]=true", 400, "", "", "You may only specify one of these parameters: automatic_payment_methods, payment_method_types."},
	{onCreate, cardOnly + "&return_url=https://a.example", 400, "", "return_url", "You can only provide `return_url` when `confirm` is true."},
	{onCreate, cardOnly + "&off_session=true", 400, "", "off_session", "You can only provide `off_session` when `confirm` is true."},
	{onCreate, cardOnly + "&error_on_requires_action=true", 400, "", "error_on_requires_action", "You can only provide `error_on_requires_action` when `confirm` is true."},
	{onCreate, cardOnly + "&mandate=m_1", 400, "", "mandate", "You can only provide `mandate` when `confirm` is true."},
	{onCreate, cardOnly + "&confirmation_token={token}", 400, "", "confirmation_token", "You can only provide `confirmation_token` when `confirm` is true."},
	{onPay, "payment_method=pm_card_visa&confirmation_token={token}", 400, "", "", "You may only specify one of these parameters: confirmation_token, payment_method."},
	{"stored " + onRefund, "charge={disputed}&payment_intent={paid}", 400, "", "", "Charge {disputed} does not belong to PaymentIntent {paid}."},
	{"GET /v1/payment_intents", "starting_after={paid}&ending_before={hold}", 400, "", "", "You cannot parameterize on both starting_after and ending_before."},
	{onCreate, "amount=100&currency=usd&payment_method_types[]=sepa_debit", 400, "", "payment_method_types", "The payment method type provided: sepa_debit is invalid. This simulator knows card."},
	{onCreate, "amount=1001&currency=kwd", 400, "", "amount", "Invalid amount: the last digit of an amount in kwd must be 0."},

	// Addresses.
	{onPay, "payment_method=pm_card_visa&return_url=nowhere", 400, "url_invalid", "return_url", "Not a valid URL"},
	{onPay, "payment_method=pm_card_visa&return_url=http://%5Bbad", 400, "url_invalid", "return_url", "Not a valid URL"},
	{"POST /v1/webhook_endpoints", "url=example.com/hook&enabled_events[]=*", 400, "url_invalid", "url", "Invalid URL: An explicit scheme (such as https) must be provided."},
	{"POST /v1/webhook_endpoints", "url=ftp://example.com&enabled_events[]=*", 400, "url_invalid", "url", "Invalid URL: An explicit scheme (such as https) must be provided."},
	{"POST /v1/webhook_endpoints/{hook}", "url=/hook", 400, "url_invalid", "url", "Invalid URL: An explicit scheme (such as https) must be provided."},

	// Card numbers from a server.
	{"POST /v1/payment_methods", "type=card&card[number]=4242424242424242&card[exp_month]=12&card[exp_year]=2040", 402, "", "", generallyUnsafe},
	{onPay, "payment_method_data[type]=card&payment_method_data[card][number]=4242424242424242&payment_method_data[card][exp_month]=12&payment_method_data[card][exp_year]=2040", 402, "", "", generallyUnsafe},
	{onCreate, cardOnly + "&confirm=true&payment_method_data[type]=card&payment_method_data[card][number]=4242424242424242&payment_method_data[card][exp_month]=12&payment_method_data[card][exp_year]=2040", 402, "", "", generallyUnsafe},
}

// manyKeys is a form of n metadata keys.
func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("&metadata[k" + strings.Repeat("i", i%7) + string(rune('a'+i/7)) + "]=v")
	}
	return b.String()
}

// TestS12_WrongParameters: every wrong parameter is refused in the words of the
// table, changes nothing and leaves the key free.
func TestS12_WrongParameters(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	w := s.populate()
	before := s.snapshot()
	for _, c := range wrongs {
		ask, stored := strings.CutPrefix(w.fill(c.ask), "stored ")
		method, path, _ := strings.Cut(ask, " ")
		key := "the-key"
		if stored {
			key = ask
		}
		var got reply
		if method == "GET" {
			got = s.get(path + "?" + w.fill(c.form))
		} else {
			got = s.post(path, key, w.fill(c.form))
		}
		at := c.ask + " " + c.form[:min(len(c.form), 90)]
		require.Equal(t, c.status, got.Status, "%s: %s", at, got.Raw)
		require.Equal(t, "invalid_request_error", got.Err["type"], at)
		for field, want := range map[string]string{"code": c.code, "param": c.param} {
			if want == "" {
				require.NotContains(t, got.Err, field, at)
			} else {
				require.Equal(t, want, got.Err[field], at)
			}
		}
		if c.code != "" {
			require.Equal(t, "https://stripe.com/docs/error-codes/"+strings.ReplaceAll(c.code, "_", "-"), got.Err["doc_url"], at)
		}
		message := got.Err["message"].(string)
		if strings.HasPrefix(message, "Invalid currency: ") {
			message = message[:len(c.message)] // the list of all currencies follows
		}
		require.Equal(t, w.fill(c.message), message, at)
		require.Empty(t, got.Header.Get("Idempotent-Replayed"), at)
		if stored {
			require.Equal(t, "true", s.post(path, key, w.fill(c.form)).Header.Get("Idempotent-Replayed"), at)
		}
	}
	requireSame(t, before, s.snapshot(), "none of them changed anything")
	require.Equal(t, 200, s.post("/v1/payment_intents", "the-key", cardOnly).Status, "I4: the key they all had is still free")
}
