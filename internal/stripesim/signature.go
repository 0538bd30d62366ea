package stripesim

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// signatureHeader signs a webhook body as Stripe does: HMAC-SHA256 over
// "{t}.{body}", one v1 per secret in force. Every attempt has a timestamp of its own.
func signatureHeader(body []byte, secrets []string, now int64) string {
	t := strconv.FormatInt(now, 10)
	header := "t=" + t
	for _, secret := range secrets {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(t + "."))
		mac.Write(body)
		header += ",v1=" + hex.EncodeToString(mac.Sum(nil))
	}
	return header
}
