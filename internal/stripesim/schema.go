package stripesim

import "strings"

// schema is the set of parameter names an endpoint knows. "a[]" is an array,
// "a[*]" allows any subtree below a.
type schema map[string]bool

// accepts builds a schema; expand[] is part of every one.
func accepts(names ...string) schema {
	s := schema{"expand[]": true}
	for _, n := range names {
		s[n] = true
		if root, ok := strings.CutSuffix(n, "[*]"); ok {
			s[root] = true
		}
	}
	return s
}

// and returns a schema with more names.
func (s schema) and(names ...string) schema {
	out := accepts(names...)
	for n := range s {
		out[n] = true
	}
	return out
}

// knows tells whether a normalized name is in the schema.
func (s schema) knows(norm string) bool {
	if s[norm] {
		return true
	}
	for i := len(norm) - 1; i > 0; i-- {
		if norm[i] == '[' && s[norm[:i]+"[*]"] {
			return true
		}
	}
	return false
}

// check refuses the first unknown parameter by its name. A nil schema takes all.
func (s schema) check(p params) *apiError {
	if s == nil {
		return nil
	}
	for i := range p {
		if !s.knows(p[i].norm) {
			return s.misused(p[i].key, p[i].norm)
		}
	}
	return nil
}

// misused says what is wrong with a name that is not in the schema: a value where an
// array or hash belongs, or a name that nobody knows.
func (s schema) misused(key, norm string) *apiError {
	if s[norm+"[]"] {
		return invalid(key, "Invalid array")
	}
	for name := range s {
		if strings.HasPrefix(name, norm+"[") {
			return invalid(key, "Invalid object")
		}
	}
	return unknownParam(key)
}
