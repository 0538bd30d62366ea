package spectest

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"shop/internal/stripesim"
)

// exchange is one request to the simulator and its answer.
type exchange struct {
	Method, Path, Query, Form string
	Status                    int
	Body                      []byte
}

func (x exchange) String() string { return x.Method + " " + x.Path + " " + x.Form + x.Query }

// talk sends requests to a simulator and records them.
type talk struct {
	t   *testing.T
	url string
	mu  sync.Mutex
	all []exchange
}

var (
	recording sync.Mutex
	recorded  []exchange
)

// conversation is what all checks look at; it is held once.
func conversation(t *testing.T) []exchange {
	t.Helper()
	recording.Lock()
	defer recording.Unlock()
	if recorded == nil {
		recorded = converse(t)
	}
	return recorded
}

// send posts (or gets, for an empty form on a GET method) and returns the answer.
func (k *talk) send(key, method, path, form string) map[string]any {
	k.t.Helper()
	u, err := url.Parse(k.url + path)
	require.NoError(k.t, err)
	req, err := http.NewRequest(method, u.String(), strings.NewReader(form))
	require.NoError(k.t, err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	key, once, _ := strings.Cut(key, " key=")
	req.Header.Set("Authorization", "Bearer "+key)
	if once != "" {
		req.Header.Set("Idempotency-Key", once)
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(k.t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(k.t, err)
	k.mu.Lock()
	k.all = append(k.all, exchange{method, u.Path, u.RawQuery, form, resp.StatusCode, body})
	k.mu.Unlock()
	var out map[string]any
	require.NoError(k.t, json.Unmarshal(body, &out), "%s %s: %s", method, path, body)
	return out
}

func (k *talk) post(path, form string) map[string]any {
	k.t.Helper()
	return k.send("sk_test_spec", http.MethodPost, path, form)
}

func (k *talk) get(path string) map[string]any {
	k.t.Helper()
	return k.send("sk_test_spec", http.MethodGet, path, "")
}

func (k *talk) del(path string) map[string]any {
	k.t.Helper()
	return k.send("sk_test_spec", http.MethodDelete, path, "")
}

func id(o map[string]any) string { s, _ := o["id"].(string); return s }

// locked asks for an intent while a slow request holds it.
func (k *talk) locked(intent string) {
	k.t.Helper()
	// The fault is for one key, so that it cannot hit the request that wants to meet it.
	rule := `{"kind":"slow_inside","count":1,"delay_ms":1500,"match":{"key":"held"}}`
	resp, err := http.Post(k.url+"/_sim/faults", "application/json", strings.NewReader(rule))
	require.NoError(k.t, err)
	resp.Body.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		k.send("sk_test_spec key=held", http.MethodPost, "/v1/payment_intents/"+intent, "description=slow")
	}()
	for begun := time.Now(); ; {
		e, refused := k.post("/v1/payment_intents/"+intent, "description=quick")["error"].(map[string]any)
		if refused && e["code"] == "lock_timeout" {
			break
		}
		require.Less(k.t, time.Since(begun), 10*time.Second, "the slow request never held the intent")
	}
	<-done
}

// bank plays the person at the 3-D Secure page.
func (k *talk) bank(intent map[string]any, result string) {
	k.t.Helper()
	page := intent["next_action"].(map[string]any)["redirect_to_url"].(map[string]any)["url"].(string)
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.PostForm(page, url.Values{"result": {result}})
	require.NoError(k.t, err)
	resp.Body.Close()
	require.Equal(k.t, http.StatusSeeOther, resp.StatusCode)
}

const intent = "amount=2500&currency=usd&payment_method_types[0]=card"

// converse goes through everything the simulator can answer.
func converse(t *testing.T) []exchange {
	srv, err := stripesim.New(stripesim.Config{SearchLag: -1, LockWait: time.Millisecond, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, srv.Close()) })
	web := httptest.NewServer(srv.Handler())
	t.Cleanup(web.Close)
	k := &talk{t: t, url: web.URL}

	k.post("/v1/webhook_endpoints", "url=http://127.0.0.1:9/none&enabled_events[0]=payment_intent.succeeded&description=d&metadata[a]=b")
	hook := k.post("/v1/webhook_endpoints", "url=http://127.0.0.1:9/none&enabled_events[0]=charge.succeeded&api_version=2023-10-16")
	k.post("/v1/webhook_endpoints/"+id(hook), "disabled=true")
	k.get("/v1/webhook_endpoints/" + id(hook))
	k.get("/v1/webhook_endpoints")
	k.del("/v1/webhook_endpoints/" + id(hook))

	k.intents()
	k.refunds()
	k.customers()
	k.tokens()
	k.setups()
	k.errors()

	for _, path := range []string{"/v1/balance", "/v1/events?limit=100", "/v1/payment_intents?limit=100", "/v1/charges?limit=100&expand[]=data.payment_intent",
		"/v1/refunds", "/v1/disputes", "/v1/payment_intents/search?query=status:'succeeded'&limit=2"} {
		k.get(path)
	}
	events := k.get("/v1/events?limit=5")["data"].([]any)
	k.get("/v1/events/" + id(events[0].(map[string]any)))
	return k.all
}

func (k *talk) intents() {
	pi := k.post("/v1/payment_intents", intent+"&metadata[order_id]=ord_1&description=Order&receipt_email=a@example.com&shipping[name]=Ada&shipping[address][line1]=1+Street&statement_descriptor_suffix=ORDER&setup_future_usage=off_session")
	k.post("/v1/payment_intents/"+id(pi), "metadata[x]=y&amount=2600")
	k.post("/v1/payment_intents/"+id(pi)+"/confirm", "payment_method=pm_card_visa_chargeDeclined")
	paid := k.post("/v1/payment_intents/"+id(pi)+"/confirm", "payment_method=pm_card_visa&return_url=https://shop.example/r")
	k.get("/v1/payment_intents/" + id(pi) + "?expand[]=latest_charge.balance_transaction&expand[]=payment_method")
	charge := k.get("/v1/charges/" + paid["latest_charge"].(string) + "?expand[]=payment_intent")
	k.get("/v1/balance_transactions/" + charge["balance_transaction"].(string))
	k.send("pk_test_spec", http.MethodGet, "/v1/payment_intents/"+id(pi)+"?client_secret="+pi["client_secret"].(string), "")

	k.post("/v1/payment_intents", "amount=2500&currency=eur&automatic_payment_methods[enabled]=true&automatic_payment_methods[allow_redirects]=never&confirm=true&payment_method=pm_card_mastercard")
	hold := k.post("/v1/payment_intents", intent+"&capture_method=manual&confirm=true&payment_method=pm_card_visa")
	k.post("/v1/payment_intents/"+id(hold)+"/capture", "amount_to_capture=1000")
	hold = k.post("/v1/payment_intents", intent+"&capture_method=manual&confirm=true&payment_method=pm_card_visa")
	k.post("/v1/payment_intents/"+id(hold)+"/cancel", "cancellation_reason=abandoned")
	for _, result := range []string{"approve", "fail"} {
		bank := k.post("/v1/payment_intents", intent+"&confirm=true&payment_method=pm_card_threeDSecure2Required&return_url=https://shop.example/r")
		k.bank(bank, result)
		k.get("/v1/payment_intents/" + id(bank))
	}
	k.post("/v1/payment_intents", intent+"&confirm=true&payment_method=pm_card_threeDSecure2Required&use_stripe_sdk=true")
	k.post("/v1/payment_intents", intent+"&confirm=true&payment_method=pm_card_threeDSecure2Required&error_on_requires_action=true")
	k.post("/v1/payment_intents", intent+"&confirm=true&payment_method=pm_card_threeDSecure2Required&off_session=true")
	k.post("/v1/payment_intents", intent+"&confirm=true&payment_method=pm_card_createDispute")
	dispute := k.get("/v1/disputes")["data"].([]any)[0].(map[string]any)
	k.get("/v1/disputes/" + id(dispute))
	k.post("/v1/disputes/"+id(dispute)+"/close", "")
}

func (k *talk) refunds() {
	pi := k.post("/v1/payment_intents", intent+"&confirm=true&payment_method=pm_card_visa")
	f := k.post("/v1/refunds", "payment_intent="+id(pi)+"&amount=500&reason=requested_by_customer&metadata[refund_id]=rf_1")
	k.post("/v1/refunds/"+id(f), "metadata[note]=x")
	k.get("/v1/refunds/" + id(f) + "?expand[]=charge")
	k.post("/v1/refunds", "charge="+pi["latest_charge"].(string))
	k.post("/v1/refunds", "charge="+pi["latest_charge"].(string))
}

func (k *talk) customers() {
	c := k.post("/v1/customers", "email=ada@example.com&name=Ada&metadata[a]=b&address[city]=Berlin&shipping[name]=Ada&shipping[address][line1]=1")
	k.post("/v1/customers/"+id(c), "phone=1")
	m := k.post("/v1/payment_methods/pm_card_visa/attach", "customer="+id(c))
	k.get("/v1/payment_methods/" + id(m) + "?expand[]=customer")
	k.get("/v1/customers/" + id(c) + "/payment_methods")
	k.get("/v1/customers/" + id(c) + "/payment_methods/" + id(m))
	k.get("/v1/payment_methods?customer=" + id(c))
	k.post("/v1/payment_intents", intent+"&confirm=true&off_session=true&customer="+id(c)+"&payment_method="+id(m)+"&expand[]=customer")
	k.get("/v1/payment_intents?customer=" + id(c))
	k.post("/v1/payment_methods/"+id(m)+"/detach", "")
	k.get("/v1/customers?email=ada@example.com")
	k.get("/v1/customers/" + id(c))
	k.del("/v1/customers/" + id(c))
	k.get("/v1/customers/" + id(c))
}

func (k *talk) tokens() {
	t := k.post("/v1/test_helpers/confirmation_tokens", "payment_method=pm_card_visa&return_url=https://shop.example/r")
	k.get("/v1/confirmation_tokens/" + id(t))
	pi := k.post("/v1/payment_intents", intent)
	k.post("/v1/payment_intents/"+id(pi)+"/confirm", "confirmation_token="+id(t))
	k.post("/v1/payment_intents", intent+"&confirm=true&confirmation_token="+id(t))
	const typed = "[type]=card&D[card][number]=4242424242424242&D[card][exp_month]=12&D[card][exp_year]=2040&D[card][cvc]=123&D[billing_details][name]=Ada"
	k.send("pk_test_spec", http.MethodPost, "/v1/payment_methods", strings.NewReplacer("[type]", "type", "D[card]", "card", "D[billing_details]", "billing_details").Replace(typed))
	t = k.send("pk_test_spec", http.MethodPost, "/v1/confirmation_tokens", "payment_method_data"+strings.ReplaceAll(typed, "D[", "payment_method_data["))
	k.get("/v1/confirmation_tokens/" + id(t))
}

func (k *talk) setups() {
	for _, card := range []string{"pm_card_visa", "pm_card_authenticationRequiredOnSetup", "pm_card_chargeDeclinedFraudulent"} {
		si := k.post("/v1/setup_intents", "payment_method_types[0]=card&metadata[a]=b")
		si = k.post("/v1/setup_intents/"+id(si)+"/confirm", "payment_method="+card+"&return_url=https://shop.example/r")
		if si["next_action"] != nil {
			k.bank(si, "approve")
			k.get("/v1/setup_intents/" + id(si))
			k.post("/v1/setup_intents/"+id(si)+"/confirm", "")
		}
	}
}

func (k *talk) errors() {
	k.send("", http.MethodGet, "/v1/balance", "")
	for _, form := range []string{"currency=usd", "amount=1&currency=usd", "amount=100000000&currency=usd", "amount=100&currency=", intent + "&customer=cus_none",
		intent + "&description=" + strings.Repeat("d", 1001), intent + "&confirm=true&return_url=nowhere"} {
		k.post("/v1/payment_intents", form)
	}
	k.send("pk_test_spec", http.MethodPost, "/v1/payment_intents", intent)
	k.send("pk_test_spec", http.MethodPost, "/v1/payment_methods", "type=card&card[number]=4242424242424241&card[exp_month]=12&card[exp_year]=2040")
	k.send("sk_test_spec key=once", http.MethodPost, "/v1/customers", "name=Ada")
	k.send("sk_test_spec key=once", http.MethodPost, "/v1/customers", "name=Bob")
	disputed := k.post("/v1/payment_intents", intent+"&confirm=true&payment_method=pm_card_createDispute")
	k.post("/v1/refunds", "payment_intent="+id(disputed))
	declined := k.post("/v1/payment_intents", intent)
	k.post("/v1/payment_intents/"+id(declined)+"/confirm", "payment_method=pm_card_chargeDeclinedIncorrectCvc")
	k.locked(id(declined))
	k.get("/v1/nonsense")
	k.post("/v1/payment_intents", "amount=25.00&currency=usd")
	k.post("/v1/payment_intents", "amount=2500&currency=usd&confirm=true&payment_method=pm_card_visa")
	k.post("/v1/payment_intents", intent+"&bogus=1")
	k.get("/v1/payment_intents/pi_none")
	for _, card := range []string{"pm_card_visa_chargeDeclinedInsufficientFunds", "pm_card_chargeDeclinedExpiredCard", "pm_card_chargeDeclinedProcessingError"} {
		k.post("/v1/payment_intents", intent+"&confirm=true&payment_method="+card)
	}
	unpaid := k.post("/v1/payment_intents", intent)
	for _, action := range []string{"/capture", "/confirm", "/cancel", "/cancel"} {
		k.post("/v1/payment_intents/"+id(unpaid)+action, "")
	}
	saved := k.post("/v1/setup_intents", "confirm=true&payment_method=pm_card_visa")
	k.post("/v1/setup_intents/"+id(saved)+"/confirm", "")
	ct := k.post("/v1/test_helpers/confirmation_tokens", "payment_method=pm_card_visa")
	for range 2 {
		k.post("/v1/payment_intents", intent+"&confirm=true&confirmation_token="+id(ct))
	}
	for _, kind := range []string{"rate_limit", "unavailable", "conflict", "error_500_without_effect"} {
		body := bytes.NewReader([]byte(`{"kind":"` + kind + `","count":1}`))
		resp, err := http.Post(k.url+"/_sim/faults", "application/json", body)
		require.NoError(k.t, err)
		resp.Body.Close()
		k.post("/v1/payment_intents", intent)
	}
}
