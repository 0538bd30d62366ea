package stripesim

import (
	"slices"
	"strconv"
	"strings"
)

// get returns the last value sent under a name; a repeated scalar keeps the last,
// as form parsers do.
func (p params) get(name string) (string, bool) {
	for i := len(p) - 1; i >= 0; i-- {
		if p[i].norm == name {
			return p[i].val, true
		}
	}
	return "", false
}

// all returns every value sent under a name, in order.
func (p params) all(name string) []string {
	var out []string
	for i := range p {
		if p[i].norm == name {
			out = append(out, p[i].val)
		}
	}
	return out
}

// has tells whether a name or anything nested below it was sent.
func (p params) has(name string) bool {
	for i := range p {
		if rest, ok := strings.CutPrefix(p[i].norm, name); ok && (rest == "" || rest[0] == '[') {
			return true
		}
	}
	return false
}

// under returns the children of a hash: metadata[a]=1 gives {a 1}.
func (p params) under(name string) []pair {
	var out []pair
	for i := range p {
		rest, ok := strings.CutPrefix(p[i].key, name+"[")
		if !ok || !strings.HasSuffix(rest, "]") {
			continue
		}
		if child := rest[:len(rest)-1]; !strings.ContainsAny(child, "[]") {
			out = append(out, pair{key: child, val: p[i].val})
		}
	}
	return out
}

// reader turns form values into typed ones and keeps the first refusal, so that
// an endpoint reads everything it needs and checks once.
type reader struct {
	p   params
	err *apiError
}

func (r *reader) fail(e *apiError) {
	if r.err == nil {
		r.err = e
	}
}

// str returns a string, empty when absent; an empty value is the same as none,
// which is how Stripe unsets a field.
func (r *reader) str(name string) string {
	v, _ := r.p.get(name)
	return v
}

// limited returns a string of at most max characters.
func (r *reader) limited(name string, limit int) string {
	v := r.str(name)
	if len(v) > limit && len([]rune(v)) > limit {
		r.fail(invalid(name, "Invalid string: must be at most "+strconv.Itoa(limit)+" characters").withCode("parameter_invalid_string_too_long"))
	}
	return v
}

// required returns a string that must be there.
func (r *reader) required(name string) string {
	v, ok := r.p.get(name)
	switch {
	case !ok:
		r.fail(missingParam(name))
	case v == "":
		r.fail(invalid(name, "You passed an empty string for '"+name+"'. We assume empty values are an attempt to unset a parameter; however '"+name+"' cannot be unset. You should remove '"+name+"' from your request or supply a non-empty value.").withCode("parameter_invalid_empty"))
	}
	return v
}

// int returns an integer and whether it was sent.
func (r *reader) int(name string) (int64, bool) {
	v, ok := r.p.get(name)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil {
		r.fail(badInteger(name, "Invalid integer: "+v))
	}
	return n, true
}

// bool returns a boolean, false when absent.
func (r *reader) bool(name string) bool {
	v, ok := r.p.get(name)
	if ok && v != "true" && v != "false" {
		r.fail(invalid(name, "Invalid boolean: "+v))
	}
	return v == "true"
}

// oneOf returns an enumerated string, empty when absent.
func (r *reader) oneOf(name string, allowed ...string) string {
	v, ok := r.p.get(name)
	if !ok || v == "" {
		return ""
	}
	if !slices.Contains(allowed, v) {
		r.fail(invalid(name, "Invalid "+name+": must be one of "+strings.Join(allowed, ", ")))
	}
	return v
}
