package demo

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// keys are the demo's credentials. They are kept with the data, because the
// local Stripe knows its account by the key. The sign-in link is for one time,
// so each run has a new one.
type keys struct {
	StripeSecret      string `json:"stripe_secret_key"`
	StripePublishable string `json:"stripe_publishable_key"`
	WebhookSecret     string `json:"webhook_secret"`
	API               string `json:"api_key"`
	SignIn            string `json:"-"`
}

func loadKeys(path string) (keys, error) {
	k := keys{}
	raw, err := os.ReadFile(path)
	if err == nil {
		if err := json.Unmarshal(raw, &k); err != nil {
			return keys{}, fmt.Errorf("reading %s: %w; start over with --fresh", path, err)
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return keys{}, fmt.Errorf("reading the demo's keys: %w", err)
	}
	before := k
	account := "sim" + secret()
	k.StripeSecret = cmp.Or(k.StripeSecret, "sk_test_"+account)
	k.StripePublishable = cmp.Or(k.StripePublishable, "pk_test_"+account)
	k.WebhookSecret = cmp.Or(k.WebhookSecret, "whsec_"+secret())
	k.API = cmp.Or(k.API, "shop_"+secret())
	if k != before {
		if raw, err = json.MarshalIndent(k, "", "  "); err != nil {
			return keys{}, fmt.Errorf("encoding the demo's keys: %w", err)
		}
		if err := os.WriteFile(path, append(raw, '\n'), 0o600); err != nil {
			return keys{}, fmt.Errorf("keeping the demo's keys: %w", err)
		}
	}
	k.SignIn = secret()
	return k, nil
}

func secret() string { return strings.ToLower(rand.Text()) }
