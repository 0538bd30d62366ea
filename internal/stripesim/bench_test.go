package stripesim

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// pairsPerServer bounds what a benchmark keeps in memory: a pair takes about 9 KB for
// as long as its server lives, which is more than 4 GB a minute at full speed.
const pairsPerServer = 20_000

// inServers runs b.N pairs on workers per core, on as many servers as it takes.
func inServers(b *testing.B, cfg Config, workers int, pair func(*Server)) {
	cfg.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	b.ReportAllocs()
	b.ResetTimer()
	for left, n := b.N, 0; left > 0; n++ {
		b.StopTimer()
		cfg.Journal = filepath.Join(b.TempDir(), fmt.Sprint("journal", n))
		s, err := New(cfg)
		require.NoError(b, err)
		var todo atomic.Int64
		todo.Store(int64(min(left, pairsPerServer)))
		left -= pairsPerServer
		b.StartTimer()
		var wg sync.WaitGroup
		for range workers * runtime.GOMAXPROCS(0) {
			wg.Go(func() {
				for todo.Add(-1) >= 0 {
					pair(s)
				}
			})
		}
		wg.Wait()
		b.StopTimer()
		require.NoError(b, s.Close())
		require.NoError(b, os.Remove(cfg.Journal))
		b.StartTimer()
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "pairs/s")
}

// BenchmarkCreateConfirm measures create+confirm pairs with the journal on. Run it
// with -cpu 1 for the promise of 5,000 pairs a second on one core.
func BenchmarkCreateConfirm(b *testing.B) {
	for name, c := range map[string]struct {
		fsync   bool
		workers int // with fsync many clients share the fsync of their group
	}{"fsync=false": {false, 1}, "fsync=true": {true, 64}} {
		b.Run(name, func(b *testing.B) {
			inServers(b, Config{Fsync: c.fsync}, c.workers, func(s *Server) { pay(b, s) })
		})
	}
}

// BenchmarkSocket is the same through HTTP on the loopback interface; client and
// server share the cores.
func BenchmarkSocket(b *testing.B) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	var handler atomic.Pointer[Server]
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.Load().Handler().ServeHTTP(w, r) }))
	defer srv.Close()
	post := func(s *Server, path, form string) string {
		req, err := http.NewRequest(http.MethodPost, srv.URL+path, strings.NewReader(form))
		require.NoError(b, err)
		req.Header.Set("Authorization", "Bearer sk_test_bench")
		req.Header.Set("Idempotency-Key", s.ids.id("op:", 32))
		resp, err := client.Do(req)
		require.NoError(b, err)
		body, err := io.ReadAll(resp.Body)
		require.NoError(b, err)
		resp.Body.Close()
		return string(body[len(`{"id":"`) : len(`{"id":"`)+27])
	}
	inServers(b, Config{}, 8, func(s *Server) {
		handler.Store(s)
		id := post(s, "/v1/payment_intents", "amount=2500&currency=usd&payment_method_types[]=card")
		post(s, "/v1/payment_intents/"+id+"/confirm", "payment_method=pm_card_visa")
	})
}

func pay(tb testing.TB, s *Server) {
	key := s.ids.id("op:", 32)
	id := benchPost(tb, s, "/v1/payment_intents", key+":create", "amount=2500&currency=usd&payment_method_types[]=card&metadata[order_id]=ord_1")
	benchPost(tb, s, "/v1/payment_intents/"+id+"/confirm", key+":confirm:1", "payment_method=pm_card_visa")
}

// benchPost returns the id of the object answered with.
func benchPost(tb testing.TB, s *Server, path, key, form string) string {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(form))
	r.Header.Set("Authorization", "Bearer sk_test_bench")
	r.Header.Set("Idempotency-Key", key)
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	if w.Code != 200 {
		require.Equal(tb, 200, w.Code, w.Body.String())
	}
	body := w.Body.Bytes()
	return string(body[len(`{"id":"`) : len(`{"id":"`)+27])
}

// BenchmarkReplay measures starting from a journal of 5,000 pairs.
func BenchmarkReplay(b *testing.B) {
	path := filepath.Join(b.TempDir(), "journal")
	quietly := slog.New(slog.NewTextHandler(io.Discard, nil))
	s, err := New(Config{Journal: path, Logger: quietly})
	require.NoError(b, err)
	for range 5000 {
		pay(b, s)
	}
	require.NoError(b, s.Close())
	size, err := os.Stat(path)
	require.NoError(b, err)
	for b.Loop() {
		again, err := New(Config{Journal: path, Logger: quietly, CompactAt: 1 << 40})
		require.NoError(b, err)
		require.NoError(b, again.Close())
	}
	b.ReportMetric(float64(size.Size())/5000, "bytes/pair")
}

// BenchmarkCompact measures starting from the same journal and writing it anew.
func BenchmarkCompact(b *testing.B) {
	dir := b.TempDir()
	cfg := Config{Journal: filepath.Join(dir, "journal"), CompactAt: 1, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}
	s, err := New(cfg)
	require.NoError(b, err)
	for range 5000 {
		pay(b, s)
	}
	require.NoError(b, s.Close())
	whole, err := os.ReadFile(cfg.Journal)
	require.NoError(b, err)
	for b.Loop() {
		b.StopTimer()
		require.NoError(b, os.WriteFile(cfg.Journal, whole, 0o600))
		b.StartTimer()
		again, err := New(cfg)
		require.NoError(b, err)
		require.NoError(b, again.Close())
	}
}
