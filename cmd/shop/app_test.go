package main

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

func runShop(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = run(context.Background(), args, &out, &err)
	return code, out.String(), err.String()
}

func TestOpkeyPrintsTheKey(t *testing.T) {
	code, out, _ := runShop(t, "opkey", "charge", `{ "orderId" : 1042.0 }`)
	require.Equal(t, exitOK, code)
	require.Equal(t, "6bfe4dd594bc073702f6c049c76f9a1b3dc11070416f6abf8aaae9ad52736770\n", out)
	for name, identity := range map[string]string{"not UTF-8": "{\"a\":\"\xff\"}", "not JSON": "{", "an integer too large": `{"a":9007199254740993}`} {
		code, out, problem := runShop(t, "opkey", "charge", identity)
		require.NotEqual(t, exitOK, code, name)
		require.Empty(t, out, name)
		require.NotEmpty(t, problem, name)
	}
}

// A wrong setting gets an error that names the variable, what it got and an
// example of what it takes, and never a secret.
func TestAWrongSettingIsExplained(t *testing.T) {
	good := map[string]string{"DATABASE_URL": "postgres://shop:hunter2@127.0.0.1:1/shop", "STRIPE_SECRET_KEY": "sk_test_x", "SMTP_URL": "smtp://localhost:1025",
		"STRIPE_PUBLISHABLE_KEY": "pk_test_x"}
	for name, c := range map[string]struct {
		command, variable, value string
		says                     []string
	}{
		"another database":    {"worker", "DATABASE_URL", "mysql://shop:hunter2@db", []string{"DATABASE_URL", "mysql://", "postgres://"}},
		"no database":         {"migrate", "DATABASE_URL", "", []string{"DATABASE_URL", "postgres://"}},
		"a card number":       {"worker", "STRIPE_SECRET_KEY", "4242424242424242hunter2", []string{"STRIPE_SECRET_KEY", "4242…", "sk_test_"}},
		"swapped keys":        {"web", "STRIPE_PUBLISHABLE_KEY", "sk_test_hunter2", []string{"STRIPE_PUBLISHABLE_KEY", "pk_test_"}},
		"a path":              {"worker", "STRIPE_API_BASE", "http://localhost:1/v1", []string{"STRIPE_API_BASE", "/v1", "http://127.0.0.1"}},
		"no mail server":      {"worker", "SMTP_URL", "mail:hunter2", []string{"SMTP_URL", "smtp://"}},
		"no sender":           {"worker", "MAIL_FROM", "nobody", []string{"MAIL_FROM", "nobody", "@once.example"}},
		"no length of time":   {"worker", "SHOP_LEASE", "soon", []string{"SHOP_LEASE", "soon", "15s"}},
		"a short lease":       {"worker", "SHOP_LEASE", "9s", []string{"SHOP_LEASE", "9s", "STRIPE_TIMEOUT", "8s"}},
		"a short job":         {"worker", "SHOP_JOB_TIMEOUT", "10s", []string{"SHOP_JOB_TIMEOUT", "10s", "SHOP_LEASE", "15s"}},
		"a long job":          {"worker", "SHOP_JOB_TIMEOUT", "10m", []string{"SHOP_JOB_TIMEOUT", "10m", "5m"}},
		"no number":           {"worker", "SHOP_DB_CONNS", "many", []string{"SHOP_DB_CONNS", "many", "12"}},
		"no workers":          {"worker", "SHOP_WORKERS", "0", []string{"SHOP_WORKERS", "0", "32"}},
		"a negative limit":    {"stripe-sim", "STRIPE_SIM_RATE_LIMIT", "-1", []string{"STRIPE_SIM_RATE_LIMIT", "-1", "25"}},
		"no lag":              {"stripe-sim", "STRIPE_SIM_SEARCH_LAG", "soon", []string{"STRIPE_SIM_SEARCH_LAG", "soon", "15s"}},
		"no currency":         {"migrate", "SHOP_CURRENCY", "USD", []string{"SHOP_CURRENCY", "USD", "usd"}},
		"no origin":           {"web", "SHOP_URL", "shop.example.com", []string{"SHOP_URL", "shop.example.com", "https://"}},
		"no address":          {"web", "SHOP_ADDR", "8080", []string{"SHOP_ADDR", "8080", "127.0.0.1:8080"}},
		"no webhook secret":   {"web", "STRIPE_WEBHOOK_SECRET", "hunter2hunter2", []string{"STRIPE_WEBHOOK_SECRET", "whsec_"}},
		"live and local":      {"worker", "STRIPE_SECRET_KEY", "sk_live_hunter2", []string{"STRIPE_API_BASE", "live"}},
		"live and a stand-in": {"web", "STRIPE_SECRET_KEY", "sk_live_hunter2", []string{"live"}},
	} {
		t.Run(name, func(t *testing.T) {
			for k, v := range good {
				t.Setenv(k, v)
			}
			if name == "live and local" {
				t.Setenv("STRIPE_API_BASE", "http://127.0.0.1:1")
			}
			if name == "live and a stand-in" {
				t.Setenv("STRIPE_JS_URL", "http://127.0.0.1:1/_sim/js/v3/")
			}
			t.Setenv(c.variable, c.value)
			code, _, problem := runShop(t, c.command)
			require.Equal(t, exitUsage, code, problem)
			for _, want := range c.says {
				require.Contains(t, problem, want)
			}
			require.NotContains(t, problem, "hunter2")
		})
	}
}

// An empty variable in a script must not give a whole payment back.
func TestARefundSaysHowMuch(t *testing.T) {
	t.Setenv("DATABASE_URL", "postgres://shop@127.0.0.1:1/shop")
	for _, args := range [][]string{nil, {"--all", "--amount", "1.00"}} {
		code, _, problem := runShop(t, append([]string{"refund", "1001", "--reason", "r"}, args...)...)
		require.Equal(t, exitUsage, code)
		require.Contains(t, problem, "--all")
	}
	_, _, problem := runShop(t, "refund", "1001", "--reason", "r", "--amount=")
	require.NotContains(t, problem, "entered")
}

func TestHelpAndUnknownCommands(t *testing.T) {
	code, out, _ := runShop(t, "--help")
	require.Equal(t, exitOK, code)
	for _, command := range []string{"demo", "web", "worker", "migrate", "stripe-sim", "mail-sim", "opkey", "verify", "refund", "reconcile", "config", "version"} {
		require.Contains(t, out, command)
	}
	code, _, problem := runShop(t, "dance")
	require.Equal(t, exitUsage, code)
	require.Contains(t, problem, "dance")
	code, out, _ = runShop(t, "version")
	require.Equal(t, exitOK, code)
	require.Contains(t, out, "shop")
}
