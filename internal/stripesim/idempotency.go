package stripesim

import (
	"crypto/sha256"
	"encoding/hex"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// keyLife is how long a stored answer is kept. Stripe promises at least 24 hours;
// the simulator forgets exactly then, which is the worst case for its client.
const keyLife = 24 * time.Hour

// maxKeyLength is the documented length limit of an idempotency key, in characters.
const maxKeyLength = 255

// idemRecord is what the layer knows about one (account, key).
type idemRecord struct {
	Key         string `json:"key"`
	Fingerprint string `json:"fp"`
	Endpoint    string `json:"endpoint"`
	Status      int    `json:"status,omitempty"` // 0 while the first request executes
	Body        string `json:"-"`
	RequestID   string `json:"request"`
	At          int64  `json:"at"` // unix seconds of the first request
}

// fingerprint identifies what a request asks for: method, path and parsed
// parameters. The order of different names does not matter, the order within an
// array does.
func fingerprint(method, path string, p params) string {
	sorted := make([]pair, len(p))
	for i, f := range p {
		if root, array := strings.CutSuffix(f.norm, "[]"); array && f.key == root+"["+strconv.Itoa(count(p[:i], f.norm))+"]" {
			f.key = f.norm // list[0], list[1] is list[], list[]; metadata[7] stays what it is
		}
		sorted[i] = f
	}
	sort.SliceStable(sorted, func(i, j int) bool { return sorted[i].key < sorted[j].key })
	h := sha256.New()
	part := func(s string) {
		var size [4]byte
		for i, n := 0, len(s); i < 4; i, n = i+1, n>>8 {
			size[i] = byte(n)
		}
		h.Write(size[:])
		h.Write([]byte(s))
	}
	part(method)
	part(path)
	for i := range sorted {
		part(sorted[i].key)
		part(sorted[i].val)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func count(p params, norm string) (n int) {
	for i := range p {
		if p[i].norm == norm {
			n++
		}
	}
	return n
}

// reserve claims a key for a request, or says how to answer instead: with a
// stored answer, with 409 while the first request still executes, or with 400
// when the key belongs to a different request. One lock covers look-up and claim:
// of any number of concurrent requests exactly one executes. The caller holds mu.
func (a *account) reserve(key, print, endpoint, requestID string, now int64) (*idemRecord, *apiError) {
	old := a.idem[key]
	if old != nil && old.Status != 0 && now-old.At >= int64(keyLife.Seconds()) {
		old = nil // pruned: the key is new again
	}
	switch {
	case old == nil:
		a.prune(now)
		a.idem[key] = &idemRecord{Key: key, Fingerprint: print, Endpoint: endpoint, RequestID: requestID, At: now}
		return nil, nil
	case old.Fingerprint != print:
		return nil, keyReused(old, endpoint)
	case old.Status == 0:
		return nil, keyInUse(key)
	}
	return old, nil
}

// pruneEvery is after how many new keys the forgotten ones are swept out.
const pruneEvery = 4096

// prune sweeps out forgotten keys now and then, so that memory stays bounded by a
// day's traffic.
func (a *account) prune(now int64) {
	if a.claims++; a.claims%pruneEvery != 0 {
		return
	}
	for key, r := range a.idem {
		if r.Status != 0 && now-r.At >= int64(keyLife.Seconds()) {
			delete(a.idem, key)
		}
	}
}

// release gives up a claim whose request did not get as far as executing.
func (a *account) release(key string) {
	if r := a.idem[key]; r != nil && r.Status == 0 {
		delete(a.idem, key)
	}
}

// keyReused has neither code nor param; nothing changes.
func keyReused(old *idemRecord, endpoint string) *apiError {
	message := "Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a key other than '" + old.Key + "' if you meant to execute a different request."
	if old.Endpoint != endpoint {
		message = "Keys for idempotent requests can only be used for the same endpoint they were first used for ('" + endpoint + "' vs '" + old.Endpoint + "'). Try using a key other than '" + old.Key + "' if you meant to execute a different request."
	}
	return &apiError{status: 400, Type: typeIdempotency, Message: message}
}

func keyInUse(key string) *apiError {
	e := invalid("", "There is currently another in-progress request using this Idempotent Key (that probably means you submitted twice, and the other request is still going through): "+key+". Please try again later.").withCode("idempotency_key_in_use")
	e.status = 409
	return e
}

// checkKey refuses keys that are too long, or that are no text: the journal, the
// events and the pages could not show them again.
func checkKey(key string) *apiError {
	switch {
	case !utf8.ValidString(key):
		return invalid("", "Idempotency-Key must be valid UTF-8. Use letters, digits and punctuation.")
	case utf8.RuneCountInString(key) > maxKeyLength:
		return invalid("", "Idempotency-Key must be at most 255 characters; this one has more. Use a shorter key.")
	}
	return nil
}
