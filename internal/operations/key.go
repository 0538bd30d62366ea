// Package operations does one effect at most once, whichever effect it is.
//
// An operation has a key derived from what it is. Local effects run inside
// RunTx: claim, change and result commit together. Outside effects are claimed
// under a lease, done with no transaction open, and completed under the fence
// that the claim gave out (Claim … Complete). A worker whose lease is lost
// writes nothing, ever.
package operations

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Key names an operation: 64 lower-case hexadecimal digits.
type Key string

// CallKey is the idempotency key of one call to a provider: the key of the
// operation and the kind of the call. Stripe knows a key by account, not by
// endpoint (docs/stripe-sim.md I9), so create and confirm need different ones. Only
// Key.Call makes a CallKey, so a call without one does not compile.
type CallKey struct{ value string }

// Call returns the idempotency key of the named call, such as "create".
func (k Key) Call(name string) CallKey { return CallKey{value: string(k) + ":" + name} }

// String is the value that is sent to the provider.
func (c CallKey) String() string { return c.value }

// maxSafeInteger is the largest integer up to which no two integers share a
// JSON number (RFC 7493 section 2.2, RFC 8785 section 3.2.2.3).
var maxSafeInteger = big.NewInt(1<<53 - 1)

// Derive returns the key of an operation, sha256(kind + ":" + canonical JSON
// of its identity), together with the canonical JSON (RFC 8785). The identity
// is any value that JSON can carry, or JSON itself as []byte. It refuses
// integers that a JSON number cannot carry exactly and text that is not valid
// UTF-8: both would give two different things one key.
func Derive(kind string, identity any) (Key, []byte, error) {
	canonical, err := Canonical(identity)
	if err != nil {
		return "", nil, fmt.Errorf("deriving the key of a %q operation: %w", kind, err)
	}
	sum := sha256.New()
	sum.Write([]byte(kind + ":"))
	sum.Write(canonical)
	return Key(hex.EncodeToString(sum.Sum(nil))), canonical, nil
}

// Canonical returns the RFC 8785 form of a value or of JSON given as []byte.
func Canonical(value any) ([]byte, error) {
	raw, isJSON := value.([]byte)
	if !isJSON {
		encoded, err := jsonv2.Marshal(value, jsonv2.Deterministic(true))
		if err != nil {
			return nil, fmt.Errorf("encoding as JSON: %w", err)
		}
		raw = encoded
	}
	if err := checkNumbers(raw); err != nil {
		return nil, err
	}
	canonical := jsontext.Value(bytes.Clone(raw))
	if err := canonical.Canonicalize(); err != nil {
		return nil, fmt.Errorf("reading JSON: %w", err)
	}
	return canonical, nil
}

// checkNumbers refuses numbers that would change on their way through a double.
func checkNumbers(raw []byte) error {
	dec := jsontext.NewDecoder(bytes.NewReader(raw))
	for {
		token, err := dec.ReadToken()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading JSON: %w", err)
		}
		if token.Kind() != '0' {
			continue
		}
		if err := checkNumber(token.String()); err != nil {
			return fmt.Errorf("%w (at %q)", err, dec.StackPointer())
		}
	}
}

func checkNumber(literal string) error {
	if _, err := strconv.ParseFloat(literal, 64); err != nil {
		return fmt.Errorf("the number %s is too large for JSON; send it as a string", literal)
	}
	if strings.ContainsAny(literal, "eE") {
		return nil // written as a floating-point number on purpose
	}
	whole, fraction, _ := strings.Cut(literal, ".")
	if strings.Trim(fraction, "0") != "" {
		return nil
	}
	n, ok := new(big.Int).SetString(whole, 10)
	if ok && n.CmpAbs(maxSafeInteger) > 0 {
		return fmt.Errorf("the integer %s is beyond 2^53-1, where JSON numbers stop being exact; send it as a string", literal)
	}
	return nil
}

// hashJSON is the fingerprint of frozen parameters: the hash of their canonical form.
func hashJSON(canonical []byte) string {
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:])
}
