package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// atOnce runs n calls that start together and returns their answers.
func atOnce[T any](n int, call func(i int) T) []T {
	answers := make([]T, n)
	var wg sync.WaitGroup
	gate := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-gate
			answers[i] = call(i)
		})
	}
	close(gate)
	wg.Wait()
	return answers
}

// submit sends a checkout form without any test helper, so that it can run
// beside others, and returns where it led.
func submit(client *http.Client, base string, form url.Values, cart *http.Cookie) string {
	req, err := http.NewRequest(http.MethodPost, base+"/checkout", strings.NewReader(form.Encode()))
	if err != nil {
		return err.Error()
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.AddCookie(cart)
	resp, err := client.Do(req)
	if err != nil {
		return err.Error()
	}
	resp.Body.Close()
	return fmt.Sprintf("%d %s", resp.StatusCode, resp.Header.Get("Location"))
}

func TestOnce_TwentyClicksAtOnce(t *testing.T) {
	t.Parallel()
	d := sharedDemo(t)
	email := newEmail("katherine")
	s := newShopper(t, d.ShopURL)
	s.fill("pocket-knife", 1)
	form := s.checkout("Katherine Johnson", email)
	cart := s.cartCookie()
	client := &http.Client{CheckRedirect: s.http.CheckRedirect, Timeout: patience}
	answers := atOnce(20, func(int) string { return submit(client, d.ShopURL, form, cart) })

	o := d.onlyOrder(t, email)
	for _, a := range answers {
		require.Equal(t, "303 /orders/"+o.PublicID, a)
	}
	d.paidOnce(t, o, 0)
	d.onlyMail(t, email)
}

func TestOnce_ThroughTwoWebServers(t *testing.T) {
	t.Parallel()
	d := sharedDemo(t)
	other := d.secondWeb(t)
	email := newEmail("dorothy")
	s := newShopper(t, d.ShopURL)
	s.fill("pocket-knife", 2)
	form := s.checkout("Dorothy Vaughan", email)
	cart := s.cartCookie()
	client := &http.Client{CheckRedirect: s.http.CheckRedirect, Timeout: patience}
	bases := []string{d.ShopURL, other}
	answers := atOnce(20, func(i int) string { return submit(client, bases[i%2], form, cart) })

	o := d.onlyOrder(t, email)
	for _, a := range answers {
		require.Equal(t, "303 /orders/"+o.PublicID, a)
	}
	d.paidOnce(t, o, 0)
	d.onlyMail(t, email)
}

var listening = regexp.MustCompile(`msg=listening addr=(\S+)`)

// secondWeb runs another web server on the demo's database and returns its origin.
func (d *demo) secondWeb(t *testing.T) string {
	t.Helper()
	keys := d.keys(t)
	said := filepath.Join(t.TempDir(), "web.log")
	log, err := os.Create(said)
	require.NoError(t, err)
	defer log.Close()
	cmd := exec.Command(d.bin, "web", "--addr", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), "SHOP_LIFELINE=stdin", "DATABASE_URL="+d.DatabaseURL, "SHOP_URL="+d.ShopURL, "SHOP_DEMO=true",
		"STRIPE_SECRET_KEY="+keys["stripe_secret_key"], "STRIPE_PUBLISHABLE_KEY="+keys["stripe_publishable_key"], "STRIPE_API_BASE="+d.StripeURL)
	cmd.Stdout, cmd.Stderr = log, log
	lifeline, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = lifeline.Close()
		_ = cmd.Wait()
		if raw, err := os.ReadFile(said); t.Failed() && err == nil {
			t.Logf("the second web server said\n%s", raw)
		}
	})
	origin := ""
	eventually(t, func() bool {
		raw, _ := os.ReadFile(said)
		if at := listening.FindSubmatch(raw); at != nil {
			origin = "http://" + string(at[1])
		}
		return origin != ""
	}, "the second web server to listen")
	return origin
}

func TestOnce_TheAPIAnswersARepeatFromItsStore(t *testing.T) {
	t.Parallel()
	d := sharedDemo(t)
	email := newEmail("annie")
	body := orderBody(email, "brass-lamp", 1, "pm_card_visa")
	type reply struct {
		status   int
		replayed string
		order    apiOrder
	}
	ask := func(int) reply {
		// A request that meets another under way may be told to come again.
		for {
			status, header, raw := call(t.Context(), d.ready, http.MethodPost, "/orders", "annie-1", body)
			if status == http.StatusConflict {
				continue
			}
			r := reply{status: status, replayed: header.Get("Idempotent-Replayed")}
			_ = json.Unmarshal(raw, &r.order)
			return r
		}
	}
	replies := append(atOnce(20, ask), ask(0))
	o := d.onlyOrder(t, email)
	first := 0
	for _, r := range replies {
		require.Equal(t, http.StatusCreated, r.status)
		require.Equal(t, o.PublicID, r.order.ID)
		if r.replayed == "" {
			first++
		}
	}
	require.Equal(t, 1, first, "answers that were not replays")
	d.paidOnce(t, o, 0)
	d.onlyMail(t, email)
}

// declinedOrder places an order whose card is declined, and waits for that.
func (d *demo) declinedOrder(t *testing.T, key, email, sku string, quantity int) order {
	t.Helper()
	o := d.place(t, key, email, sku, quantity, "pm_card_visa_chargeDeclined")
	d.declines(t, o, 1)
	return o
}

// declines waits until so many charges of an order were declined and none is under way.
func (d *demo) declines(t *testing.T, o order, n int) {
	t.Helper()
	eventually(t, func() bool {
		return d.count(`SELECT count(*) FROM operations JOIN orders ON orders.id = $1 WHERE kind = 'charge' AND subject_type = 'order'
			AND subject_id = $2 AND outcome = 'declined' AND orders.state = 'payment_failed'`, o.ID, fmt.Sprint(o.ID)) == n
	}, "%d declines of order %d", n, o.ID)
}

// A form of twenty clicks must lead to one more charge, and must not take all
// connections to the database while it waits for itself.
func TestOnce_TwentyClicksOnAnotherCard(t *testing.T) {
	t.Parallel()
	d := sharedDemo(t)
	email := newEmail("lise")
	o := d.declinedOrder(t, "lise-1", email, "brass-lamp", 2)
	s := newShopper(t, d.ShopURL)
	form := s.anotherCard(o, "pm_card_visa")
	client := &http.Client{Timeout: patience, CheckRedirect: s.http.CheckRedirect}
	answers := atOnce(20, func(int) string {
		resp, err := client.PostForm(d.ShopURL+"/orders/"+o.PublicID+"/pay", form)
		if err != nil {
			return err.Error()
		}
		resp.Body.Close()
		return resp.Status
	})
	for _, status := range answers {
		require.Equal(t, "303 See Other", status)
	}
	d.paidOnce(t, o, 1)
	d.onlyMail(t, email)
}

// A form that was answered already must not start what nobody asked for again.
func TestOnce_AnOldFormForAnotherCardDoesNothing(t *testing.T) {
	t.Parallel()
	d := sharedDemo(t)
	o := d.declinedOrder(t, "rosalind-1", newEmail("rosalind"), "brass-lamp", 3)
	s := newShopper(t, d.ShopURL)
	old := s.anotherCard(o, "pm_card_visa_chargeDeclinedInsufficientFunds")
	require.Equal(t, http.StatusSeeOther, s.post("/orders/"+o.PublicID+"/pay", old).Status)
	d.declines(t, o, 2)
	old.Set("payment_method", "pm_card_visa")
	a := s.post("/orders/"+o.PublicID+"/pay", old)
	require.Equal(t, http.StatusSeeOther, a.Status)
	require.Equal(t, "/orders/"+o.PublicID, a.Header.Get("Location"))
	require.Equal(t, "payment_failed", d.orders(t, "id = $1", o.ID)[0].State)

	// The page has a new form, and that one works.
	require.Equal(t, http.StatusSeeOther, s.post("/orders/"+o.PublicID+"/pay", s.anotherCard(o, "pm_card_visa")).Status)
	d.paidOnce(t, o, 2)
	// A form that is left over from before does nothing to a paid order.
	require.Equal(t, http.StatusSeeOther, s.post("/orders/"+o.PublicID+"/pay", old).Status)
	d.paidOnce(t, o, 2)
}

// The mail server keeps the receipt and hangs up before it says so. Nobody can
// know then whether it arrived, so it is sent again: as the same letter.
func TestOnce_AReceiptThatMayHaveArrivedIsTheSameLetter(t *testing.T) {
	t.Parallel()
	d := sharedDemo(t)
	email := newEmail("barbara")
	resp, err := http.Post(d.InboxURL+"/api/faults", "application/json",
		strings.NewReader(fmt.Sprintf(`{"kind":"accept_then_drop","count":1,"match":%q}`, email)))
	require.NoError(t, err)
	resp.Body.Close()
	require.Equal(t, http.StatusCreated, resp.StatusCode)
	o := d.place(t, "barbara-1", email, "moka-pot", 1, "pm_card_visa")
	d.paidOnce(t, o, 0)
	mails := d.mails(t, email)
	require.Len(t, mails, 2, "the letter that was kept and the one that was confirmed")
	require.NotEmpty(t, mails[0].MessageID)
	require.Equal(t, mails[0].MessageID, mails[1].MessageID)
}
