package stripesim_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"shop/internal/stripesim"
)

// fate is what a fault does to a request that writes, whatever it writes.
type fate struct {
	kind   string
	status int    // 0: no answer that can be read
	code   string // of a readable error
	effect bool   // it happened although the client may not know
	repeat int    // status that the same key finds afterwards
	replay bool   // the repeat is a replay
	retry  string // Stripe-Should-Retry
}

var fates = []fate{
	{"drop_before", 0, "", false, 200, false, ""},
	{"drop_after", 0, "", true, 200, true, ""},
	{"slow", 200, "", true, 200, true, ""},
	{"slow_inside", 200, "", true, 200, true, ""},
	{"slow_after", 200, "", true, 200, true, ""},
	{"truncate", 0, "", true, 200, true, ""},
	{"broken_json", 200, "", true, 200, true, ""},
	{"reset", 0, "", true, 200, true, ""},
	{"html_502", 502, "", false, 200, false, ""},
	{"html_502_with_effect", 502, "", true, 200, true, ""},
	{"error_500_with_effect", 500, "", true, 500, true, ""},
	{"error_500_without_effect", 500, "", false, 500, true, ""},
	{"rate_limit", 429, "rate_limit", false, 200, false, ""},
	{"conflict", 409, "idempotency_key_in_use", false, 200, false, ""},
	{"unavailable", 503, "", false, 200, false, "true"},
	{"unauthorized", 401, "", false, 200, false, ""},
}

// digest is what the account's lists show.
func (s *sim) digest() string {
	s.t.Helper()
	var all strings.Builder
	for _, path := range everything {
		if path != "/v1/balance" {
			path += "?limit=5"
		}
		r := s.raw("GET", path, "")
		require.Equal(s.t, 200, r.Status)
		all.WriteString(r.Raw)
	}
	return all.String()
}

func TestFaults_AreAllInTheTable(t *testing.T) {
	t.Parallel()
	var here []string
	for _, f := range fates {
		here = append(here, f.kind)
	}
	require.ElementsMatch(t, stripesim.FaultKinds(), here)
}

// TestFaults_EveryKindOnEveryPost crosses all faults with all endpoints that write:
// what the client sees, whether it happened, what the same key finds afterwards.
func TestFaults_EveryKindOnEveryPost(t *testing.T) {
	t.Parallel()
	for _, r := range routes {
		if r.method != "POST" {
			continue
		}
		t.Run(r.name(), func(t *testing.T) {
			t.Parallel()
			s := start(t, stripesim.Config{})
			w := s.populate()
			before := s.digest()
			require.Equal(t, 200, s.ask(r, r.url(w, ""), nil, w.fill(r.form)).Status)
			visible := before != s.digest() // methods, tokens and the like are in no list
			for _, f := range fates {
				f.befall(t, s, r, visible)
			}
		})
	}
}

// befall lets one fault happen to one request.
func (f fate) befall(t *testing.T, s *sim, r route, visible bool) {
	t.Helper()
	w := s.populate()
	path, form, key := r.url(w, ""), w.fill(r.form), map[string]string{"Idempotency-Key": f.kind}
	s.control("/_sim/faults", stripesim.FaultRule{Kind: f.kind, Count: 1, DelayMS: 3, Match: stripesim.FaultMatch{Endpoint: r.name(), Key: f.kind}})
	before, began := s.digest(), time.Now()
	got, err := s.try("POST", path, key, form)
	took := time.Since(began)
	after := s.digest()

	if f.status == 0 {
		require.Error(t, err, f.kind)
	} else {
		require.NoError(t, err, f.kind)
		require.Equal(t, f.status, got.Status, f.kind)
		require.Equal(t, f.retry, got.Header.Get("Stripe-Should-Retry"), f.kind)
	}
	switch {
	case strings.HasPrefix(f.kind, "html"):
		require.Equal(t, "text/html", got.Header.Get("Content-Type"))
		require.Contains(t, got.Raw, "502 Bad Gateway")
		require.Empty(t, got.Header.Get("Request-Id"), "a gateway knows nothing of requests")
	case f.kind == "broken_json":
		require.Nil(t, got.Body)
		require.Contains(t, got.Raw, "oops")
	case f.status == 500 || f.status == 503:
		require.Equal(t, "api_error", got.Err["type"], f.kind)
	case f.status > 200:
		require.Equal(t, "invalid_request_error", got.Err["type"], f.kind)
	case f.status == 200:
		require.Equal(t, r.object, got.Body["object"], f.kind)
		require.GreaterOrEqual(t, took, 3*time.Millisecond, f.kind)
	}
	if f.code != "" {
		require.Equal(t, f.code, got.Err["code"])
	} else {
		require.NotContains(t, got.Err, "code")
	}
	if visible {
		require.Equal(t, f.effect, before != after, "%s: whether it happened", f.kind)
	}

	again := s.do("POST", path, key, form)
	require.Equal(t, f.repeat, again.Status, "%s: %s", f.kind, again.Raw)
	require.Equal(t, f.replay, again.Header.Get("Idempotent-Replayed") == "true", f.kind)
	if visible && f.replay {
		require.Equal(t, after, s.digest(), "%s: a repeat changes nothing more", f.kind)
	} else if visible {
		require.NotEqual(t, after, s.digest(), "%s: the repeat is what makes it happen", f.kind)
	}

	seen := s.requests(url.Values{"key": {f.kind}})
	require.Len(t, seen, 2, f.kind)
	require.Equal(t, []string{f.kind, ""}, []string{seen[0].Fault, seen[1].Fault})
	require.Equal(t, f.replay, seen[0].Executed, "%s: the journal of requests says what really happened", f.kind)
	require.Equal(t, []bool{f.replay, !f.replay}, []bool{seen[1].Replayed, seen[1].Executed})
	if strings.HasPrefix(f.kind, "drop") {
		require.Zero(t, seen[0].Status, "nothing was sent")
	}
}

// TestFaults_OnReads: faults can be put on GET and DELETE as well.
func TestFaults_OnReads(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	w := s.populate()
	for _, f := range fates {
		s.control("/_sim/faults", stripesim.FaultRule{Kind: f.kind, Count: 1, Match: stripesim.FaultMatch{Endpoint: "GET /v1/payment_intents/{id}"}})
		got, err := s.try("GET", "/v1/payment_intents/"+w["paid"], nil, "")
		require.Equal(t, f.status == 0, err != nil, f.kind)
		if err == nil {
			require.Equal(t, f.status, got.Status, f.kind)
		}
		require.Equal(t, w["paid"], s.get("/v1/payment_intents/" + w["paid"]).Body["id"], "%s befalls one request", f.kind)
	}
	s.control("/_sim/faults", stripesim.FaultRule{Kind: "html_502_with_effect", Count: 1, Match: stripesim.FaultMatch{Endpoint: "DELETE"}})
	require.Equal(t, 502, s.do("DELETE", "/v1/customers/"+w["customer"], nil, "").Status)
	require.Equal(t, true, s.get("/v1/customers/" + w["customer"]).Body["deleted"], "it was deleted nevertheless")
	s.control("/_sim/faults", stripesim.FaultRule{Kind: "drop_before", Count: 1, Match: stripesim.FaultMatch{Endpoint: "DELETE"}})
	_, err := s.try("DELETE", "/v1/webhook_endpoints/"+w["hook"], nil, "")
	require.Error(t, err)
	require.Equal(t, 200, s.get("/v1/webhook_endpoints/"+w["hook"]).Status, "it was not")
}

// TestFaults_TheFirstRuleThatMatches: rules are tried in order, and one that is used
// up or out of luck leaves the request to the next.
func TestFaults_TheFirstRuleThatMatches(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	s.control("/_sim/faults", stripesim.FaultRule{Kind: "rate_limit", Count: 1})
	s.control("/_sim/faults", stripesim.FaultRule{Kind: "unavailable", Count: 1})
	s.control("/_sim/faults", stripesim.FaultRule{Kind: "conflict", Match: stripesim.FaultMatch{Key: "other"}})
	for _, want := range []int{429, 503, 200} {
		require.Equal(t, want, s.post("/v1/payment_intents", "", cardOnly).Status)
	}
	require.Equal(t, 409, s.post("/v1/payment_intents", "other", cardOnly).Status)
	hits := map[string]float64{}
	for _, f := range s.get("/_sim/faults").Body["faults"].([]any) {
		hits[f.(map[string]any)["kind"].(string)] = f.(map[string]any)["hits"].(float64)
	}
	require.Equal(t, map[string]float64{"rate_limit": 1, "unavailable": 1, "conflict": 1}, hits)
	require.Len(t, s.get("/_sim/faults").Body["kinds"], len(fates), "the kinds are listed with what they mean")
}

// TestFaults_JitterIsADistribution: delay_ms is the least, jitter_ms the mean of what
// is added.
func TestFaults_JitterIsADistribution(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	s.control("/_sim/faults", stripesim.FaultRule{Kind: "slow", DelayMS: 2, JitterMS: 5, Match: stripesim.FaultMatch{Endpoint: "GET /v1/balance"}})
	took := map[time.Duration]bool{}
	for range 12 {
		began := time.Now()
		require.Equal(t, 200, s.get("/v1/balance").Status)
		d := time.Since(began)
		require.GreaterOrEqual(t, d, 2*time.Millisecond)
		took[d.Round(100*time.Microsecond)] = true
	}
	require.Greater(t, len(took), 3, "not always the same")
}

func TestFaults_RulesThatMakeNoSense(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	for body, says := range map[string]string{
		`{"kind":"explode"}`:                  "unknown kind of fault \"explode\"; GET /_sim/faults lists the kinds\n",
		`{"kind":""}`:                         "unknown kind of fault \"\"; GET /_sim/faults lists the kinds\n",
		`{"kind":"slow","probability":1.5}`:   "probability 1.5 is not between 0 and 1\n",
		`{"kind":"slow","probability":-0.1}`:  "probability -0.1 is not between 0 and 1\n",
		`{"kind":"slow","count":-1}`:          "count, delay_ms and jitter_ms must not be negative\n",
		`{"kind":"slow","delay_ms":-1}`:       "count, delay_ms and jitter_ms must not be negative\n",
		`{"kind":"slow","jitter_ms":-1}`:      "count, delay_ms and jitter_ms must not be negative\n",
		`{"kind":"slow","match":{"path":""}}`: "the body must be JSON with the documented fields: json: unknown field \"path\"\n",
		`{"kind":7}`:                          "the body must be JSON with the documented fields: json: cannot unmarshal number into Go struct field FaultRule.kind of type string\n",
		`{"kind":"slow"`:                      "the body must be JSON with the documented fields: unexpected EOF\n",
	} {
		r := s.do("POST", "/_sim/faults", nil, body)
		require.Equal(t, 400, r.Status, body)
		require.Equal(t, says, r.Raw)
	}
	require.Empty(t, s.get("/_sim/faults").Body["faults"])
	require.Equal(t, 200, s.do("DELETE", "/_sim/faults/fault_99", nil, "").Status, "removing what is not there is fine")
}
