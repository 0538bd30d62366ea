package web_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v76/webhook"
)

func (s *site) deliver(body []byte, secret string, at time.Time) (int, http.Header) {
	s.t.Helper()
	req, err := http.NewRequest(http.MethodPost, s.url+"/webhooks/stripe", bytes.NewReader(body))
	require.NoError(s.t, err)
	req.Header.Set("Stripe-Signature", webhook.GenerateTestSignedPayload(&webhook.UnsignedPayload{Payload: body, Secret: secret, Timestamp: at}).Header)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(s.t, err)
	require.NoError(s.t, resp.Body.Close())
	return resp.StatusCode, resp.Header
}

// docs/peers.md rows 26, 39 and 40: what is signed is taken once, whatever its
// white space and however large within reason; what is not changes nothing.
func TestRow40_TheWebhookTakesWhatIsSigned(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	now := time.Now()
	event := func(id, padding string) []byte {
		return fmt.Appendf(nil, `{ "id": %q,  "object":"event","type":"payment_intent.succeeded","api_version":"2023-10-16",%s"data":{"object":{"id":"pi_1","object":"payment_intent"}}}`, id, padding)
	}
	for name, c := range map[string]struct {
		body   []byte
		secret string
		at     time.Time
		status int
	}{
		"not ours":      {event("evt_1", ""), "whsec_other", now, 400},
		"old":           {event("evt_1", ""), "whsec_a", now.Add(-time.Hour), 400},
		"ahead":         {event("evt_1", ""), "whsec_a", now.Add(time.Hour), 400},
		"not an event":  {[]byte(`[1,2]`), "whsec_a", now, 400},
		"ten megabytes": {event("evt_1", strings.Repeat(" ", 10<<20)), "whsec_a", now, 413},
	} {
		status, header := s.deliver(c.body, c.secret, c.at)
		require.Equal(t, c.status, status, name)
		require.Equal(t, "application/problem+json", header.Get("Content-Type"), name)
	}
	require.Equal(t, [3]int{}, s.rows())

	for _, secret := range []string{"whsec_a", "whsec_b", "whsec_a"} {
		status, _ := s.deliver(event("evt_1", ""), secret, now)
		require.Equal(t, http.StatusOK, status)
	}
	status, _ := s.deliver(event("evt_2", strings.Repeat(" ", 64<<10)), "whsec_a", now)
	require.Equal(t, http.StatusOK, status, "64 KiB and a real event")
	var ids []string
	require.NoError(t, s.pool.QueryRow(context.Background(), `SELECT array_agg(identity->>'eventId' ORDER BY 1) FROM operations WHERE kind = 'stripe-event'`).Scan(&ids))
	require.Equal(t, []string{"evt_1", "evt_2"}, ids)
}
