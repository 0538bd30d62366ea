package stripesim

import (
	"strconv"
	"strings"
)

// list is the envelope of every list.
type list struct {
	Object  string `json:"object"`
	Data    []any  `json:"data"`
	HasMore bool   `json:"has_more"`
	URL     string `json:"url"`
}

// listFields are the parameters every list takes.
var listFields = []string{"limit", "starting_after", "ending_before"}

var createdFields = []string{"created", "created[gt]", "created[gte]", "created[lt]", "created[lte]"}

// bounds is a filter on created.
type bounds struct{ from, until int64 }

func (r *reader) createdBounds() bounds {
	b := bounds{until: 1 << 62}
	set := func(name string, apply func(int64)) {
		if n, sent := r.int(name); sent {
			apply(n)
		}
	}
	set("created", func(n int64) { b.from, b.until = n, n })
	set("created[gt]", func(n int64) { b.from = max(b.from, n+1) })
	set("created[gte]", func(n int64) { b.from = max(b.from, n) })
	set("created[lt]", func(n int64) { b.until = min(b.until, n-1) })
	set("created[lte]", func(n int64) { b.until = min(b.until, n) })
	return b
}

// listOf pages through a table, newest first, keeping what match accepts.
func listOf[T object](c *call, t *table[T], noun string, match func(T) bool) (any, *apiError) {
	r := &c.reader
	limit, sent := r.int("limit")
	if !sent {
		limit = 10
	}
	if r.err == nil && (limit < 1 || limit > 100) {
		r.fail(badInteger("limit", "This value must be less than or equal to 100 (and at least 1): "+strconv.FormatInt(limit, 10)))
	}
	when := r.createdBounds()
	after, before := r.str("starting_after"), r.str("ending_before")
	if after != "" && before != "" {
		r.fail(invalid("", "You cannot parameterize on both starting_after and ending_before."))
	}
	cursor := after + before
	at, known := t.at[cursor]
	if cursor != "" && !known {
		r.fail(noSuchParam(noun, cursor, map[bool]string{true: "starting_after", false: "ending_before"}[after != ""]))
	}
	if r.err != nil {
		return nil, r.err
	}
	out := list{Object: "list", Data: []any{}, URL: strings.ReplaceAll(c.ep.path, "{id}", c.id)}
	keep := func(o T) bool { return o.born() >= when.from && o.born() <= when.until && match(o) }
	if before != "" {
		for i := at + 1; i < len(t.rows) && !out.HasMore; i++ {
			out.add(t.rows[i], keep(t.rows[i]), limit)
		}
		for i, j := 0, len(out.Data)-1; i < j; i, j = i+1, j-1 {
			out.Data[i], out.Data[j] = out.Data[j], out.Data[i]
		}
		return &out, nil
	}
	start := len(t.rows) - 1
	if after != "" {
		start = at - 1
	}
	for i := start; i >= 0 && !out.HasMore; i-- {
		out.add(t.rows[i], keep(t.rows[i]), limit)
	}
	return &out, nil
}

// add appends an object that matched, or notes that there are more.
func (l *list) add(o object, matched bool, limit int64) {
	switch {
	case !matched:
	case int64(len(l.Data)) == limit:
		l.HasMore = true
	default:
		l.Data = append(l.Data, o.wire())
	}
}
