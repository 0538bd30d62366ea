package payments

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
)

// ProviderError is a refusal or a silence of the provider, without secrets.
type ProviderError struct {
	Answered    bool // the provider answered with an error that could be read
	NotSent     bool // nothing has left this process
	Paused      bool // it was not sent because the provider is down or busy
	Type        string
	Code        string
	DeclineCode string
	Param       string
	Message     string
	Status      int // HTTP status; 0 when none came
	Replayed    bool
	RequestID   string
}

func (e *ProviderError) Error() string {
	if !e.Answered {
		return e.Message
	}
	text := fmt.Sprintf("%d %s", e.Status, e.Type)
	for _, detail := range []string{e.Code, e.DeclineCode, e.Param} {
		if detail != "" {
			text += " " + detail
		}
	}
	return text + ": " + e.Message
}

// Verdict says what to do after the provider did not simply say yes.
type Verdict string

// The verdicts.
const (
	// VerdictDeclined: a definite no. The attempt is over and a new one may start.
	VerdictDeclined Verdict = "declined"
	// VerdictRetry: nothing happened; ask again later with the same key.
	VerdictRetry Verdict = "retry"
	// VerdictUnknown: it may have happened. Keep the key, the parameters and the operation.
	VerdictUnknown Verdict = "unknown"
	// VerdictLookUp: the object is in a state that does not allow the call; read it and decide.
	VerdictLookUp Verdict = "look up"
	// VerdictPaused: it was not sent, so nothing is known that was not known before.
	VerdictPaused Verdict = "paused"
	// VerdictBug: our request is wrong. Stop and call a person; never "check your card".
	VerdictBug Verdict = "bug"
)

// judge reads an error of the provider. sentBefore says that the key may have
// reached the provider before this call: an answer that is given without
// consulting the record of that first request then says nothing about it.
//
// It is the only place that decides what an error means (docs/stripe-sim.md).
func judge(err error, sentBefore bool) (Verdict, *ProviderError) {
	e, ok := errors.AsType[*ProviderError](err)
	if !ok {
		return VerdictUnknown, &ProviderError{Message: redact(err.Error())}
	}
	beforeTheLayer := func(first Verdict) Verdict {
		if sentBefore {
			return VerdictUnknown
		}
		return first
	}
	switch {
	case e.Paused:
		return VerdictPaused, e
	case e.NotSent:
		return VerdictBug, e
	case !e.Answered:
		return VerdictUnknown, e
	case e.Code == "payment_intent_unexpected_state":
		return VerdictLookUp, e
	case e.Type == "card_error":
		return VerdictDeclined, e
	case e.Type == "idempotency_error":
		return beforeTheLayer(VerdictBug), e
	case e.Status == http.StatusTooManyRequests:
		return beforeTheLayer(VerdictRetry), e
	case e.Status == http.StatusUnauthorized, e.Status == http.StatusForbidden:
		// The key of the account is wrong: an operator mends the configuration, and the charge goes on.
		return beforeTheLayer(VerdictRetry), e
	case e.Status == http.StatusConflict, e.Status == http.StatusFailedDependency, e.Status >= 500:
		return VerdictUnknown, e
	case refusesTheMeans(e):
		return VerdictDeclined, e
	}
	return VerdictBug, e
}

// refusesTheMeans recognises a request that is right but for the means of
// payment that the shopper brought: used up, expired or unknown.
func refusesTheMeans(e *ProviderError) bool {
	return e.Code == "payment_intent_confirmation_token_invalid" || e.Param == "confirmation_token" || e.Param == "payment_method"
}

// words turns a decline into a sentence for the shopper. It gives away no more
// than a bank would: a stolen card is simply declined.
func words(e *ProviderError) string {
	code := e.DeclineCode
	if code == "" {
		code = e.Code
	}
	switch code {
	case "insufficient_funds":
		return "The card does not have enough money on it for this order."
	case "expired_card":
		return "The card has expired."
	case "incorrect_cvc", "invalid_cvc":
		return "The security code of the card is not right."
	case "processing_error":
		return "The bank could not process the card just now."
	case "authentication_required", "payment_intent_authentication_failure":
		return "The payment was not confirmed with the bank."
	}
	if e.Type != "card_error" {
		return "The card details could no longer be used. Please enter them again."
	}
	return "The bank declined the card."
}

var secrets = regexp.MustCompile(`(_secret_|\b(?:sk|rk)_(?:live|test)_|\bwhsec_)[A-Za-z0-9_+/=]+`)

// redact takes client secrets, API keys and webhook secrets out of a text that
// will be stored or logged.
func redact(text string) string { return secrets.ReplaceAllString(text, "${1}[redacted]") }
