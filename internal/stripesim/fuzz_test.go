package stripesim

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// newQuiet starts a server that the caller closes.
func newQuiet(tb testing.TB) *Server {
	s, err := New(Config{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	require.NoError(tb, err)
	return s
}

func quiet(tb testing.TB, cfg Config) *Server {
	cfg.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	s, err := New(cfg)
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, s.Close()) })
	return s
}

// FuzzForm: whatever a body holds, it parses or is refused with 400, and a parsed
// form has the same fingerprint however often it is parsed.
func FuzzForm(f *testing.F) {
	for _, seed := range []string{"amount=1&currency=usd", "a[b][c]=1&a[]=2&a[0][x]=3", "metadata[k]=%F0%9F%99%82", "a[=1", "a]]=", "[]=1", "%", "&&=&", "expand[0]=a&expand[]=b", "a[999999][b]=1"} {
		f.Add(seed)
	}
	var s *Server
	runs := 0
	f.Cleanup(func() {
		if s != nil {
			require.NoError(f, s.Close())
		}
	})
	f.Fuzz(func(t *testing.T, body string) {
		if runs%1000 == 0 { // a server keeps all that was ever made; an hour of fuzzing would not fit
			if s != nil {
				require.NoError(t, s.Close())
			}
			s = newQuiet(t)
		}
		runs++
		p, err := parseForm(body)
		if err != nil {
			require.Equal(t, 400, err.status)
		} else {
			again, _ := parseForm(body)
			require.Equal(t, fingerprint("POST", "/x", p), fingerprint("POST", "/x", again))
			for _, field := range p {
				require.NotEmpty(t, field.norm)
				_, has := p.get(field.norm)
				require.True(t, has)
			}
		}
		for _, path := range []string{"/v1/payment_intents", "/v1/refunds", "/v1/customers", "/v1/confirmation_tokens"} {
			r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
			r.Header.Set("Authorization", "Bearer sk_test_fuzz")
			w := httptest.NewRecorder()
			s.Handler().ServeHTTP(w, r)
			require.NotEqual(t, 500, w.Code, "%s: %s", path, w.Body)
		}
	})
}

// FuzzCalls runs a random sequence of calls against a few PaymentIntents. After
// each: money kept is never negative, a succeeded intent has exactly one captured
// charge of its amount, any other has none, and the balance is the ledger's sum.
func FuzzCalls(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})
	f.Add([]byte("create confirm capture cancel refund refund approve"))
	f.Add([]byte{0x10, 0x21, 0x32, 0x10, 0x43, 0x54, 0x65, 0x76, 0x21, 0x21, 0x54})
	f.Fuzz(func(t *testing.T, moves []byte) {
		s := quiet(t, Config{MaxConfirmations: 6})
		if len(moves) > 200 {
			moves = moves[:200]
		}
		for i, m := range moves {
			move(s, i, m)
			checkMoney(t, s.account("fuzz"))
		}
	})
}

var fuzzCards = []string{"pm_card_visa", "pm_card_visa_chargeDeclined", "pm_card_threeDSecure2Required", "pm_card_threeDSecureRequiredChargeDeclined", "pm_card_createDispute", ""}

func move(s *Server, i int, m byte) {
	a := s.account("fuzz")
	a.mu.Lock()
	var pi *intent
	if n := len(a.intents.rows); n > 0 {
		pi = a.intents.rows[(i+int(m>>4))%n]
	}
	a.mu.Unlock()
	card := "&payment_method=" + fuzzCards[int(m>>3)%len(fuzzCards)]
	post := func(path, form string) {
		r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(form))
		r.Header.Set("Authorization", "Bearer sk_test_fuzz")
		if m&1 == 1 {
			r.Header.Set("Idempotency-Key", string(rune('a'+m%7))+path)
		}
		s.Handler().ServeHTTP(httptest.NewRecorder(), r)
	}
	if pi == nil || m%11 == 0 {
		form := "amount=1000&currency=usd&payment_method_types[]=card"
		if m&4 != 0 {
			form += "&capture_method=manual"
		}
		if m&2 != 0 {
			form += "&confirmation_method=manual"
		}
		if m&8 != 0 {
			form += "&confirm=true" + card
		}
		post("/v1/payment_intents", form)
		return
	}
	switch path := "/v1/payment_intents/" + pi.ID; m % 11 {
	case 1, 2, 3:
		post(path+"/confirm", strings.TrimPrefix(card, "&"))
	case 4:
		post(path+"/capture", "amount_to_capture=600")
	case 5:
		post(path+"/capture", "")
	case 6:
		post(path+"/cancel", "")
	case 7:
		post("/v1/refunds", "payment_intent="+pi.ID+"&amount=400")
	case 8:
		post("/v1/refunds", "payment_intent="+pi.ID)
	default:
		post("/_sim/3ds/fuzz/"+pi.ID+"?s="+pi.ClientSecret, "result="+map[bool]string{true: "approve", false: "fail"}[m%11 == 9])
	}
}

func checkMoney(t *testing.T, a *account) {
	a.mu.Lock()
	defer a.mu.Unlock()
	captured, refunds, sum := map[string]int{}, map[string]int64{}, int64(0)
	for _, f := range a.refunds.rows {
		refunds[f.Charge] += f.Amount
		sum -= f.Amount
	}
	for _, ch := range a.charges.rows {
		if !ch.Captured {
			continue
		}
		captured[ch.PaymentIntent]++
		sum += ch.AmountCaptured
		require.Equal(t, refunds[ch.ID], ch.AmountRefunded)
		require.GreaterOrEqual(t, ch.AmountCaptured-ch.AmountRefunded, int64(0), "more refunded than captured")
		require.Equal(t, a.intents.get(ch.PaymentIntent).AmountReceived, ch.AmountCaptured)
	}
	for _, d := range a.disputes.rows {
		sum -= d.Amount
	}
	for _, pi := range a.intents.rows {
		want := 0
		if pi.Status == succeeded {
			want = 1
		}
		require.Equal(t, want, captured[pi.ID], "captured charges of a %s intent", pi.Status)
	}
	booked := int64(0)
	for _, txn := range a.txns.rows {
		booked += txn.Net
	}
	require.Equal(t, sum, booked, "the balance is the sum of what moved")
}
