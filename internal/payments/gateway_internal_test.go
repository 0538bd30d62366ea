package payments

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// docs/peers.md row 18: a change without a key never leaves the process.
func TestRow18_ACallWithoutAKeyIsNotSent(t *testing.T) {
	t.Parallel()
	sent := 0
	transport := keyedTransport{base: roundTripper(func(*http.Request) { sent++ })}
	for key, want := range map[string]int{"": 0, "k:create": 1} {
		sent = 0
		req, err := http.NewRequest(http.MethodPost, "http://127.0.0.1:1/v1/payment_intents", strings.NewReader("amount=100"))
		require.NoError(t, err)
		if key != "" {
			req.Header.Set("Idempotency-Key", key)
		}
		_, err = transport.RoundTrip(req)
		require.Equal(t, want, sent)
		if key == "" {
			require.ErrorIs(t, err, errNoKey)
		}
	}
}

type roundTripper func(*http.Request)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) {
	f(r)
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
}
