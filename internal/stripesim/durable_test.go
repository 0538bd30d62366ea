package stripesim

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// ask sends one request past the socket.
func ask(s *Server, method, path, key, form string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(form))
	r.Header.Set("Authorization", "Bearer sk_test_x")
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	return w
}

// failing is a server whose journal can no longer be written, as on a full disk.
func failing(t *testing.T) *Server {
	t.Helper()
	path := filepath.Join(t.TempDir(), "journal")
	s, err := New(Config{Journal: path, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	require.NoError(t, err)
	readOnly, err := os.Open(path)
	require.NoError(t, err)
	require.NoError(t, s.journal.file.Close())
	s.journal.file = readOnly
	t.Cleanup(func() { require.ErrorContains(t, s.Close(), "writing journal") })
	return s
}

// TestJournal_NothingIsShownThatIsNotJournaled: when a write was lost, no read of any
// sort shows what it would have changed.
func TestJournal_NothingIsShownThatIsNotJournaled(t *testing.T) {
	t.Parallel()
	s := failing(t)
	const form = "amount=2500&currency=usd&payment_method_types[]=card&confirm=true&payment_method=pm_card_visa"
	lost := ask(s, "POST", "/v1/payment_intents", "k", form)
	require.Equal(t, 500, lost.Code)
	require.NotContains(t, lost.Body.String(), `"id":"pi_`)
	id := s.account("x").intents.rows[0].ID
	for _, path := range []string{"/v1/payment_intents", "/v1/payment_intents/" + id, "/v1/charges", "/v1/balance", "/v1/events", "/v1/payment_intents/pi_none"} {
		w := ask(s, "GET", path, "", "")
		require.Equal(t, 500, w.Code, path)
		require.NotContains(t, w.Body.String(), id, path)
	}
	require.Equal(t, 500, ask(s, "POST", "/v1/payment_intents", "k", form).Code, "a replay neither")
	require.Equal(t, 500, ask(s, "DELETE", "/v1/customers/cus_none", "", "").Code)
	for _, path := range []string{"/", "/_sim/ledger", "/_sim/requests", "/_sim/requests?since=0", "/_sim/objects/x/" + id} {
		w := ask(s, "GET", path, "", "")
		require.Equal(t, 500, w.Code, path)
		require.NotContains(t, w.Body.String(), id, path)
	}
	require.Equal(t, 500, ask(s, "POST", "/_sim/clock", "", `{"advance":"1h"}`).Code)
}

// holdWrites keeps every record from the file until the returned function is called.
func holdWrites(t *testing.T, s *Server) (release func()) {
	s.journal.writing.Lock()
	release = sync.OnceFunc(s.journal.writing.Unlock)
	t.Cleanup(release) // a failed test must still be able to close its server
	return release
}

// TestJournal_AReadWaitsForTheWriteItShows: while a record is on its way to the file, a
// read that would show it is not answered.
func TestJournal_AReadWaitsForTheWriteItShows(t *testing.T) {
	t.Parallel()
	s := quiet(t, Config{Journal: filepath.Join(t.TempDir(), "journal")})
	release := holdWrites(t, s)
	wrote, read := make(chan int, 1), make(chan int, 1)
	go func() { wrote <- ask(s, "POST", "/v1/customers", "", "name=Ada").Code }()
	logged := func(n int) func() bool {
		return func() bool { return len(s.log.newest(10, func(*requestEntry) bool { return true })) == n }
	}
	require.Eventually(t, logged(1), 5*time.Second, time.Millisecond)
	go func() { read <- ask(s, "GET", "/v1/customers", "", "").Code }()
	require.Eventually(t, logged(2), 5*time.Second, time.Millisecond, "the read has executed")
	require.Never(t, func() bool { return len(wrote)+len(read) > 0 }, 50*time.Millisecond, 5*time.Millisecond, "and neither is answered")
	release()
	require.Equal(t, 200, <-wrote)
	require.Equal(t, 200, <-read)
}

// TestJournal_AWebhookWaitsToo: an event is delivered when it is journaled, not before.
func TestJournal_AWebhookWaitsToo(t *testing.T) {
	t.Parallel()
	got := make(chan struct{}, 10)
	hook := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { got <- struct{}{} }))
	t.Cleanup(hook.Close)
	s := quiet(t, Config{Journal: filepath.Join(t.TempDir(), "journal"), WebhookURL: hook.URL})
	release := holdWrites(t, s)
	done := make(chan int, 1)
	go func() { done <- ask(s, "POST", "/v1/customers", "", "").Code }()
	require.Eventually(t, func() bool { return len(s.log.newest(1, func(*requestEntry) bool { return true })) == 1 }, 5*time.Second, time.Millisecond)
	require.Never(t, func() bool { return len(got) > 0 }, 50*time.Millisecond, 5*time.Millisecond)
	release()
	require.Equal(t, 200, <-done)
	<-got
}

// TestJournal_RefusedRequestsDoNotPileUp: what nobody waits for is written all the same.
func TestJournal_RefusedRequestsDoNotPileUp(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal")
	s := quiet(t, Config{Journal: path})
	for range 500 {
		require.Equal(t, 400, ask(s, "POST", "/v1/payment_intents", "", "amount=%zz").Code)
	}
	require.Empty(t, s.journal.buf)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, 500, strings.Count(string(text), "\n"))
}

// TestRequestLog_IsBoundedInBytes: neither one huge request nor many fill the memory.
func TestRequestLog_IsBoundedInBytes(t *testing.T) {
	t.Parallel()
	long, err := parseForm("description=" + strings.Repeat("ü", 5000))
	require.Nil(t, err)
	kept := logged(long)["description"]
	require.Less(t, len(kept), maxLoggedValue+10)
	require.True(t, strings.HasSuffix(kept, "…"))
	require.NotContains(t, kept, "\uFFFD", "cut between characters")

	form := ""
	for i := range 900 {
		form += fmt.Sprintf("metadata[k%d]=%s&", i, strings.Repeat("v", 900))
	}
	many, err := parseForm(form)
	require.Nil(t, err)
	require.LessOrEqual(t, (&requestEntry{Params: logged(many)}).size(), maxLoggedForm+10)
	require.Equal(t, "…", logged(many)["…"], "what was left out is told")

	l := requestLog{keep: 1_000_000, limit: 1 << 20}
	for range 1000 {
		l.add(requestEntry{Params: logged(many)})
		require.LessOrEqual(t, l.size, 1<<20+maxLoggedForm+10)
	}
	sum := 0
	for i := range l.ring {
		sum += l.ring[i].size()
	}
	require.Equal(t, sum, l.size, "the count is right")
	require.EqualValues(t, 1000, l.n)
	require.EqualValues(t, 1000, l.ring[len(l.ring)-1].N, "the newest are kept")
	require.Greater(t, len(l.ring), 30)
}

// TestRequestLog_KeepsTheNewest and numbers them without gaps.
func TestRequestLog_KeepsTheNewest(t *testing.T) {
	t.Parallel()
	s := quiet(t, Config{KeepRequests: 10})
	for i := range 100 {
		ask(s, "GET", "/v1/balance", fmt.Sprint(i), "")
	}
	all := s.log.newest(1000, func(*requestEntry) bool { return true })
	require.GreaterOrEqual(t, len(all), 10)
	require.Less(t, len(all), 20)
	for i := range all {
		require.EqualValues(t, 100-len(all)+i+1, all[i].N)
	}
}

// TestRequestLog_MasksCards wherever their data stands.
func TestRequestLog_MasksCards(t *testing.T) {
	t.Parallel()
	p, err := parseForm("card[number]=4242424242424242&payment_method_data[card][number]=4000000000000002&card[cvc]=123&client_secret=pi_1_secret_x&key=pk_test_x&card[exp_year]=2040&a=1&a=2")
	require.Nil(t, err)
	require.Equal(t, map[string]string{"card[number]": "…4242", "payment_method_data[card][number]": "…0002", "card[cvc]": "…", "client_secret": "…", "key": "…",
		"card[exp_year]": "2040", "a": "1,2"}, logged(p))
	path := filepath.Join(t.TempDir(), "journal")
	s := quiet(t, Config{Journal: path})
	ask(s, "POST", "/v1/payment_methods", "", "type=card&card[number]=4242424242424242&card[exp_month]=12&card[exp_year]=2040&card[cvc]=987")
	text, ferr := os.ReadFile(path)
	require.NoError(t, ferr)
	require.NotContains(t, string(text), "4242424242424242")
	require.NotContains(t, string(text), "987")
}

// TestMemory_ADayOfTrafficIsBounded: forgotten keys are swept out while new ones come.
func TestMemory_KeysOfYesterdayAreSweptOut(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	s := quiet(t, Config{Now: func() time.Time { return now }})
	for i := range pruneEvery {
		ask(s, "POST", "/v1/payment_intents/pi_none/cancel", fmt.Sprint("refused", i), "")
		if i%16 == 0 {
			ask(s, "POST", "/v1/customers", fmt.Sprint("kept", i), "")
		}
	}
	require.Len(t, s.account("x").idem, pruneEvery/16, "refusals leave nothing")
	now = now.Add(25 * time.Hour)
	for i := range pruneEvery {
		ask(s, "POST", "/v1/payment_intents/pi_none/cancel", fmt.Sprint("later", i), "")
	}
	require.Empty(t, s.account("x").idem)
}

// TestDamagedJournals: each is an error that names the line.
func TestDamagedJournals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, says string }{
		"no JSON":          {"{}\nnonsense\n", "line 2 is damaged"},
		"unknown kind":     {`{"a":"x","o":[{"k":"spaceship","v":{}}]}` + "\n", `unknown kind of object "spaceship"`},
		"wrong type":       {`{"a":"x","o":[{"k":"charge","v":{"amount":"x"}}]}` + "\n", "line 1 is damaged"},
		"event of nothing": {`{"a":"x","e":[{"id":"evt_1","version":3}]}` + "\n", "event evt_1 is about object 3 of 0"},
		"event of another": {`{"a":"x","e":[{"id":"evt_1","of":"pi_none"}]}` + "\n", "pi_none"},
		"negative version": {`{"a":"x","o":[{"k":"charge","v":{"id":"ch_1"}}],"e":[{"id":"evt_1","version":-1}]}` + "\n", "event evt_1"},
	} {
		path := filepath.Join(t.TempDir(), "journal")
		require.NoError(t, os.WriteFile(path, []byte(c.text), 0o600))
		_, err := New(Config{Journal: path})
		require.ErrorContains(t, err, c.says, name)
		require.ErrorContains(t, err, path, name)
	}
	_, err := New(Config{Journal: filepath.Join(t.TempDir(), "none", "journal")})
	require.ErrorContains(t, err, "opening journal")
	_, err = New(Config{Journal: t.TempDir()})
	require.ErrorContains(t, err, "journal")
}
