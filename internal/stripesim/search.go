package stripesim

import (
	"strconv"
	"strings"
)

// searchResult is the envelope of a search; its cursor is a page token.
type searchResult struct {
	Object   string  `json:"object"`
	Data     []any   `json:"data"`
	HasMore  bool    `json:"has_more"`
	NextPage *string `json:"next_page"`
	URL      string  `json:"url"`
}

// clause is one condition of a search query.
type clause struct {
	field, op, value string
	negated          bool
}

// searchIntents finds intents by metadata, status, amount, currency, customer or
// created. The index lags: objects younger than Config.SearchLag are not in it yet.
func (c *call) searchIntents() (any, *apiError) {
	r := &c.reader
	query := r.required("query")
	limit, sent := r.int("limit")
	if !sent {
		limit = 10
	}
	if r.err == nil && (limit < 1 || limit > 100) {
		r.fail(badInteger("limit", "This value must be between 1 and 100."))
	}
	page, err := strconv.Atoi("0" + r.str("page"))
	if err != nil {
		r.fail(invalid("page", "Invalid page token."))
	}
	if r.err != nil {
		return nil, r.err
	}
	clauses, any, bad := parseQuery(query)
	if bad != nil {
		return nil, bad
	}
	indexed := c.now - int64(c.srv.cfg.SearchLag.Seconds())
	if c.srv.cfg.SearchLag < 0 {
		indexed = c.now
	}
	out := searchResult{Object: "search_result", Data: []interface{}{}, URL: c.ep.path}
	skip := page
	for i := len(c.acct.intents.rows) - 1; i >= 0; i-- {
		pi := c.acct.intents.rows[i]
		if pi.Created > indexed || !pi.matches(clauses, any) || chance(c.srv.cfg.SearchFlap) {
			continue
		}
		if skip > 0 {
			skip--
			continue
		}
		if int64(len(out.Data)) == limit {
			out.HasMore = true
			out.NextPage = ptr(strconv.Itoa(page + int(limit)))
			break
		}
		out.Data = append(out.Data, &pi.PaymentIntent)
	}
	return &out, nil
}

// parseQuery reads "field:'value' AND metadata['k']:'v' AND amount>100"; any is
// true when the clauses are joined by OR. Mixing both is refused, as by Stripe.
func parseQuery(query string) (clauses []clause, any bool, bad *apiError) {
	malformed := invalid("", "We were unable to parse your search query. Try using the following format: metadata[\"key\"]:\"value\" AND status:\"succeeded\".")
	rest := strings.TrimSpace(query)
	for joins := 0; ; joins++ {
		var cl clause
		if strings.HasPrefix(rest, "-") {
			cl.negated, rest = true, rest[1:]
		}
		at := strings.IndexAny(rest, ":<>~")
		if at <= 0 {
			return nil, false, malformed
		}
		cl.field, cl.op, rest = strings.TrimSpace(rest[:at]), rest[at:at+1], rest[at+1:]
		if strings.HasPrefix(rest, "=") && cl.op != ":" {
			cl.op, rest = cl.op+"=", rest[1:]
		}
		var ok bool
		if cl.value, rest, ok = cutValue(strings.TrimSpace(rest)); !ok {
			return nil, false, malformed
		}
		if !searchable(&cl) {
			return nil, false, invalid("", "Field `"+cl.field+"` is an unsupported search field for resource `payment_intents`. See https://stripe.com/docs/search#query-fields-for-payment-intents for a list of supported fields.")
		}
		clauses = append(clauses, cl)
		rest = strings.TrimSpace(rest)
		word, more, _ := strings.Cut(rest, " ")
		switch {
		case rest == "":
			return clauses, any, nil
		case word != "AND" && word != "OR", joins > 0 && any != (word == "OR"):
			return nil, false, malformed
		}
		any, rest = word == "OR", strings.TrimSpace(more)
	}
}

// cutValue takes a quoted or bare value off the front.
func cutValue(s string) (value, rest string, ok bool) {
	if s == "" {
		return "", "", false
	}
	if q := s[0]; q == '\'' || q == '"' {
		var b strings.Builder
		for i := 1; i < len(s); i++ {
			switch {
			case s[i] == '\\' && i+1 < len(s):
				i++
				b.WriteByte(s[i])
			case s[i] == q:
				return b.String(), s[i+1:], true
			default:
				b.WriteByte(s[i])
			}
		}
		return "", "", false
	}
	value, rest, _ = strings.Cut(s, " ")
	return value, rest, true
}

// searchable checks the field and unwraps metadata['k'] to metadata.k.
func searchable(cl *clause) bool {
	switch cl.field {
	case "amount", "created", "currency", "customer", "status":
		return true
	}
	key, ok := strings.CutPrefix(cl.field, "metadata[")
	key, closed := strings.CutSuffix(key, "]")
	if !ok || !closed || len(key) < 2 {
		return false
	}
	cl.field = "metadata." + strings.Trim(key, `'"`)
	return true
}

func (pi *intent) matches(clauses []clause, any bool) bool {
	for i := range clauses {
		if hit := pi.matchesOne(&clauses[i]) != clauses[i].negated; hit == any {
			return any
		}
	}
	return !any
}

func (pi *intent) matchesOne(cl *clause) bool {
	number := func(n int64) bool {
		want, err := strconv.ParseInt(cl.value, 10, 64)
		if err != nil {
			return false
		}
		switch cl.op {
		case ">":
			return n > want
		case ">=":
			return n >= want
		case "<":
			return n < want
		case "<=":
			return n <= want
		}
		return n == want
	}
	text := func(s string) bool {
		if cl.op == "~" {
			return strings.Contains(strings.ToLower(s), strings.ToLower(cl.value))
		}
		return cl.op == ":" && strings.EqualFold(s, cl.value)
	}
	switch cl.field {
	case "amount":
		return number(pi.Amount)
	case "created":
		return number(pi.Created)
	case "currency":
		return text(pi.Currency)
	case "customer":
		return text(deref(pi.Customer))
	case "status":
		return text(pi.Status)
	}
	v, has := pi.Metadata[strings.TrimPrefix(cl.field, "metadata.")]
	return has && text(v)
}
