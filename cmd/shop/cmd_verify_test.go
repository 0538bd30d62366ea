package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"shop/internal/database/dbtest"
	"shop/internal/mailsim"
	"shop/internal/stripesim"
	"shop/internal/verify"
)

func TestVerifyTellsByItsExitCodeAndNamesWhatOffends(t *testing.T) {
	t.Parallel()
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	sim, err := stripesim.New(stripesim.Config{Logger: quiet})
	require.NoError(t, err)
	stripe := httptest.NewServer(sim.Handler())
	t.Cleanup(func() { stripe.Close(); require.NoError(t, sim.Close()) })
	box, err := mailsim.New(mailsim.Config{Logger: quiet})
	require.NoError(t, err)
	inbox := httptest.NewServer(box.Handler())
	t.Cleanup(func() { inbox.Close(); require.NoError(t, box.Close()) })
	shop := func(more ...string) (code int, stdout, stderr string) {
		var out, problems bytes.Buffer
		code = run(context.Background(), append([]string{"verify", "--stripe-secret-key", "sk_test_cli", "--stripe-api-base", stripe.URL,
			"--inbox-url", inbox.URL}, more...), &out, &problems)
		return code, out.String(), problems.String()
	}
	db := dbtest.Clone(t)

	code, out, problems := shop("--database-url", db, "--wait", "10s")
	require.Equal(t, exitOK, code, problems)
	require.Equal(t, 8, strings.Count(out, "  holds  "), out)
	require.Contains(t, out, "Nothing is on its way.")

	req, err := http.NewRequest(http.MethodPost, stripe.URL+"/v1/payment_intents", strings.NewReader(url.Values{"amount": {"1200"},
		"currency": {"usd"}, "payment_method_types[]": {"card"}, "payment_method": {"pm_card_visa"}, "confirm": {"true"}}.Encode()))
	require.NoError(t, err)
	req.SetBasicAuth("sk_test_cli", "")
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	var pi struct{ ID string }
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&pi))
	require.NotEmpty(t, pi.ID)

	code, out, problems = shop("--database-url", db)
	require.Equal(t, exitFailed, code)
	require.Contains(t, out, "broken: "+pi.ID+": it received 1200 usd for no order that is here")
	require.Contains(t, problems, "2 of 8 invariants do not hold: I2 by "+pi.ID+"; I7 by "+pi.ID)

	code, out, _ = shop("--database-url", db, "--json")
	require.Equal(t, exitFailed, code)
	var report verify.Report
	require.NoError(t, json.Unmarshal([]byte(out), &report))
	require.Len(t, report.Results, 8)
	require.Equal(t, pi.ID, report.Results[1].Violations[0].Subject)
	require.NotContains(t, out, "null")

	code, _, _ = shop("--database-url", db, "--since", "2100-01-01T00:00:00Z")
	require.Equal(t, exitOK, code, "it is somebody else's business")

	code, _, problems = shop("--database-url", db, "--stripe-sim", "not an origin")
	require.Equal(t, exitUsage, code)
	require.Contains(t, problems, "--stripe-sim")
}
