package e2e

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// readyKeys are what --ready-file promises.
var readyKeys = []string{"shop_url", "admin_url", "admin_login_url", "api_url", "api_key", "stripe_url", "inbox_url", "database_url"}

// stopsBy is how long Ctrl-C may take.
const stopsBy = 10 * time.Second

// ctrlC stops the demo as its user does and checks that nothing of it is left.
func (d *demo) ctrlC(t *testing.T) {
	t.Helper()
	family := d.family()
	require.GreaterOrEqual(t, len(family), 6, "the demo, its four parts and PostgreSQL: %v", family)
	began := time.Now()
	require.NoError(t, d.stop(), "a Ctrl-C is no failure")
	took := time.Since(began)
	require.Less(t, took, stopsBy)
	require.Empty(t, remaining(family), "processes after the end")
	for _, p := range processes() {
		require.NotContains(t, p.command, d.dir, "a process of this demo")
	}
	t.Logf("Ctrl-C to the end: %s", took.Round(time.Millisecond))
}

// firstPaid orders once and returns how long after its start the demo had the
// order paid and its receipt in the inbox.
func (d *demo) firstPaid(t *testing.T, key, email string) (order, time.Duration) {
	t.Helper()
	o := d.place(t, key, email, "enamel-mug", 1, "pm_card_visa")
	eventually(t, func() bool { return len(d.mails(t, email)) == 1 }, "the receipt")
	took := time.Since(d.began)
	d.paidOnce(t, o, 0)
	return o, took
}

func TestLifecycle_StartStopStartAgainAndStartOver(t *testing.T) {
	t.Parallel()
	d := newDemo(t)
	require.NoError(t, d.start())
	first, took := d.firstPaid(t, "life-1", newEmail("first"))
	t.Logf("from nothing to the first paid order with its receipt: %s", took.Round(time.Millisecond))
	require.Less(t, took, patience)

	raw, err := os.ReadFile(d.readyFile())
	require.NoError(t, err)
	var said map[string]string
	require.NoError(t, json.Unmarshal(raw, &said))
	require.Len(t, said, len(readyKeys))
	for _, key := range readyKeys {
		require.NotEmpty(t, said[key], key)
	}
	info, err := os.Stat(d.readyFile())
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "the file holds credentials")
	for _, address := range []string{"shop_url", "stripe_url", "inbox_url"} {
		require.Equal(t, http.StatusOK, newShopper(t, said[address]).get("/").Status, address)
		require.Contains(t, d.printed(), said[address])
	}
	require.Contains(t, d.printed(), said["admin_login_url"])
	require.Contains(t, d.printed(), d.data)
	eventually(t, func() bool {
		return strings.Contains(d.printed(), fmt.Sprintf("order %d  $18.00  paid, receipt sent", first.ID))
	}, "a line about the order on the terminal")
	key, link := d.APIKey, d.AdminLoginURL

	d.ctrlC(t)
	for _, address := range []string{d.ShopURL, d.StripeURL, d.InboxURL} {
		u, err := url.Parse(address)
		require.NoError(t, err)
		_, err = net.Dial("tcp", u.Host)
		require.Error(t, err, "nobody listens at %s any more", address)
	}

	require.NoError(t, d.start())
	_, took = d.firstPaid(t, "life-2", newEmail("second"))
	t.Logf("on existing data to a paid order with its receipt: %s", took.Round(time.Millisecond))
	require.Less(t, took, patience)
	require.Equal(t, key, d.APIKey, "programs keep their key")
	require.NotEqual(t, link, d.AdminLoginURL, "a new link for each run")
	d.paidOnce(t, d.onlyOrder(t, first.Email), 0)
	d.onlyMail(t, first.Email)
	require.Equal(t, http.StatusOK, newShopper(t, d.ShopURL).get("/orders/"+first.PublicID).Status)
	// The same request as before the stop: it meets the same order.
	status, header, body := call(t.Context(), d.ready, http.MethodPost, "/orders", "life-1", orderBody(first.Email, "enamel-mug", 1, "pm_card_visa"))
	require.Equal(t, http.StatusCreated, status, string(body))
	require.Equal(t, "true", header.Get("Idempotent-Replayed"))
	require.Contains(t, string(body), first.PublicID)
	d.ctrlC(t)

	require.NoError(t, d.start("--fresh"))
	require.Zero(t, d.count(`SELECT count(*) FROM orders`))
	require.Empty(t, d.ledger(t))
	require.Empty(t, d.mails(t, first.Email))
	require.Equal(t, http.StatusNotFound, newShopper(t, d.ShopURL).get("/orders/"+first.PublicID).Status)
	_, took = d.firstPaid(t, "life-1", newEmail("third"))
	t.Logf("started over, to a paid order with its receipt: %s", took.Round(time.Millisecond))
	d.ctrlC(t)
}

func TestLifecycle_ATakenPortIsNamedAndPassedOver(t *testing.T) {
	t.Parallel()
	// Two ports in a row, of which somebody else holds the first.
	var taken net.Listener
	var port int
	eventually(t, func() bool {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return false
		}
		port = l.Addr().(*net.TCPAddr).Port
		next, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port+1))
		if err != nil || port > 65000 {
			l.Close()
			return false
		}
		next.Close()
		taken = l
		return true
	}, "two free ports in a row")
	defer taken.Close()

	d := newDemo(t)
	d.addr = fmt.Sprintf("127.0.0.1:%d", port)
	require.NoError(t, d.start())
	require.Contains(t, d.printed(), fmt.Sprintf("port %d is taken", port))
	u, err := url.Parse(d.ShopURL)
	require.NoError(t, err)
	require.NotEqual(t, fmt.Sprint(port), u.Port())
	require.Equal(t, http.StatusOK, newShopper(t, d.ShopURL).get("/").Status)

	// Another demo on the same folder is told so, and does the first one no harm.
	other := &demo{dir: t.TempDir(), bin: d.bin, data: d.data, addr: "127.0.0.1:0"}
	require.NoError(t, other.launch())
	select {
	case <-other.ended:
	case <-time.After(patience):
		require.Fail(t, "the second demo on one folder does not end", other.printed())
	}
	require.Error(t, other.err)
	require.Contains(t, other.printed(), fmt.Sprintf("in use by process %d", d.cmd.Process.Pid))
	require.NoFileExists(t, other.readyFile())
	require.NoError(t, other.launch("--fresh"))
	select {
	case <-other.ended:
	case <-time.After(patience):
		require.Fail(t, "the second demo on one folder does not end", other.printed())
	}
	require.Error(t, other.err)
	require.Contains(t, other.printed(), "in use")
	require.FileExists(t, filepath.Join(d.data, "keys.json"), "starting over beside a running demo deletes nothing")
	_, took := d.firstPaid(t, "port-1", newEmail("port"))
	t.Logf("first paid order with its receipt: %s", took.Round(time.Millisecond))
	d.ctrlC(t)
}

func TestLifecycle_CtrlCDuringTheStart(t *testing.T) {
	t.Parallel()
	d := newDemo(t)
	require.NoError(t, d.launch())
	eventually(t, func() bool {
		_, err := os.Stat(filepath.Join(d.data, "keys.json"))
		return err == nil
	}, "the start to be under way")
	require.NoError(t, d.stop())
	eventually(t, func() bool {
		for _, p := range processes() {
			if strings.Contains(p.command, d.dir) {
				return false
			}
		}
		return true
	}, "all processes to end")
	require.NoFileExists(t, d.readyFile())
	require.NoError(t, d.start(), "what was begun does not stand in the way")
	d.firstPaid(t, "during-1", newEmail("during"))
}

func TestCurrency_YenHaveNoDecimals(t *testing.T) {
	t.Parallel()
	d := startDemo(t, "--currency", "jpy")
	s := newShopper(t, d.ShopURL)
	decimals := func(a answer, where string) {
		t.Helper()
		require.Equal(t, http.StatusOK, a.Status)
		main := a.text("main")
		require.Contains(t, main, "¥", where)
		require.NotRegexp(t, `¥[\d,]*\.\d`, main, where)
		require.NotContains(t, main, "$", where)
	}
	decimals(s.get("/"), "catalogue")
	decimals(s.get("/products/wool-blanket"), "product")
	s.fill("wool-blanket", 3)
	decimals(s.get("/cart"), "cart")
	page := s.get("/checkout")
	decimals(page, "checkout")
	require.Contains(t, page.text("#pay"), "¥38,700")
	amount, _ := page.Page.Find("#payment").Attr("data-amount")
	require.Equal(t, "38700", amount, "the card form is told the yen as they are")
	email := newEmail("yuki")
	a := s.post("/checkout", s.checkout("雪", email))
	require.Equal(t, http.StatusSeeOther, a.Status)
	o := d.onlyOrder(t, email)
	require.Equal(t, int64(38700), o.Total)
	require.Equal(t, "jpy", o.Currency)
	d.paidOnce(t, o, 0)
	order := s.get(a.Header.Get("Location"))
	decimals(order, "order")
	require.Contains(t, order.text(".sums"), "¥38,700")
	mail := d.onlyMail(t, email)
	for _, text := range []string{mail.Text, mail.HTML} {
		require.Contains(t, text, "¥38,700")
		require.NotRegexp(t, `¥[\d,]*\.\d|387\.00|\$`, text)
	}
	pi := d.paymentIntent(t, d.operations(t, o, "charge")[0].Ref)
	require.Equal(t, int64(38700), pi.Amount)
	require.Equal(t, int64(38700), pi.AmountReceived)
	require.Equal(t, "jpy", pi.Currency)
	require.Equal(t, "succeeded", pi.Status)
}
