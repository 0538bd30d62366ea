package stripesim

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var allStatuses = []string{needsMethod, needsConfirmation, needsAction, processing, needsCapture, succeeded, canceled}

// TestS13_EveryIllegalTransition goes through verbs × statuses: what the table does
// not allow is an executed refusal that names the status and carries the intent.
func TestS13_EveryIllegalTransition(t *testing.T) {
	t.Parallel()
	require.Len(t, machine, 4)
	for v, row := range machine {
		for _, status := range allStatuses {
			pi := &intent{PaymentIntent: PaymentIntent{ID: "pi_1", Status: status}}
			err := pi.may(v)
			if slices.Contains(row.from, status) {
				require.Nil(t, err, "%s from %s", v, status)
				continue
			}
			require.NotNil(t, err, "%s from %s", v, status)
			require.Equal(t, 400, err.status)
			require.True(t, err.executed, "it belongs to the key")
			require.Equal(t, "payment_intent_unexpected_state", err.Code)
			require.Empty(t, err.Param)
			require.Same(t, &pi.PaymentIntent, err.PaymentIntent)
			if v != verbConfirm || status != succeeded {
				require.Contains(t, err.Message, "status of "+status+".")
			}
		}
	}
	require.ElementsMatch(t, []string{needsMethod, needsConfirmation, needsAction}, machine[verbConfirm].from)
	require.Equal(t, []string{needsCapture}, machine[verbCapture].from)
}

func TestFormatMoney(t *testing.T) {
	t.Parallel()
	for want, in := range map[string]struct {
		n        int64
		currency string
	}{"$25.00": {2500, "usd"}, "€1,234.56": {123456, "eur"}, "¥500": {500, "jpy"}, "KWD 1.230": {1230, "kwd"}, "-$0.05": {-5, "usd"}, "CHF 0.50": {50, "chf"}} {
		require.Equal(t, want, formatMoney(in.n, in.currency))
	}
}

func TestIdsAreUnpredictableAndShaped(t *testing.T) {
	t.Parallel()
	ids := newIDSource()
	seen := map[string]bool{}
	for range 10_000 {
		id := ids.id("pi_3", 23)
		require.Regexp(t, `^pi_3[0-9A-Za-z]{23}$`, id)
		require.False(t, seen[id])
		seen[id] = true
	}
}

func TestForgottenKeysAreSweptOut(t *testing.T) {
	t.Parallel()
	a := newAccount("x")
	day := int64(keyLife.Seconds())
	ids := newIDSource()
	for i := range 3 * pruneEvery {
		now := int64(i) * day / pruneEvery
		key := ids.id("", 12)
		_, err := a.reserve(key, "fp", "POST /x", "req", now)
		require.Nil(t, err)
		a.idem[key].Status = 200
	}
	require.LessOrEqual(t, len(a.idem), 2*pruneEvery+1)
}

// TestJournal_WhatCannotBeKeptIsNotConfirmed makes writing fail, as a full disk does.
func TestJournal_WhatCannotBeKeptIsNotConfirmed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal")
	s, err := New(Config{Journal: path, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	require.NoError(t, err)
	readOnly, err := os.Open(path)
	require.NoError(t, err)
	require.NoError(t, s.journal.file.Close())
	s.journal.file = readOnly
	for range 2 { // the second time it is a replay
		r := httptest.NewRequest(http.MethodPost, "/v1/payment_intents", strings.NewReader("amount=2500&currency=usd"))
		r.Header.Set("Authorization", "Bearer sk_test_x")
		r.Header.Set("Idempotency-Key", "k")
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		require.Equal(t, 500, w.Code, w.Body.String())
	}
	require.ErrorContains(t, s.Close(), "writing journal")
}
