package spectest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// source reads the simulator's own code, which says what it can answer and emit.
func source(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob("../stripesim/*.go")
	require.NoError(t, err)
	var all strings.Builder
	for _, f := range files {
		if !strings.HasSuffix(f, "_test.go") {
			text, err := os.ReadFile(f)
			require.NoError(t, err)
			all.Write(text)
		}
	}
	return all.String()
}

// TestTheConversationCoversEveryEndpoint: an endpoint that is never asked is never
// held to the description.
func TestTheConversationCoversEveryEndpoint(t *testing.T) {
	t.Parallel()
	routes := regexp.MustCompile(`\{method: "(\w+)", path: "(/v1/[^"]+)"`).FindAllStringSubmatch(source(t), -1)
	require.Greater(t, len(routes), 40)
	parameter := regexp.MustCompile(`\\\{\w+\\\}`)
	talk := conversation(t)
	for _, r := range routes {
		pattern := regexp.MustCompile("^" + parameter.ReplaceAllString(regexp.QuoteMeta(r[2]), `[^/]+`) + "$")
		answered := false
		for _, x := range talk {
			answered = answered || x.Method == r[1] && x.Status == 200 && pattern.MatchString(x.Path)
		}
		require.True(t, answered, "%s %s is never answered with 200", r[1], r[2])
	}
}

// TestTheConversationCoversEveryEvent does the same for the types of events.
func TestTheConversationCoversEveryEvent(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, x := range conversation(t) {
		if x.Path != "/v1/events" {
			continue
		}
		var list struct{ Data []struct{ Type string } }
		require.NoError(t, json.Unmarshal(x.Body, &list))
		for _, e := range list.Data {
			seen[e.Type] = true
		}
	}
	kinds := regexp.MustCompile(`\.emit\("([a-z_.]+)"`).FindAllStringSubmatch(source(t), -1)
	require.Greater(t, len(kinds), 20)
	for _, k := range kinds {
		require.True(t, seen[k[1]], "%s is never emitted", k[1])
	}
}

// TestTheConversationCoversEveryErrorTypeAndCode: four types on the wire, and every
// code that the simulator's code names.
func TestTheConversationCoversEveryErrorTypeAndCode(t *testing.T) {
	t.Parallel()
	types, codes := map[string]bool{}, map[string]bool{}
	for _, x := range conversation(t) {
		var body struct{ Error struct{ Type, Code string } }
		require.NoError(t, json.Unmarshal(x.Body, &body))
		if x.Status >= 300 {
			types[body.Error.Type], codes[body.Error.Code] = true, true
		}
	}
	require.Equal(t, map[string]bool{"api_error": true, "card_error": true, "idempotency_error": true, "invalid_request_error": true}, types)
	for _, code := range []string{"", "parameter_missing", "parameter_unknown", "parameter_invalid_integer", "parameter_invalid_empty",
		"parameter_invalid_string_too_long", "resource_missing", "amount_too_small", "amount_too_large", "url_invalid", "card_declined", "expired_card",
		"incorrect_cvc", "incorrect_number", "processing_error", "authentication_required", "payment_intent_unexpected_state", "setup_intent_unexpected_state",
		"payment_intent_confirmation_token_invalid", "charge_already_refunded", "charge_disputed", "rate_limit", "lock_timeout", "idempotency_key_in_use", "secret_key_required"} {
		require.True(t, codes[code], "no answer with code %q", code)
	}
}
