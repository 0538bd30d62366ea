package stripesim

import (
	"net/url"
	"strings"
	"unicode/utf8"
)

// Limits of the form parser. Stripe publishes none; these are far above what a
// client library sends and keep absurd input cheap.
const (
	maxBodyBytes   = 1 << 20
	maxDrainBytes  = 16 << 20 // read and thrown away of a body that is too large
	maxFormPairs   = 1000
	maxFormNesting = 8
)

// pair is one form field. norm is key with every numeric index emptied, so that
// expand[0] and expand[] are the same name.
type pair struct{ key, norm, val string }

// params are the fields of one request in the order they were sent.
type params []pair

const malformedForm = "Invalid request (check that your POST content type is application/x-www-form-urlencoded). If you have any questions, we can help at https://support.stripe.com/."

// parseForm reads an application/x-www-form-urlencoded body with Stripe's nested
// brackets: a=1, a[b]=1, a[]=1, a[0][b]=1.
func parseForm(body string) (params, *apiError) {
	if body == "" {
		return nil, nil
	}
	out := make(params, 0, strings.Count(body, "&")+1)
	for body != "" {
		var field string
		field, body, _ = strings.Cut(body, "&")
		if field == "" {
			continue
		}
		if len(out) == maxFormPairs {
			return nil, invalid("", "Invalid request: more than 1000 parameters were sent.")
		}
		p, err := parsePair(field)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

func parsePair(field string) (pair, *apiError) {
	rawKey, rawVal, _ := strings.Cut(field, "=")
	key, err := url.QueryUnescape(rawKey)
	if err != nil {
		return pair{}, invalid("", malformedForm)
	}
	val, err := url.QueryUnescape(rawVal)
	if err != nil {
		return pair{}, invalid("", malformedForm)
	}
	if !utf8.ValidString(key) || !utf8.ValidString(val) || strings.ContainsRune(key, 0) || strings.ContainsRune(val, 0) {
		return pair{}, invalid("", "Invalid request: parameters must be valid UTF-8 without NUL characters.")
	}
	norm, ok := normalizeKey(key)
	if !ok {
		return pair{}, invalid("", malformedForm)
	}
	return pair{key: key, norm: norm, val: val}, nil
}

// normalizeKey checks the brackets of a key and empties its numeric indexes.
func normalizeKey(key string) (string, bool) {
	open := strings.IndexByte(key, '[')
	if open < 0 {
		return key, key != "" && !strings.Contains(key, "]")
	}
	if open == 0 {
		return "", false
	}
	root, rest := key[:open], key[open:]
	if strings.Contains(root, "]") {
		return "", false
	}
	indexed := false
	for depth := 0; rest != ""; depth++ {
		end := strings.IndexByte(rest, ']')
		if rest[0] != '[' || end < 0 || depth == maxFormNesting || strings.Contains(rest[1:end], "[") {
			return "", false
		}
		indexed = indexed || isIndex(rest[1:end])
		rest = rest[end+1:]
	}
	if !indexed {
		return key, true
	}
	var b strings.Builder
	b.WriteString(root)
	for rest = key[open:]; rest != ""; {
		end := strings.IndexByte(rest, ']')
		if part := rest[1:end]; isIndex(part) {
			b.WriteString("[]")
		} else {
			b.WriteString(rest[:end+1])
		}
		rest = rest[end+1:]
	}
	return b.String(), true
}

func isIndex(s string) bool {
	if s == "" || len(s) > 4 {
		return false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}
