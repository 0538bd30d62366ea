package stripesim_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"shop/internal/stripesim"
)

func TestJournal_StateAndKeysSurviveARestart(t *testing.T) {
	t.Parallel()
	cfg := stripesim.Config{Journal: filepath.Join(t.TempDir(), "journal")}
	s := start(t, cfg)
	created := s.post("/v1/payment_intents", "op:1:create", cardOnly+"&metadata[order_id]=ord_1")
	path := "/v1/payment_intents/" + created.Body["id"].(string)
	paid := s.post(path+"/confirm", "op:1:confirm:1", "payment_method=pm_card_visa")
	other := s.create()
	declined := s.post("/v1/payment_intents/"+other.ID+"/confirm", "op:2:confirm:1", "payment_method=pm_card_visa_chargeDeclined")
	refunded := s.post("/v1/refunds", "op:3", "payment_intent="+created.Body["id"].(string)+"&amount=500")
	require.Equal(t, 200, refunded.Status, refunded.Raw)
	before := []string{s.get(path + "?expand[]=latest_charge").Raw, s.get("/v1/events?limit=100").Raw, s.get("/_sim/ledger").Raw, s.get("/v1/balance").Raw}
	require.NoError(t, s.srv.Close())

	s = start(t, cfg)
	require.Equal(t, before, []string{s.get(path + "?expand[]=latest_charge").Raw, s.get("/v1/events?limit=100").Raw, s.get("/_sim/ledger").Raw, s.get("/v1/balance").Raw})
	for key, want := range map[string]reply{"op:1:confirm:1": paid, "op:2:confirm:1": declined} {
		method, id := "pm_card_visa", created.Body["id"].(string)
		if want.Status == 402 {
			method, id = "pm_card_visa_chargeDeclined", other.ID
		}
		again := s.post("/v1/payment_intents/"+id+"/confirm", key, "payment_method="+method)
		require.Equal(t, want.Raw, again.Raw)
		require.Equal(t, want.Status, again.Status)
		require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))
		require.Equal(t, want.Header.Get("Request-Id"), again.Header.Get("Original-Request"))
	}
	require.Equal(t, 400, s.post("/v1/payment_intents", "op:1:create", cardOnly).Status, "fingerprints survive")
	require.Equal(t, "Refund amount ($30.00) is greater than unrefunded amount on charge ($20.00)",
		s.post("/v1/refunds", "", "payment_intent="+created.Body["id"].(string)+"&amount=3000").Err["message"])
	require.NotEmpty(t, s.requests(map[string][]string{"key": {"op:1:confirm:1"}}))
}

func TestJournal_TornLastLineIsCut(t *testing.T) {
	t.Parallel()
	cfg := stripesim.Config{Journal: filepath.Join(t.TempDir(), "journal")}
	s := start(t, cfg)
	s.create()
	pi := s.create()
	require.NoError(t, s.srv.Close())
	whole, err := os.ReadFile(cfg.Journal)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(cfg.Journal, append(whole, `{"a":"shop","o":[{"k":"payment_int`...), 0o600))

	s = start(t, cfg)
	require.Equal(t, pi.ID, s.get("/v1/payment_intents/" + pi.ID).Body["id"])
	next := s.create()
	require.NoError(t, s.srv.Close())
	s = start(t, cfg)
	require.Equal(t, next.ID, s.get("/v1/payment_intents/" + next.ID).Body["id"], "what followed the cut was written cleanly")
	require.Equal(t, pi.ID, s.get("/v1/payment_intents/" + pi.ID).Body["id"], "only the torn record was cut")
}

func TestJournal_BelongsToOneProcess(t *testing.T) {
	t.Parallel()
	cfg := stripesim.Config{Journal: filepath.Join(t.TempDir(), "journal")}
	s := start(t, cfg)
	_, err := stripesim.New(cfg)
	require.ErrorContains(t, err, "in use by another process")
	require.NoError(t, s.srv.Close())
	require.Error(t, s.srv.Close(), "closing twice is told")
	start(t, cfg)
}

func TestJournal_DamageInTheMiddleIsToldByLine(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal")
	require.NoError(t, os.WriteFile(path, []byte("{\"a\":\"shop\"}\n{\"a\":oops}\n{\"a\":\"shop\"}\n"), 0o600))
	_, err := stripesim.New(stripesim.Config{Journal: path})
	require.ErrorContains(t, err, "line 2 is damaged")
}

// TestMain lets the test binary play the simulator process that gets killed.
func TestMain(m *testing.M) {
	served, compacted := os.Getenv("STRIPESIM_TEST_JOURNAL"), os.Getenv("STRIPESIM_TEST_COMPACT")
	if served+compacted != "" {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin) // ends with the test that started this process
			os.Exit(1)
		}()
	}
	switch {
	case served != "":
		serveForKill(served)
	case compacted != "":
		compactForEver(compacted)
	}
	code := m.Run()
	closeBrowser()
	os.Exit(code)
}

func serveForKill(path string) {
	srv, err := stripesim.New(stripesim.Config{Journal: path})
	if err != nil {
		panic(err)
	}
	listenAndTell(srv.Handler())
}

// TestJournal_KillMinusNine kills the process while clients are being answered:
// every answer that was given must be given again after the restart.
func TestJournal_KillMinusNine(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal")
	cmd, url := startChild(t, "STRIPESIM_TEST_JOURNAL="+path)

	answers := make(chan [2]string, 10_000)
	for w := range 4 {
		go func() {
			for n := 0; ; n++ {
				key := strings.Repeat("w", w+1) + ":" + time.Duration(n).String()
				body, err := postForm(url, key)
				if err != nil {
					answers <- [2]string{} // the process is gone
					return
				}
				answers <- [2]string{key, body}
			}
		}()
	}
	given := map[string]string{}
	for gone := 0; gone < 4; {
		a := <-answers
		if a[0] == "" {
			gone++
			continue
		}
		if given[a[0]] = a[1]; len(given) == 300 {
			require.NoError(t, cmd.Process.Kill())
		}
	}
	_ = cmd.Wait() // reports the kill
	s := start(t, stripesim.Config{Journal: path})
	for key, body := range given {
		again, err := postForm(s.URL, key)
		require.NoError(t, err)
		require.Equal(t, body, again, "the answer for key %s was given and must not change", key)
	}
	require.GreaterOrEqual(t, s.ledger().Totals["usd"].Charges, int64(len(given)))
	require.LessOrEqual(t, s.ledger().Totals["usd"].Charges, int64(len(given)+4), "at most the requests in flight are extra")
}

func postForm(url, key string) (string, error) {
	req, err := http.NewRequest("POST", url+"/v1/payment_intents", strings.NewReader(cardOnly+"&payment_method=pm_card_visa&confirm=true"))
	if err != nil {
		return "", err
	}
	req.Header.Set("Authorization", "Bearer sk_test_shop")
	req.Header.Set("Idempotency-Key", key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return string(body), err
}
