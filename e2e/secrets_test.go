package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// secret is what no log, row or page may hold: client secrets, API keys and
// webhook secrets of Stripe, and numbers of the test cards that were typed.
var secret = regexp.MustCompile(`_secret_|\b[sr]k_(test|live)_[A-Za-z0-9]|\bwhsec_[A-Za-z0-9]|\b(4242 ?4242 ?4242 ?4242|4000 ?0000 ?0000 ?9995|4000 ?0027 ?6000 ?3184)\b`)

// leaksIn returns where a text gives a secret away, shortened.
func leaksIn(where, text string, own ...string) (leaks []string) {
	for _, at := range secret.FindAllStringIndex(text, 3) {
		leaks = append(leaks, fmt.Sprintf("%s holds a secret: …%s…", where, text[max(0, at[0]-60):min(len(text), at[1]+10)]))
	}
	for _, s := range own {
		if strings.Contains(text, s) {
			leaks = append(leaks, fmt.Sprintf("%s holds the demo's own secret %.8s…", where, s))
		}
	}
	return leaks
}

// ownSecrets are the credentials of this run.
func (d *demo) ownSecrets() ([]string, error) {
	login, err := url.Parse(d.AdminLoginURL)
	if err != nil {
		return nil, fmt.Errorf("reading the sign-in link: %w", err)
	}
	database, err := url.Parse(d.DatabaseURL)
	if err != nil {
		return nil, fmt.Errorf("reading the database URL: %w", err)
	}
	password, _ := database.User.Password()
	return []string{d.APIKey, login.Query().Get("token"), password}, nil
}

// findSecrets looks through the logs, the terminal and every row of every table.
func findSecrets(d *demo) ([]string, error) {
	own, err := d.ownSecrets()
	if err != nil {
		return nil, err
	}
	logs, err := d.logs()
	if err != nil {
		return nil, err
	}
	var leaks []string
	for name, text := range logs {
		leaks = append(leaks, leaksIn("the log of "+name, text, own...)...)
	}
	// The terminal shows the sign-in link; that is what it is for.
	leaks = append(leaks, leaksIn("the terminal", d.printed(), own[0], own[2])...)

	ctx := context.Background()
	rows, err := d.db.Query(ctx, `SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename`)
	if err != nil {
		return leaks, fmt.Errorf("listing the tables: %w", err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return leaks, fmt.Errorf("listing the tables: %w", err)
	}
	for _, table := range tables {
		rows, err := d.db.Query(ctx, `SELECT t::text FROM `+pgx.Identifier{table}.Sanitize()+` t`)
		if err != nil {
			return leaks, fmt.Errorf("reading %s: %w", table, err)
		}
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return leaks, fmt.Errorf("reading %s: %w", table, err)
		}
		for _, line := range lines {
			leaks = append(leaks, leaksIn("a row of "+table, line, own...)...)
		}
	}
	return leaks, nil
}

// TestSecrets_StayWhereTheyBelong takes orders down every road on which a
// secret travels, and looks for it everywhere afterwards. The same search runs
// once more after the last test.
func TestSecrets_StayWhereTheyBelong(t *testing.T) {
	t.Parallel()
	d := sharedDemo(t)
	s := newShopper(t, d.ShopURL)
	s.signIn(d)
	seen := map[string]bool{}
	look := func(path string) answer {
		a := s.get(path)
		seen[path] = true
		require.Empty(t, leaksIn(path, a.Body))
		for name, values := range a.Header {
			require.Empty(t, leaksIn(path+" in "+name, strings.Join(values, " ")))
		}
		return a
	}

	// One that is refused at first, one that Stripe answers badly, one that the bank asks about.
	var bought []order
	for _, way := range []struct {
		method, fault string
		quantity      int
	}{
		{"pm_card_visa_chargeDeclined", "", 11},
		{"pm_card_visa", "unauthorized", 13},
		{"pm_card_visa", "html_502_with_effect", 14},
		{"pm_card_visa", "truncate", 15},
		{"pm_card_threeDSecure2Required", "", 16},
	} {
		if way.fault != "" {
			d.misbehave(t, way.fault, confirmEndpoint, int64(way.quantity)*5400, 0, 1)
		}
		s.fill("linen-apron", way.quantity)
		look("/cart")
		look("/checkout")
		email := newEmail("secret")
		form := s.checkout("Ada Lovelace", email)
		form.Set("payment_method", way.method)
		placed := s.post("/checkout", form)
		require.Equal(t, http.StatusSeeOther, placed.Status, placed.Body)
		look(placed.Header.Get("Location"))
		bought = append(bought, d.onlyOrder(t, email))
	}
	declined, asked := bought[0], bought[len(bought)-1]
	eventually(t, func() bool { return len(d.orders(t, "id = $1 AND state = 'payment_failed'", declined.ID)) == 1 }, "a decline")
	look("/orders/" + declined.PublicID)
	again := s.post("/orders/"+declined.PublicID+"/pay", s.anotherCard(declined, "pm_card_visa"))
	require.Equal(t, http.StatusSeeOther, again.Status)

	// To the bank's page, and back with what the bank adds to the address.
	path := "/orders/" + asked.PublicID
	eventually(t, func() bool { return strings.Contains(s.get(path).Body, path+"/authenticate") }, "the bank to ask the shopper")
	look(path)
	toBank := s.get(path + "/authenticate") // the one address that may hold a secret is not a page of ours
	require.Equal(t, http.StatusSeeOther, toBank.Status)
	fromBank := s.post(toBank.Header.Get("Location"), url.Values{"result": {"approve"}})
	require.Equal(t, http.StatusSeeOther, fromBank.Status, fromBank.Body)
	back := fromBank.Header.Get("Location")
	require.Contains(t, back, "_secret_", "the way back carries no secret, so this proves nothing")
	require.Equal(t, http.StatusSeeOther, s.get(back).Status)

	for _, o := range bought {
		d.completed(t, o)
		look("/orders/" + o.PublicID)
		for _, kind := range []string{"charge", "receipt-email"} {
			for _, op := range d.operations(t, o, kind) {
				look("/admin/operations/" + op.Key)
			}
		}
		mail := d.onlyMail(t, o.Email)
		require.Empty(t, leaksIn("the mail", mail.Text+mail.HTML+mail.Subject))
	}
	look("/admin/operations")
	require.Greater(t, len(seen), 15, "pages looked at")

	leaks, err := findSecrets(d)
	require.NoError(t, err)
	require.Empty(t, leaks)
}

// TestSecrets_AreFoundWhenTheyAreThere holds the search itself to what it is for.
func TestSecrets_AreFoundWhenTheyAreThere(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"pi_3Abc_secret_9xYz", "Bearer sk_test_simabc", "rk_live_1", "whsec_abc=", "card 4242424242424242", "4000 0000 0000 9995"} {
		require.NotEmpty(t, leaksIn("a text", "before "+text+" after"), text)
	}
	require.NotEmpty(t, leaksIn("a text", "the key shop_abc is in it", "shop_abc"))
	require.Empty(t, leaksIn("a text", "the confirmation token ctoken_1Abc and the card ending in 4242 are no secrets; sk_test_… is a name"))
	raw, err := os.ReadFile("secrets_test.go")
	require.NoError(t, err)
	require.NotEmpty(t, leaksIn("this file", string(raw)))
}
