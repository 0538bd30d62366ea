package stripesim

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkCreateConfirm measures create+confirm pairs with the journal on. Run it
// with -cpu 1 for the promise of 5,000 pairs a second on one core.
func BenchmarkCreateConfirm(b *testing.B) {
	for _, fsync := range []bool{false, true} {
		b.Run(fmt.Sprintf("fsync=%v", fsync), func(b *testing.B) {
			s := quiet(b, Config{Journal: filepath.Join(b.TempDir(), "journal"), Fsync: fsync})
			b.ReportAllocs()
			b.ResetTimer()
			if fsync {
				b.SetParallelism(64) // clients share the fsync of their group
			}
			b.RunParallel(func(pb *testing.PB) {
				for n := 0; pb.Next(); n++ {
					pay(b, s)
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "pairs/s")
		})
	}
}

// BenchmarkSocket is the same through HTTP on the loopback interface; client and
// server share the cores.
func BenchmarkSocket(b *testing.B) {
	s := quiet(b, Config{Journal: filepath.Join(b.TempDir(), "journal")})
	srv := httptest.NewServer(s.Handler())
	defer srv.Close()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	post := func(path, form string) string {
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
	b.SetParallelism(8)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			id := post("/v1/payment_intents", "amount=2500&currency=usd&payment_method_types[]=card")
			post("/v1/payment_intents/"+id+"/confirm", "payment_method=pm_card_visa")
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "pairs/s")
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
	s, err := New(Config{Journal: path})
	require.NoError(b, err)
	for range 5000 {
		pay(b, s)
	}
	require.NoError(b, s.Close())
	size, err := os.Stat(path)
	require.NoError(b, err)
	for b.Loop() {
		again, err := New(Config{Journal: path})
		require.NoError(b, err)
		require.NoError(b, again.Close())
	}
	b.ReportMetric(float64(size.Size())/5000, "bytes/pair")
}
