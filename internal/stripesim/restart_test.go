package stripesim_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"shop/internal/stripesim"
)

// everything is what can be asked of an account without changing it.
var everything = []string{"/v1/payment_intents", "/v1/charges", "/v1/refunds", "/v1/customers", "/v1/disputes", "/v1/events", "/v1/webhook_endpoints", "/v1/balance"}

// snapshot reads all there is, objects one by one included.
func (s *sim) snapshot() map[string]string {
	s.t.Helper()
	out := map[string]string{}
	for _, path := range everything {
		query := "?limit=100"
		if path == "/v1/balance" {
			query = ""
		}
		r := s.quick("GET", path+query, "")
		require.Equal(s.t, 200, r.Status, r.Raw)
		out[path] = r.Raw
		data, _ := r.Body["data"].([]any)
		for _, item := range data {
			id := item.(map[string]any)["id"].(string)
			one := s.quick("GET", path+"/"+id, "")
			require.Equal(s.t, 200, one.Status, one.Raw)
			out[path+"/"+id] = one.Raw
		}
	}
	out["ledger"] = s.quick("GET", "/_sim/ledger", "").Raw
	return out
}

// TestJournal_EveryKindOfObjectSurvives makes one of everything, restarts and
// compares every answer byte for byte; twice, since a restart must not change what
// the next one finds.
func TestJournal_EveryKindOfObjectSurvives(t *testing.T) {
	t.Parallel()
	cfg := stripesim.Config{Journal: filepath.Join(t.TempDir(), "journal")}
	s := start(t, cfg)
	clock := s.now
	hook := s.post("/v1/webhook_endpoints", "", "url=http://127.0.0.1:9/none&enabled_events[]=nothing.at_all").Body["id"].(string)
	s.control("/_sim/webhooks/shop/"+hook+"/roll", map[string]any{})
	cus := s.post("/v1/customers", "", "email=a@example.com&metadata[a]=1&address[city]=Berlin").Body["id"].(string)
	gone := s.post("/v1/customers", "", "").Body["id"].(string)
	s.do("DELETE", "/v1/customers/"+gone, nil, "")
	card := s.post("/v1/payment_methods/pm_card_visa/attach", "", "customer="+cus).Body["id"].(string)
	saved := s.post("/v1/payment_intents", "", cardOnly+"&confirm=true&customer="+cus+"&payment_method="+card+"&shipping[name]=Ada&shipping[address][line1]=1")
	require.Equal(t, "succeeded", saved.Body["status"], saved.Raw)
	s.post("/v1/refunds", "", "amount=300&payment_intent="+saved.Body["id"].(string))
	hold := s.post("/v1/payment_intents", "", cardOnly+"&confirm=true&capture_method=manual&payment_method=pm_card_visa").Body["id"].(string)
	token := s.post("/v1/test_helpers/confirmation_tokens", "", "payment_method=pm_card_visa").Body["id"].(string)
	disputed := s.post("/v1/payment_intents", "", cardOnly+"&confirm=true&payment_method=pm_card_createDispute")
	require.Equal(t, "succeeded", disputed.Body["status"])
	declined := s.post("/v1/payment_intents", "", cardOnly+"&confirm=true&payment_method=pm_card_chargeDeclinedExpiredCard").Err["payment_intent"].(map[string]any)["id"].(string)
	bank := s.needsBank("pm_card_threeDSecure2Required")
	setup := s.post("/v1/setup_intents", "", "confirm=true&return_url="+back+"&payment_method=pm_card_threeDSecure2Required&payment_method_types[]=card").Body
	s.control("/_sim/clock", map[string]string{"advance": "1h"})

	want := s.snapshot()
	for range 2 {
		require.NoError(t, s.srv.Close())
		cfg.Now = clock.Now
		s = start(t, cfg)
		requireSame(t, want, s.snapshot())
		require.EqualValues(t, 3600, s.get("/_sim/clock").Body["ahead_seconds"], "the clock stays moved")
	}
	require.Equal(t, "succeeded", s.post("/v1/payment_intents/"+hold+"/capture", "", "").Body["status"], "a hold can be captured after a restart")
	require.Equal(t, "succeeded", s.post("/v1/payment_intents/"+declined+"/confirm", "", "confirmation_token="+token).Body["status"], "a token can be used")
	page := strings.Replace(bank.NextAction.RedirectToURL.URL, "http://"+strings.SplitN(bank.NextAction.RedirectToURL.URL, "/", 4)[2], s.URL, 1)
	s.decide(page, "approve")
	require.Equal(t, "succeeded", s.get("/v1/payment_intents/" + bank.ID).Body["status"], "a person can still approve")
	secret := setup["client_secret"].(string)
	s.decide(fmt.Sprintf("%s/_sim/3ds/shop/%s?s=%s", s.URL, setup["id"], secret), "approve")
	require.Equal(t, "succeeded", s.get("/v1/setup_intents/" + setup["id"].(string)).Body["status"])
	require.Equal(t, 200, s.post("/v1/payment_intents", "", cardOnly+"&confirm=true&customer="+cus+"&payment_method="+card).Status, "a saved card can be charged")
}

func TestJournal_HoldsExpireWhileStopped(t *testing.T) {
	t.Parallel()
	cfg := stripesim.Config{Journal: filepath.Join(t.TempDir(), "journal")}
	s := start(t, cfg)
	hold := s.post("/v1/payment_intents", "", cardOnly+"&confirm=true&capture_method=manual&payment_method=pm_card_visa").Body["id"].(string)
	require.NoError(t, s.srv.Close())
	s.now.add(8 * 24 * time.Hour)
	cfg.Now = s.now.Now
	s = start(t, cfg)
	require.Eventually(t, func() bool { return s.get("/v1/payment_intents/" + hold).Body["status"] == "canceled" }, 5*time.Second, 5*time.Millisecond)
}

func TestJournal_IdsAreNotReusedAfterARestart(t *testing.T) {
	t.Parallel()
	cfg := stripesim.Config{Journal: filepath.Join(t.TempDir(), "journal")}
	seen := map[string]bool{}
	for range 3 {
		s := start(t, cfg)
		for range 20 {
			id := s.create().ID
			require.False(t, seen[id])
			seen[id] = true
		}
		require.NoError(t, s.srv.Close())
	}
}

func TestJournal_KeyAgeSurvivesARestart(t *testing.T) {
	t.Parallel()
	cfg := stripesim.Config{Journal: filepath.Join(t.TempDir(), "journal")}
	s := start(t, cfg)
	cfg.Now = s.now.Now
	clock := s.now
	first := s.post("/v1/payment_intents", "k", cardOnly).Body["id"]
	require.NoError(t, s.srv.Close())
	clock.add(23 * time.Hour)
	s = start(t, cfg)
	require.Equal(t, first, s.post("/v1/payment_intents", "k", cardOnly).Body["id"])
	require.NoError(t, s.srv.Close())
	clock.add(2 * time.Hour)
	s = start(t, cfg)
	require.NotEqual(t, first, s.post("/v1/payment_intents", "k", cardOnly).Body["id"], "25 hours after its first use, not after the restart")
}
