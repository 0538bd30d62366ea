package stripesim

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
)

const keyMissing = "You did not provide an API key. You need to provide your API key in the Authorization header, using Bearer auth (e.g. 'Authorization: Bearer YOUR_SECRET_KEY'). See https://stripe.com/docs/api#authentication for details, or we can help at https://support.stripe.com/."

// credential is a key that was accepted.
type credential struct {
	account     string // shared by sk_test_x, rk_test_x and pk_test_x
	publishable bool
}

// authenticate reads the key from the Authorization header (Bearer or Basic) or,
// as Stripe.js sends it, from the parameter "key". Any test key opens an account.
func authenticate(r *http.Request, p params) (credential, *apiError) {
	key := ""
	if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		key = strings.TrimSpace(bearer)
	} else if user, _, ok := r.BasicAuth(); ok {
		key = user
	} else if v, ok := p.get("key"); ok && strings.HasPrefix(v, "pk_") {
		key = v
	}
	if key == "" {
		return credential{}, unauthorized(keyMissing)
	}
	kind, rest, ok := strings.Cut(key, "_test_")
	switch {
	case strings.Contains(key, "_live_"):
		return credential{}, unauthorized("Invalid API Key provided: a live key. This is a simulator; use a test key such as sk_test_shop.")
	case !ok || !validName(rest) || kind != "sk" && kind != "rk" && kind != "pk":
		return credential{}, unauthorized("Invalid API Key provided: " + maskKey(key))
	}
	return credential{account: rest, publishable: kind == "pk"}, nil
}

func validName(s string) bool {
	for _, c := range s {
		if !strings.ContainsRune(idAlphabet+"_", c) {
			return false
		}
	}
	return s != "" && len(s) <= 200
}

func unauthorized(message string) *apiError {
	return &apiError{status: 401, Type: typeInvalid, Message: message}
}

func maskKey(key string) string {
	if len(key) <= 12 {
		return "****"
	}
	return key[:8] + "****" + key[len(key)-4:]
}

func accountID(name string) string {
	sum := sha256.Sum256([]byte("account:" + name))
	return "acct_1" + hex.EncodeToString(sum[:8])
}

// secretKeyRequired refuses a publishable key where a secret one is needed.
func secretKeyRequired() *apiError {
	e := invalid("", "This API call cannot be made with a publishable API key. Please use a secret API key. You can find a list of your API keys at https://dashboard.stripe.com/account/apikeys.").withCode("secret_key_required")
	e.status = 403
	return e
}
