package payments

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// One row for each class of answer in docs/stripe-sim.md and §1.2, as a first send
// and as a repeat.
func TestJudge(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err           error
		first, repeat Verdict
	}{
		"silence":           {&ProviderError{Message: "EOF"}, VerdictUnknown, VerdictUnknown},
		"another error":     {errors.New("context deadline exceeded"), VerdictUnknown, VerdictUnknown},
		"card error":        {answer(402, "card_error", "card_declined"), VerdictDeclined, VerdictDeclined},
		"500":               {answer(500, "api_error", ""), VerdictUnknown, VerdictUnknown},
		"503":               {answer(503, "api_error", ""), VerdictUnknown, VerdictUnknown},
		"424":               {answer(424, "api_error", ""), VerdictUnknown, VerdictUnknown},
		"409 in use":        {answer(409, "invalid_request_error", "idempotency_key_in_use"), VerdictUnknown, VerdictUnknown},
		"429":               {answer(429, "invalid_request_error", "rate_limit"), VerdictRetry, VerdictUnknown},
		"429 lock_timeout":  {answer(429, "invalid_request_error", "lock_timeout"), VerdictRetry, VerdictUnknown},
		"401":               {answer(401, "invalid_request_error", ""), VerdictRetry, VerdictUnknown},
		"idempotency error": {answer(400, "idempotency_error", ""), VerdictBug, VerdictUnknown},
		"validation":        {answer(400, "invalid_request_error", "parameter_unknown"), VerdictBug, VerdictBug},
		"unexpected state":  {answer(400, "invalid_request_error", "payment_intent_unexpected_state"), VerdictLookUp, VerdictLookUp},
		"used token":        {answer(400, "invalid_request_error", "payment_intent_confirmation_token_invalid"), VerdictDeclined, VerdictDeclined},
		"unknown card":      {&ProviderError{Answered: true, Status: 400, Type: "invalid_request_error", Code: "resource_missing", Param: "payment_method"}, VerdictDeclined, VerdictDeclined},
		"never left":        {&ProviderError{NotSent: true, Message: "no key"}, VerdictBug, VerdictBug},
	} {
		verdict, _ := judge(c.err, false)
		require.Equal(t, c.first, verdict, "%s, first", name)
		verdict, _ = judge(c.err, true)
		require.Equal(t, c.repeat, verdict, "%s, repeat", name)
	}
}

func answer(status int, kind, code string) *ProviderError {
	return &ProviderError{Answered: true, Status: status, Type: kind, Code: code}
}

func TestRedact(t *testing.T) {
	t.Parallel()
	text := redact(`{"client_secret":"pi_1_secret_Abc123","key":"sk_live_abc","hook":"whsec_abc+/="} rk_test_1`)
	for _, secret := range []string{"Abc123", "live_abc", "abc+/", "test_1"} {
		require.NotContains(t, text, secret)
	}
	require.Contains(t, text, "pi_1_secret_[redacted]")
}
