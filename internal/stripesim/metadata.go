package stripesim

import (
	"maps"
	"strings"
)

// Limits of metadata, as Stripe's error messages state them.
const (
	maxMetadataKeys  = 50
	maxMetadataKey   = 40
	maxMetadataValue = 500
)

// metadata merges the metadata of a request into what an object had. An empty
// value removes a key, an empty metadata parameter removes all. The result is
// never nil and never shares memory with old.
func (r *reader) metadata(old map[string]string) map[string]string {
	if v, sent := r.p.get("metadata"); sent {
		if v != "" {
			r.fail(invalid("metadata", "Invalid object"))
		}
		return map[string]string{}
	}
	out := maps.Clone(old)
	if out == nil {
		out = map[string]string{}
	}
	for i := range r.p {
		if key := r.p[i].key; strings.HasPrefix(key, "metadata[") && strings.Contains(key, "][") {
			r.fail(invalid("metadata", "Invalid val: "+key+" must be a string under 500 characters"))
		}
	}
	for _, kv := range r.p.under("metadata") {
		switch {
		case kv.val == "":
			delete(out, kv.key)
			continue
		case len([]rune(kv.key)) > maxMetadataKey:
			r.fail(invalid("metadata", "Invalid key: "+kv.key+" must be a string under 40 characters"))
		case len([]rune(kv.val)) > maxMetadataValue:
			r.fail(invalid("metadata", "Invalid val: "+kv.val+" must be a string under 500 characters"))
		}
		out[kv.key] = kv.val
	}
	if len(out) > maxMetadataKeys {
		r.fail(invalid("metadata", "You can only have up to 50 metadata keys."))
	}
	return out
}
