package stripesim_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"shop/internal/stripesim"
)

func TestEveryEndpoint_IsInTheTable(t *testing.T) {
	t.Parallel()
	var here []string
	for _, r := range routes {
		here = append(here, r.name())
	}
	require.ElementsMatch(t, stripesim.Routes(), here, "an endpoint that is not in the table is not tested")
}

func TestEveryEndpoint_Answers(t *testing.T) {
	t.Parallel()
	everyRoute(t, func(t *testing.T, s *sim, w world, r route) {
		got := s.ask(r, r.url(w, ""), nil, w.fill(r.form))
		require.Equal(t, 200, got.Status, got.Raw)
		require.Equal(t, r.object, got.Body["object"])
		if r.object == "list" || r.object == "search_result" {
			require.NotEmpty(t, got.Body["data"])
			require.Equal(t, strings.ReplaceAll(r.path, "{id}", w[r.id]), got.Body["url"], "a list names its own address")
			require.IsType(t, true, got.Body["has_more"])
		}
		require.Equal(t, "application/json", got.Header.Get("Content-Type"))
		require.Regexp(t, "^req_[0-9A-Za-z]{14}$", got.Header.Get("Request-Id"))
		require.Equal(t, "2023-10-16", got.Header.Get("Stripe-Version"))
		require.Equal(t, "no-cache, no-store", got.Header.Get("Cache-Control"))
		require.Equal(t, "*", got.Header.Get("Access-Control-Allow-Origin"))
		require.Empty(t, got.Header.Get("Idempotency-Key"), "none was sent")
		require.Empty(t, got.Header.Get("Idempotent-Replayed"))
		require.Empty(t, got.Header.Get("Original-Request"))
		require.Empty(t, got.Header.Get("Stripe-Should-Retry"))
		for _, object := range []string{"livemode"} {
			if live, has := got.Body[object]; has {
				require.Equal(t, false, live)
			}
		}
		last := s.requests(url.Values{"endpoint": {r.name()}})
		require.NotEmpty(t, last)
		entry := last[len(last)-1]
		require.Equal(t, got.Header.Get("Request-Id"), entry.RequestID)
		require.True(t, entry.Executed)
		require.Equal(t, 200, entry.Status)
	})
}

func TestEveryEndpoint_RefusesAnUnknownParameterByName(t *testing.T) {
	t.Parallel()
	everyRoute(t, func(t *testing.T, s *sim, w world, r route) {
		for _, name := range []string{"bogus", "bogus[a]", "bogus[]", "amount_", "Amount"} {
			got := s.ask(r, r.url(w, ""), map[string]string{"Idempotency-Key": "k"}, with(w.fill(r.form), name+"=1"))
			require.Equal(t, 400, got.Status, got.Raw)
			require.Equal(t, "invalid_request_error", got.Err["type"])
			require.Equal(t, "parameter_unknown", got.Err["code"])
			require.Equal(t, name, got.Err["param"])
			require.Equal(t, "Received unknown parameter: "+name, got.Err["message"])
			require.Equal(t, "https://stripe.com/docs/error-codes/parameter-unknown", got.Err["doc_url"])
		}
		got := s.ask(r, r.url(w, ""), map[string]string{"Idempotency-Key": "k"}, w.fill(r.form))
		require.Equal(t, 200, got.Status, "nothing had happened and the key is free: %s", got.Raw)
	})
}

func TestEveryEndpoint_AnObjectThatIsNotThereIs404(t *testing.T) {
	t.Parallel()
	everyRoute(t, func(t *testing.T, s *sim, w world, r route) {
		if r.id == "" {
			return
		}
		const none = "none_0123456789"
		param, missing := "id", none
		switch {
		case strings.HasSuffix(r.path, "{sub}"):
			param, missing = "customer", w["method"]
		case r.object == "confirmation_token":
			param = "confirmation_token"
		}
		got := s.ask(r, r.url(w, none), nil, w.fill(r.form))
		require.Equal(t, 404, got.Status, got.Raw)
		require.Equal(t, "invalid_request_error", got.Err["type"])
		require.Equal(t, "resource_missing", got.Err["code"])
		require.Equal(t, param, got.Err["param"])
		require.Equal(t, "No such "+r.noun+": '"+missing+"'", got.Err["message"])
		require.Equal(t, "https://stripe.com/docs/error-codes/resource-missing", got.Err["doc_url"])
	})
}

func TestEveryEndpoint_AnotherAccountSeesNothingOfIt(t *testing.T) {
	t.Parallel()
	everyRoute(t, func(t *testing.T, s *sim, w world, r route) {
		got := s.ask(r, r.url(w, ""), map[string]string{"Authorization": "Bearer sk_test_other"}, w.fill(r.form))
		if r.id != "" {
			require.Equal(t, "resource_missing", got.Err["code"], got.Raw)
			return
		}
		for name, id := range w {
			require.NotContains(t, strings.ReplaceAll(got.Raw, w.fill(r.form), ""), `"id":"`+id, name)
		}
		if data, isList := got.Body["data"]; isList {
			require.Empty(t, data)
		}
	})
}

func TestEveryEndpoint_NeedsASecretKey(t *testing.T) {
	t.Parallel()
	everyRoute(t, func(t *testing.T, s *sim, w world, r route) {
		for authorization, message := range map[string]string{
			"":                     "You did not provide an API key. You need to provide your API key in the Authorization header, using Bearer auth (e.g. 'Authorization: Bearer YOUR_SECRET_KEY'). See https://stripe.com/docs/api#authentication for details, or we can help at https://support.stripe.com/.",
			"Bearer sk_live_51abc": "Invalid API Key provided: a live key. This is a simulator; use a test key such as sk_test_shop.",
			"Bearer whsec_secret1": "Invalid API Key provided: whsec_se****ret1",
			"Bearer xk_test_shop":  "Invalid API Key provided: ****",
		} {
			got := s.ask(r, r.url(w, ""), map[string]string{"Authorization": authorization, "Idempotency-Key": "k"}, w.fill(r.form))
			require.Equal(t, 401, got.Status, got.Raw)
			require.Equal(t, map[string]any{"type": "invalid_request_error", "message": message}, got.Err, "no code, no param")
			require.Equal(t, `Basic realm="Stripe"`, got.Header.Get("WWW-Authenticate"))
			require.Empty(t, got.Header.Get("Original-Request"), "401 comes before the layer")
		}
		got := s.ask(r, r.url(w, ""), map[string]string{"Idempotency-Key": "k"}, w.fill(r.form))
		require.Equal(t, 200, got.Status, "nothing had happened: %s", got.Raw)
	})
}

func TestEveryEndpoint_PublishableKey(t *testing.T) {
	t.Parallel()
	pk := map[string]string{"Authorization": "Bearer pk_test_shop"}
	everyRoute(t, func(t *testing.T, s *sim, w world, r route) {
		if r.public == "" {
			got := s.ask(r, r.url(w, ""), pk, w.fill(r.form))
			require.Equal(t, 403, got.Status, got.Raw)
			require.Equal(t, "secret_key_required", got.Err["code"])
			require.Equal(t, "invalid_request_error", got.Err["type"])
			require.NotContains(t, got.Err, "param")
			require.Equal(t, "This API call cannot be made with a publishable API key. Please use a secret API key. You can find a list of your API keys at https://dashboard.stripe.com/account/apikeys.", got.Err["message"])
			return
		}
		form := r.public
		if r.id != "" {
			form = with(r.form, r.public)
		}
		got := s.ask(r, r.url(w, ""), pk, w.fill(form))
		require.Equal(t, 200, got.Status, got.Raw)
		if strings.Contains(r.public, "secret") {
			for _, wrong := range []string{"", "client_secret=", "client_secret=" + w[r.id], "client_secret=" + w[r.id] + "_secret_x"} {
				got := s.ask(r, r.url(w, ""), pk, with(w.fill(r.form), wrong))
				require.Equal(t, 400, got.Status, "%q: %s", wrong, got.Raw)
				require.Equal(t, "client_secret", got.Err["param"])
				require.NotContains(t, got.Err, "payment_intent", "nothing of the object is told")
			}
		}
	})
}

func TestI1_EveryGetAndDeleteIgnoresTheKey(t *testing.T) {
	t.Parallel()
	everyRoute(t, func(t *testing.T, s *sim, w world, r route) {
		if r.method == "POST" {
			return
		}
		key := map[string]string{"Idempotency-Key": "k"}
		first := s.ask(r, r.url(w, ""), key, w.fill(r.form))
		require.Equal(t, 200, first.Status, first.Raw)
		require.Empty(t, first.Header.Get("Original-Request"), "there is no record of it")
		require.Equal(t, "k", first.Header.Get("Idempotency-Key"), "the header is echoed nevertheless")
		again := s.ask(r, r.url(w, ""), key, w.fill(r.form))
		require.Empty(t, again.Header.Get("Idempotent-Replayed"))
		if r.method == "DELETE" {
			require.Equal(t, 404, again.Status, "the second deletion is carried out and finds nothing")
		}
		other := s.post("/v1/payment_intents", "k", cardOnly)
		require.Equal(t, 200, other.Status, "the key is still free")
		require.Empty(t, other.Header.Get("Idempotent-Replayed"))
	})
}

func TestI12_EveryPostIsReplayed(t *testing.T) {
	t.Parallel()
	everyPost(t, func(t *testing.T, s *sim, w world, r route) {
		key := map[string]string{"Idempotency-Key": "op:1"}
		events := func() int { return len(s.get("/v1/events?limit=100").Body["data"].([]any)) }
		first := s.ask(r, r.url(w, ""), key, w.fill(r.form))
		require.Equal(t, 200, first.Status, first.Raw)
		require.Equal(t, first.Header.Get("Request-Id"), first.Header.Get("Original-Request"))
		after := events()
		for range 3 {
			again := s.ask(r, r.url(w, ""), key, w.fill(r.form))
			require.Equal(t, 200, again.Status)
			require.Equal(t, first.Raw, again.Raw)
			require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))
			require.Equal(t, first.Header.Get("Request-Id"), again.Header.Get("Original-Request"))
			require.NotEqual(t, first.Header.Get("Request-Id"), again.Header.Get("Request-Id"))
			require.Equal(t, "op:1", again.Header.Get("Idempotency-Key"))
		}
		require.Equal(t, after, events(), "a replay has no effect")
		seen := s.requests(url.Values{"key": {"op:1"}})
		require.Len(t, seen, 4)
		for i, entry := range seen {
			require.Equal(t, i == 0, entry.Executed)
			require.Equal(t, i > 0, entry.Replayed)
		}
	})
}

func TestI13_EveryReplayWorksWithoutTheVersionHeader(t *testing.T) {
	t.Parallel()
	everyPost(t, func(t *testing.T, s *sim, w world, r route) {
		first := s.ask(r, r.url(w, ""), map[string]string{"Idempotency-Key": "k", "Stripe-Version": "2023-10-16"}, w.fill(r.form))
		again := s.ask(r, r.url(w, ""), map[string]string{"Idempotency-Key": "k"}, w.fill(r.form))
		require.Equal(t, first.Raw, again.Raw)
		require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))
	})
}

func TestI8_EveryPostRefusesItsKeyWithOtherParameters(t *testing.T) {
	t.Parallel()
	everyPost(t, func(t *testing.T, s *sim, w world, r route) {
		key := map[string]string{"Idempotency-Key": "the-key"}
		first := s.ask(r, r.url(w, ""), key, w.fill(r.form))
		require.Equal(t, 200, first.Status, first.Raw)
		before := s.snapshot()
		for _, more := range []string{"expand[]=customer", "metadata[x]=y", "bogus=1"} {
			got := s.ask(r, r.url(w, ""), key, with(w.fill(r.form), more))
			require.Equal(t, 400, got.Status)
			require.Equal(t, "idempotency_error", got.Err["type"])
			require.Equal(t, "Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a key other than 'the-key' if you meant to execute a different request.", got.Err["message"])
			for _, absent := range []string{"code", "param", "decline_code", "doc_url"} {
				require.NotContains(t, got.Err, absent)
			}
		}
		requireSame(t, before, s.snapshot(), "nothing changes")
		require.Equal(t, first.Raw, s.ask(r, r.url(w, ""), key, w.fill(r.form)).Raw)
	})
}

func TestI9_EveryPostRefusesTheKeyOfAnotherEndpoint(t *testing.T) {
	t.Parallel()
	everyPost(t, func(t *testing.T, s *sim, w world, r route) {
		first := "/v1/customers"
		if r.path == first {
			first = "/v1/setup_intents"
		}
		require.Equal(t, 200, s.post(first, "the-key", "description=first").Status)
		before := s.snapshot()
		path := r.url(w, "")
		got := s.ask(r, path, map[string]string{"Idempotency-Key": "the-key"}, w.fill(r.form))
		require.Equal(t, 400, got.Status)
		require.Equal(t, "idempotency_error", got.Err["type"])
		require.Equal(t, "Keys for idempotent requests can only be used for the same endpoint they were first used for ('POST "+path+"' vs 'POST "+first+"'). Try using a key other than 'the-key' if you meant to execute a different request.", got.Err["message"])
		require.NotContains(t, got.Err, "code")
		require.NotContains(t, got.Err, "param")
		requireSame(t, before, s.snapshot(), "nothing changes")
	})
}

func TestI18_EveryPostNamesItselfInItsEvents(t *testing.T) {
	t.Parallel()
	everyPost(t, func(t *testing.T, s *sim, w world, r route) {
		old := map[any]bool{}
		for _, e := range s.get("/v1/events?limit=100").Body["data"].([]any) {
			old[e.(map[string]any)["id"]] = true
		}
		got := s.ask(r, r.url(w, ""), map[string]string{"Idempotency-Key": "op:9", "Stripe-Version": "2020-08-27"}, w.fill(r.form))
		require.Equal(t, 200, got.Status, got.Raw)
		require.Equal(t, "2020-08-27", got.Header.Get("Stripe-Version"))
		for _, e := range s.get("/v1/events?limit=100").Body["data"].([]any) {
			if ev := e.(map[string]any); !old[ev["id"]] {
				require.Equal(t, map[string]any{"id": got.Header.Get("Request-Id"), "idempotency_key": "op:9"}, ev["request"], ev["type"])
				require.Equal(t, "2023-10-16", ev["api_version"], "events keep the account's version")
			}
		}
	})
}

func TestEveryEndpoint_HasNoOtherMethods(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	w := s.populate()
	have := map[string]bool{}
	for _, r := range routes {
		have[r.name()] = true
	}
	for _, r := range routes {
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
			if have[method+" "+r.path] || method == "GET" && strings.Contains(r.path, "search") || strings.HasSuffix(r.path, "/search") {
				continue // "search" is also an id to the endpoints beside it
			}
			path := r.url(w, "")
			got := s.do(method, path, nil, "")
			if got.Status == 404 && got.Err["code"] == "resource_missing" {
				continue // read as the id of a shorter route
			}
			require.Equal(t, 404, got.Status, "%s %s", method, path)
			require.Equal(t, "invalid_request_error", got.Err["type"])
			require.NotContains(t, got.Err, "code")
			require.Equal(t, "Unrecognized request URL ("+method+": "+path+"). Please see https://stripe.com/docs or we can help at https://support.stripe.com/.", got.Err["message"])
		}
	}
}

// TestS12_AbsentMeansAbsent goes through refusals of every sort: no member of an
// error is ever null or empty.
func TestS12_AbsentMeansAbsent(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	w := s.populate()
	for _, ask := range [][2]string{{"/v1/nonsense", ""}, {"/v1/payment_intents", "amount=1"}, {"/v1/payment_intents", "amount=2500&currency=usd&confirm=true&payment_method=pm_card_visa"},
		{"/v1/payment_intents/{intent}/capture", ""}, {"/v1/payment_intents/{intent}/confirm", ""}, {"/v1/payment_intents/{paid}/cancel", ""}, {"/v1/refunds", "charge={disputed}"},
		{"/v1/payment_intents", cardOnly + "&confirm=true&payment_method=pm_card_chargeDeclinedFraudulent"}, {"/v1/setup_intents/{setup}/confirm", ""}, {"/v1/disputes/{dispute}/close", "x=1"}} {
		r := s.post(w.fill(ask[0]), "", w.fill(ask[1]))
		require.GreaterOrEqual(t, r.Status, 400, ask)
		var top map[string]json.RawMessage
		require.NoError(t, json.Unmarshal([]byte(r.Raw), &top))
		require.Len(t, top, 1, "the envelope holds the error alone")
		for name, v := range r.Err {
			require.NotNil(t, v, "%s of %v", name, ask)
			require.NotEqual(t, "", v, "%s of %v", name, ask)
		}
		require.Contains(t, []any{"api_error", "card_error", "idempotency_error", "invalid_request_error"}, r.Err["type"])
		require.Equal(t, "https://dashboard.stripe.com/test/logs/"+r.Header.Get("Request-Id"), strings.Split(r.Err["request_log_url"].(string), "?t=")[0])
	}
}
