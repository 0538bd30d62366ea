package stripesim_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"shop/internal/stripesim"
)

// lived fills an account with a little of everything and returns what it answers.
func (s *sim) lived() map[string]string {
	s.t.Helper()
	for i := range 5 {
		key := fmt.Sprintf("op:%d", i)
		pi := s.post("/v1/payment_intents", key+":create", cardOnly+fmt.Sprintf("&metadata[order_id]=%d", i)).Body["id"].(string)
		card := []string{"pm_card_visa", "pm_card_visa_chargeDeclined", "pm_card_threeDSecure2Required", "pm_card_createDispute"}[i%4]
		s.post("/v1/payment_intents/"+pi+"/confirm", key+":confirm:1", "return_url="+back+"&payment_method="+card)
		s.post("/v1/payment_intents/"+pi, key+":note", fmt.Sprintf("description=Order+%d", i))
		if i == 0 {
			s.post("/v1/refunds", key+":refund", "amount=300&payment_intent="+pi)
		}
	}
	cus := s.post("/v1/customers", "c", "email=a@example.com").Body["id"].(string)
	s.post("/v1/customers/"+cus, "", "name=Ada")
	s.post("/v1/payment_methods/pm_card_visa/attach", "", "customer="+cus)
	return s.snapshot()
}

func TestCompact_KeepsWhatCanBeAskedFor(t *testing.T) {
	t.Parallel()
	cfg := stripesim.Config{Journal: filepath.Join(t.TempDir(), "journal")}
	s := start(t, cfg)
	for many, i := s.create().ID, 0; i < 40; i++ {
		s.post("/v1/payment_intents/"+many, "", fmt.Sprintf("description=version+%d", i))
	}
	want := s.lived()
	replay := s.post("/v1/payment_intents", "op:3:create", cardOnly+"&metadata[order_id]=3")
	log := s.get("/_sim/requests?endpoint=POST+/v1/refunds").Raw
	require.NoError(t, s.srv.Close())
	before := fileSize(t, cfg.Journal)

	cfg.CompactAt, cfg.Now = 1, s.now.Now
	s = start(t, cfg)
	require.Less(t, fileSize(t, cfg.Journal), before, "superseded versions are gone")
	requireSame(t, want, s.snapshot())
	require.Equal(t, log, s.get("/_sim/requests?endpoint=POST+/v1/refunds").Raw, "the log of requests")
	again := s.post("/v1/payment_intents", "op:3:create", cardOnly+"&metadata[order_id]=3")
	require.Equal(t, replay.Raw, again.Raw)
	require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))
	require.Equal(t, replay.Header.Get("Original-Request"), again.Header.Get("Original-Request"))
	require.Equal(t, "idempotency_error", s.post("/v1/refunds", "op:3:create", "").Err["type"], "fingerprints are kept")

	added := s.create().ID
	require.NoError(t, s.srv.Close())
	s = start(t, cfg)
	require.Equal(t, added, s.get("/v1/payment_intents/" + added).Body["id"], "what followed is appended")
	for path, raw := range want {
		if strings.Count(path, "/") == 3 {
			require.Equal(t, raw, s.get(path).Raw)
		}
	}
}

func TestCompact_AnEventStillShowsItsObjectAsItWas(t *testing.T) {
	t.Parallel()
	cfg := stripesim.Config{Journal: filepath.Join(t.TempDir(), "journal"), CompactAt: 1}
	s := start(t, cfg)
	paid := s.paid()
	cfg.Now = s.now.Now
	for range 3 {
		require.NoError(t, s.srv.Close())
		s = start(t, cfg)
		created := s.get("/v1/events?type=payment_intent.created").Body["data"].([]any)[0].(map[string]any)
		require.Equal(t, "requires_payment_method", created["data"].(map[string]any)["object"].(map[string]any)["status"])
		require.Equal(t, "succeeded", s.get("/v1/payment_intents/" + paid.ID).Body["status"], "and the old version does not come back")
	}
}

func TestCompact_ForgetsWhatIsForgotten(t *testing.T) {
	t.Parallel()
	cfg := stripesim.Config{Journal: filepath.Join(t.TempDir(), "journal")}
	s := start(t, cfg)
	for i := range 50 {
		s.post("/v1/payment_intents", fmt.Sprintf("old:%d", i), cardOnly)
	}
	s.now.add(31 * 24 * time.Hour)
	first := s.post("/v1/payment_intents", "new", cardOnly).Body["id"]
	require.NoError(t, s.srv.Close())
	cfg.CompactAt, cfg.Now = 1, s.now.Now
	s = start(t, cfg)
	text, err := os.ReadFile(cfg.Journal)
	require.NoError(t, err)
	require.Zero(t, bytes.Count(text, []byte(`"k":{"key":"old:`)), "keys older than a day")
	require.Equal(t, 1, bytes.Count(text, []byte(`"type":"payment_intent.created"`)), "events older than thirty days")
	require.Equal(t, first, s.post("/v1/payment_intents", "new", cardOnly).Body["id"])
	require.Len(t, s.get("/v1/payment_intents?limit=100").Body["data"], 51, "objects are for ever")
}

func TestCompact_OnlyALargeJournalThatHasGrown(t *testing.T) {
	t.Parallel()
	cfg := stripesim.Config{Journal: filepath.Join(t.TempDir(), "journal")}
	logs := func(cfg stripesim.Config) string {
		var out bytes.Buffer
		cfg.Logger = slog.New(slog.NewTextHandler(&out, nil))
		s := start(t, cfg)
		require.NoError(t, s.srv.Close())
		return out.String()
	}
	s := start(t, cfg)
	s.lived()
	require.NoError(t, s.srv.Close())
	require.NotContains(t, logs(cfg), "compacted", "below the default of 32 MiB nothing happens")
	cfg.CompactAt = 1
	require.Contains(t, logs(cfg), "journal compacted")
	require.NotContains(t, logs(cfg), "journal compacted", "it has not grown since")
	s = start(t, cfg)
	for range 60 {
		s.create()
	}
	require.NoError(t, s.srv.Close())
	require.Contains(t, logs(cfg), "journal compacted", "it is twice as long as it began")
}

func TestCompact_DeliveriesOwedAreStillOwed(t *testing.T) {
	t.Parallel()
	in := newReceiver(t)
	cfg := stripesim.Config{WebhookURL: in.URL, WebhookSecret: secret, WebhookBackoff: time.Hour, WebhookWorkers: 1, Journal: filepath.Join(t.TempDir(), "j")}
	s := start(t, cfg)
	s.create()
	in.await(t, 1)
	require.Eventually(t, func() bool {
		return s.get("/v1/events").Body["data"].([]any)[0].(map[string]any)["pending_webhooks"] == float64(0)
	}, 5*time.Second, 5*time.Millisecond)
	in.mu.Lock()
	in.refuse = 1
	in.mu.Unlock()
	s.create()
	owed := in.await(t, 2)[1]
	require.NoError(t, s.srv.Close())

	cfg.CompactAt = 1
	s = start(t, cfg)
	require.Equal(t, owed.ID, in.await(t, 3)[2].ID)
	s.create()
	got := in.await(t, 4)
	require.Len(t, got, 4, "what had been delivered is not delivered again")
	require.NotContains(t, []string{got[0].ID, owed.ID}, got[3].ID)
}

func TestCompact_GivenUpStaysGivenUp(t *testing.T) {
	t.Parallel()
	in := newReceiver(t)
	in.refuse = 1
	cfg := stripesim.Config{WebhookURL: in.URL, WebhookSecret: secret, WebhookAttempts: 1, Journal: filepath.Join(t.TempDir(), "j")}
	s := start(t, cfg)
	s.create()
	lost := in.await(t, 1)[0].ID
	require.NoError(t, s.srv.Close())
	cfg.CompactAt = 1
	for range 2 {
		s = start(t, cfg)
		require.EqualValues(t, 1, s.get("/v1/events/" + lost).Body["pending_webhooks"], "never accepted")
		require.NoError(t, s.srv.Close())
	}
	require.Len(t, in.all(), 1)
}

func TestCompact_AnUnfinishedOneIsIgnored(t *testing.T) {
	t.Parallel()
	cfg := stripesim.Config{Journal: filepath.Join(t.TempDir(), "journal")}
	s := start(t, cfg)
	want := s.lived()
	cfg.Now = s.now.Now
	require.NoError(t, s.srv.Close())
	require.NoError(t, os.WriteFile(cfg.Journal+".compact", []byte(`{"a":"shop","o":[{"k":"charge","v":{"id":"ch_torn`), 0o600))
	s = start(t, cfg)
	requireSame(t, want, s.snapshot(), "without compacting")
	require.NoError(t, s.srv.Close())
	cfg.CompactAt = 1
	s = start(t, cfg)
	requireSame(t, want, s.snapshot(), "and with")
	require.NoFileExists(t, cfg.Journal+".compact")
}

func TestCompact_WhenItCannotTheOldJournalGoesOn(t *testing.T) {
	t.Parallel()
	cfg := stripesim.Config{Journal: filepath.Join(t.TempDir(), "journal")}
	s := start(t, cfg)
	want := s.lived()
	require.NoError(t, s.srv.Close())
	require.NoError(t, os.Mkdir(cfg.Journal+".compact", 0o700)) // in the way of the new file
	var logs bytes.Buffer
	cfg.CompactAt, cfg.Now, cfg.Logger = 1, s.now.Now, slog.New(slog.NewTextHandler(&logs, nil))
	s = start(t, cfg)
	requireSame(t, want, s.snapshot())
	kept := s.create().ID
	require.NoError(t, s.srv.Close())
	require.Contains(t, logs.String(), "journal not compacted")
	require.Equal(t, kept, start(t, cfg).get("/v1/payment_intents/" + kept).Body["id"])
}

func TestCompact_BelongsToOneProcess(t *testing.T) {
	t.Parallel()
	cfg := stripesim.Config{Journal: filepath.Join(t.TempDir(), "journal"), CompactAt: 1}
	s := start(t, cfg)
	s.create()
	require.NoError(t, s.srv.Close())
	start(t, cfg)
	_, err := stripesim.New(cfg)
	require.ErrorContains(t, err, "in use by another process", "the compacted journal is locked as the old one was")
}

// TestCompact_KillMinusNine kills a process that does nothing but compact, again and
// again at another moment: every time the journal that is left holds everything.
func TestCompact_KillMinusNine(t *testing.T) {
	t.Parallel()
	cfg := stripesim.Config{Journal: filepath.Join(t.TempDir(), "journal")}
	s := start(t, cfg)
	want := s.lived()
	cfg.Now = s.now.Now
	require.NoError(t, s.srv.Close())
	for i := range 8 {
		cmd, _ := startChild(t, "STRIPESIM_TEST_COMPACT="+cfg.Journal)
		// The child has told that it is at it; the wait for its death only varies the moment.
		timer := time.NewTimer(time.Duration(i*i) * 700 * time.Microsecond)
		<-timer.C
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait() // reports the kill
		s = start(t, cfg)
		requireSame(t, want, s.snapshot(), "after kill %d", i)
		require.NoError(t, s.srv.Close())
	}
}

// compactForEver is the child of the test above: each round grows the journal by
// copies of one logged request, which compacting takes away again.
func compactForEver(path string) {
	for n := 0; ; n++ {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			panic(err)
		}
		line := []byte(`{"r":{"n":1,"method":"GET","path":"/v1/balance"}}` + "\n")
		_, _ = f.Write(bytes.Repeat(line, 4000)) // a short write is a torn line, which is cut
		f.Close()
		s, err := stripesim.New(stripesim.Config{Journal: path, CompactAt: 1, KeepRequests: 50, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
		if err != nil {
			panic(err)
		}
		if err := s.Close(); err != nil {
			panic(err)
		}
		if n == 0 {
			fmt.Println("compacting")
		}
	}
}

// startChild runs this test binary as another process and waits for its first line.
// The child ends when the test does, even if the test is killed.
func startChild(t *testing.T, env string) (*exec.Cmd, string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), env)
	_, err := cmd.StdinPipe() // closed with this process, which the child watches
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = os.Stderr
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // dead already when all went well
	line := make([]byte, 100)
	n, err := out.Read(line)
	require.NoError(t, err)
	return cmd, strings.TrimSpace(string(line[:n]))
}

func fileSize(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	return info.Size()
}

// requireSame compares answers and names those that differ.
func requireSame(t *testing.T, want, got map[string]string, why ...any) {
	t.Helper()
	var differ []string
	for path := range want {
		if got[path] != want[path] {
			differ = append(differ, path)
		}
	}
	require.Empty(t, differ, why...)
	require.Len(t, got, len(want))
}
