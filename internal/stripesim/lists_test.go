package stripesim_test

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v76"

	"shop/internal/stripesim"
)

// idsOf are the ids of a list's answer, in its order.
func idsOf(r reply) []string {
	out := []string{}
	for _, o := range r.Body["data"].([]any) {
		out = append(out, o.(map[string]any)["id"].(string))
	}
	return out
}

// listed makes n objects of each kind that can be listed, a second apart.
func (s *sim) listed(n int) {
	s.t.Helper()
	cus := s.quick("POST", "/v1/customers", "email=ada@example.com").Body["id"].(string)
	for range n {
		s.now.add(time.Second)
		s.quick("POST", "/v1/customers", "email=bob@example.com")
		r := s.quick("POST", "/v1/payment_intents", cardOnly+"&confirm=true&payment_method=pm_card_createDispute")
		require.Equal(s.t, 200, r.Status, r.Raw)
		paid := s.quick("POST", "/v1/payment_intents", cardOnly+"&confirm=true&payment_method=pm_card_visa").Body["id"].(string)
		s.quick("POST", "/v1/refunds", "amount=100&payment_intent="+paid)
		s.quick("POST", "/v1/payment_methods/pm_card_visa/attach", "customer="+cus)
		s.quick("POST", "/v1/webhook_endpoints", "url=http://127.0.0.1:9/x&enabled_events[]=nothing.at_all")
	}
}

// TestS13_EveryListPages: newest first, pages of any size meet without gap or
// overlap, forwards and backwards, and has_more is false exactly on the last.
func TestS13_EveryListPages(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	s.listed(7)
	cus := s.first("/v1/customers?email=ada@example.com")["id"].(string)
	for _, path := range []string{"/v1/payment_intents", "/v1/charges", "/v1/refunds", "/v1/customers", "/v1/disputes", "/v1/events", "/v1/webhook_endpoints",
		"/v1/payment_methods?customer=" + cus, "/v1/customers/" + cus + "/payment_methods"} {
		join := "?"
		if strings.Contains(path, "?") {
			join = "&"
		}
		get := func(query string) reply {
			r := s.quick("GET", path+join+query, "")
			require.Equal(t, 200, r.Status, r.Raw)
			require.Len(t, r.Body, 4, "object, data, has_more, url")
			return r
		}
		all := idsOf(get("limit=100"))
		require.GreaterOrEqual(t, len(all), 7, path)
		for i := 1; i < len(all); i++ {
			newer, older := s.createdOf(path, all[i-1]), s.createdOf(path, all[i])
			require.GreaterOrEqual(t, newer, older, "%s: newest first", path)
		}
		require.Len(t, idsOf(get("")), min(10, len(all)), "%s: ten by default", path)
		for _, limit := range []int{1, 3, 7, len(all), 100} {
			var forwards, backwards []string
			for more, cursor := true, ""; more; {
				r := get(fmt.Sprintf("limit=%d%s", limit, cursor))
				page := idsOf(r)
				require.LessOrEqual(t, len(page), limit)
				forwards = append(forwards, page...)
				more = r.Body["has_more"].(bool)
				require.Equal(t, len(forwards) < len(all), more, "%s: more after %d of %d", path, len(forwards), len(all))
				cursor = "&starting_after=" + page[len(page)-1]
			}
			require.Equal(t, all, forwards, "%s in pages of %d", path, limit)
			for more, at := true, all[len(all)-1]; more; {
				r := get(fmt.Sprintf("limit=%d&ending_before=%s", limit, at))
				page := idsOf(r)
				backwards = append(slices.Clone(page), backwards...)
				more = r.Body["has_more"].(bool)
				if len(page) > 0 {
					at = page[0]
				}
			}
			require.Equal(t, all[:len(all)-1], backwards, "%s backwards in pages of %d", path, limit)
		}
		require.Empty(t, idsOf(get("starting_after="+all[len(all)-1])), "nothing is older than the oldest")
		require.Empty(t, idsOf(get("ending_before="+all[0])), "nothing is newer than the newest")
		for query, param := range map[string]string{"limit=0": "limit", "limit=101": "limit", "limit=-5": "limit", "limit=x": "limit", "starting_after=none_1": "starting_after", "ending_before=none_1": "ending_before"} {
			r := s.get(path + join + query)
			require.Equal(t, 400, r.Status, "%s %s", path, query)
			require.Equal(t, param, r.Err["param"], "%s %s", path, query)
			require.Equal(t, map[bool]string{true: "parameter_invalid_integer", false: "resource_missing"}[param == "limit"], r.Err["code"])
		}
	}
}

// createdOf reads when a listed object was created.
func (s *sim) createdOf(path, id string) float64 {
	path, _, _ = strings.Cut(path, "?")
	if strings.HasSuffix(path, "payment_methods") {
		path = "/v1/payment_methods"
	}
	return s.quick("GET", path+"/"+id, "").Body["created"].(float64)
}

// TestS13_CreatedBounds on every list that has them.
func TestS13_CreatedBounds(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	s.listed(5)
	for _, path := range []string{"/v1/payment_intents", "/v1/charges", "/v1/refunds", "/v1/customers", "/v1/disputes", "/v1/events"} {
		times := map[string]int64{}
		var all []string
		for _, o := range s.quick("GET", path+"?limit=100", "").Body["data"].([]any) {
			id := o.(map[string]any)["id"].(string)
			all = append(all, id)
			times[id] = int64(o.(map[string]any)["created"].(float64))
		}
		middle := times[all[len(all)/2]]
		for query, keep := range map[string]func(int64) bool{
			"created=N":                        func(c int64) bool { return c == middle },
			"created[gt]=N":                    func(c int64) bool { return c > middle },
			"created[gte]=N":                   func(c int64) bool { return c >= middle },
			"created[lt]=N":                    func(c int64) bool { return c < middle },
			"created[lte]=N":                   func(c int64) bool { return c <= middle },
			"created[gte]=N&created[lte]=N":    func(c int64) bool { return c == middle },
			"created[gt]=N&created[lt]=N":      func(int64) bool { return false },
			"created[gte]=0":                   func(int64) bool { return true },
			"created[gt]=9223372036854775806":  func(int64) bool { return false },
			"created[lt]=-9223372036854775807": func(int64) bool { return false },
		} {
			want := []string{}
			for _, id := range all {
				if keep(times[id]) {
					want = append(want, id)
				}
			}
			r := s.quick("GET", path+"?limit=100&"+strings.ReplaceAll(query, "N", strconv.FormatInt(middle, 10)), "")
			require.Equal(t, want, idsOf(r), "%s %s", path, query)
		}
	}
}

// TestS13_ListFilters: each filter gives what it names and nothing else.
func TestS13_ListFilters(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	s.listed(2)
	w := s.populate()
	with := s.quick("POST", "/v1/payment_intents", cardOnly+"&confirm=true&payment_method=pm_card_visa&customer="+w["customer"]).Body
	for query, want := range map[string]string{
		"/v1/payment_intents?customer=" + w["customer"]:            with["id"].(string),
		"/v1/charges?customer=" + w["customer"]:                    with["latest_charge"].(string),
		"/v1/charges?payment_intent=" + w["paid"]:                  w["charge"],
		"/v1/refunds?charge=" + w["charge"]:                        w["refund"],
		"/v1/refunds?payment_intent=" + w["paid"]:                  w["refund"],
		"/v1/disputes?charge=" + w["disputed"]:                     w["dispute"],
		"/v1/customers/" + w["customer"] + "/payment_methods":      w["method"],
		"/v1/payment_methods?customer=" + w["customer"]:            w["method"],
		"/v1/payment_intents?limit=1&ending_before=" + w["intent"]: "",
	} {
		got := idsOf(s.get(query))
		if want == "" {
			require.Len(t, got, 1)
			continue
		}
		require.Equal(t, []string{want}, got, query)
	}
	require.Empty(t, s.get("/v1/payment_methods").Body["data"], "methods are listed by customer")
	require.Empty(t, s.get("/v1/payment_intents?customer=cus_none").Body["data"])
	require.Empty(t, s.get("/v1/customers?email=ADA@example.com").Body["data"], "e-mail is compared as written")
	require.Len(t, idsOf(s.get("/v1/customers?email=ada@example.com")), 2)
	for types, n := range map[string]int{"type=charge.dispute.created": 3, "types[]=charge.dispute.created&types[]=charge.refunded": 6, "type=nothing": 0} {
		require.Len(t, idsOf(s.get("/v1/events?limit=100&"+types)), n, types)
	}
	require.Equal(t, 404, s.get("/v1/customers/cus_none/payment_methods").Status)
	s.do("DELETE", "/v1/customers/"+w["customer"], nil, "")
	require.Equal(t, 404, s.get("/v1/customers/"+w["customer"]+"/payment_methods").Status, "of a deleted customer")
}

// TestS13_StripeGoPages: the library's iterators walk the pages by themselves.
func TestS13_StripeGoPages(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	s.listed(6)
	small := stripe.ListParams{Limit: stripe.Int64(2)}
	n := map[string]int{}
	for it := s.api.PaymentIntents.List(&stripe.PaymentIntentListParams{ListParams: small}); it.Next(); n["intents"]++ {
	}
	for it := s.api.Charges.List(&stripe.ChargeListParams{ListParams: small}); it.Next(); n["charges"]++ {
	}
	for it := s.api.Refunds.List(&stripe.RefundListParams{ListParams: small}); it.Next(); n["refunds"]++ {
	}
	for it := s.api.Customers.List(&stripe.CustomerListParams{ListParams: small}); it.Next(); n["customers"]++ {
	}
	for it := s.api.Disputes.List(&stripe.DisputeListParams{ListParams: small}); it.Next(); n["disputes"]++ {
	}
	for it := s.api.WebhookEndpoints.List(&stripe.WebhookEndpointListParams{ListParams: small}); it.Next(); n["hooks"]++ {
	}
	for it := s.api.Events.List(&stripe.EventListParams{ListParams: small, Type: stripe.String("charge.refunded")}); it.Next(); n["events"]++ {
	}
	require.Equal(t, map[string]int{"intents": 12, "charges": 12, "refunds": 6, "customers": 7, "disputes": 6, "hooks": 6, "events": 6}, n)
}

// TestS12_EveryExpandableField: an id becomes its object, on read, in a list, on
// write, and in an answer from the store.
func TestS12_EveryExpandableField(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	w := s.populate()
	rich := s.quick("POST", "/v1/payment_intents", cardOnly+"&confirm=true&payment_method="+w["method"]+"&customer="+w["customer"]).Body
	w["rich"], w["rich_charge"] = rich["id"].(string), rich["latest_charge"].(string)
	w["saved"] = s.quick("POST", "/v1/setup_intents", "confirm=true&payment_method=pm_card_visa&customer="+w["customer"]).Body["id"].(string)
	for path, fields := range map[string]map[string]string{
		"/v1/payment_intents/{rich}":    {"latest_charge": "charge", "payment_method": "payment_method", "customer": "customer"},
		"/v1/charges/{rich_charge}":     {"payment_intent": "payment_intent", "customer": "customer", "balance_transaction": "balance_transaction"},
		"/v1/refunds/{refund}":          {"charge": "charge", "payment_intent": "payment_intent", "balance_transaction": "balance_transaction"},
		"/v1/disputes/{dispute}":        {"charge": "charge", "payment_intent": "payment_intent"},
		"/v1/payment_methods/{method}":  {"customer": "customer"},
		"/v1/setup_intents/{saved}":     {"payment_method": "payment_method", "customer": "customer"},
		"/v1/payment_intents/{intent}":  {"latest_charge": "", "payment_method": "", "customer": ""}, // nothing there to expand
		"/v1/charges/{charge}":          {"customer": ""},
		"/v1/payment_methods/{loose}":   {"customer": ""},
		"/v1/setup_intents/{setup}":     {"payment_method": "", "customer": ""},
		"/v1/payment_intents/{rich}?x=": nil,
	} {
		if fields == nil {
			continue
		}
		at := w.fill(path)
		plain := s.get(at).Body
		for field, kind := range fields {
			got := s.get(at + "?expand[]=" + field).Body
			if kind == "" {
				require.Nil(t, got[field], "%s %s", path, field)
				continue
			}
			object := got[field].(map[string]any)
			require.Equal(t, plain[field], object["id"], "%s %s", path, field)
			require.Equal(t, kind, object["object"])
			delete(got, field)
			want := s.get(at).Body
			delete(want, field)
			require.Equal(t, want, got, "%s: the rest is as it was", path)
		}
		noun := strings.Split(at, "/")[2]
		for _, list := range []string{"/v1/" + noun} {
			if noun == "payment_methods" || noun == "setup_intents" {
				continue // listed by customer, or not at all
			}
			for field := range fields {
				r := s.get(list + "?limit=100&expand[]=data." + field)
				require.Equal(t, 200, r.Status, r.Raw)
			}
		}
	}
	deep := s.get(w.fill("/v1/refunds/{refund}?expand[]=charge.payment_intent.latest_charge.balance_transaction&expand[]=payment_intent")).Body
	txn := deep["charge"].(map[string]any)["payment_intent"].(map[string]any)["latest_charge"].(map[string]any)["balance_transaction"].(map[string]any)
	require.Equal(t, w["txn"], txn["id"], "four levels")
	require.Equal(t, w["paid"], deep["payment_intent"].(map[string]any)["id"], "several paths")
	first := s.post("/v1/payment_intents", "k", cardOnly+"&confirm=true&payment_method=pm_card_visa&expand[]=latest_charge")
	require.Equal(t, "charge", first.Body["latest_charge"].(map[string]any)["object"], "on a write")
	require.Equal(t, first.Raw, s.post("/v1/payment_intents", "k", cardOnly+"&confirm=true&payment_method=pm_card_visa&expand[]=latest_charge").Raw)
	require.Equal(t, first.Body["id"], idOfStored(s, first), "the log knows the object all the same")
}

// idOfStored is the object that the request log notes for an answer.
func idOfStored(s *sim, r reply) string {
	for _, e := range s.get("/_sim/requests").Body["requests"].([]any) {
		if entry := e.(map[string]any); entry["request_id"] == r.Header.Get("Request-Id") {
			id, _ := entry["object"].(string)
			return id
		}
	}
	return ""
}

// TestS12_WhatCannotBeExpanded is refused before anything executes.
func TestS12_WhatCannotBeExpanded(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	w := s.populate()
	for _, c := range []struct{ path, expand, message string }{
		{"/v1/payment_intents/{intent}", "amount", "This property cannot be expanded (amount)."},
		{"/v1/payment_intents/{intent}", "charges", "This property cannot be expanded (charges)."},
		{"/v1/payment_intents/{intent}", "latest_charge.amount", "This property cannot be expanded (latest_charge.amount)."},
		{"/v1/payment_intents/{intent}", "latest_charge.", "This property cannot be expanded (latest_charge.)."},
		{"/v1/payment_intents/{intent}", "", "This property cannot be expanded ()."},
		{"/v1/payment_intents/{intent}", "data.latest_charge", "This property cannot be expanded (data.latest_charge)."},
		{"/v1/payment_intents", "latest_charge", "This property cannot be expanded (latest_charge)."},
		{"/v1/payment_intents", "data.amount", "This property cannot be expanded (data.amount)."},
		{"/v1/customers/{customer}", "default_source", "This property cannot be expanded (default_source)."},
		{"/v1/balance", "available", "This property cannot be expanded (available)."},
		{"/v1/events/{event}", "data.object", "This property cannot be expanded (data.object)."},
		{"/v1/confirmation_tokens/{token}", "payment_intent", "This property cannot be expanded (payment_intent)."},
		{"/v1/refunds/{refund}", "charge.payment_intent.latest_charge.payment_intent.customer", "You cannot expand more than 4 levels of a property. Property: charge.payment_intent.latest_charge.payment_intent.customer"},
		{"/v1/refunds/{refund}", "a.b.c.d.e", "You cannot expand more than 4 levels of a property. Property: a.b.c.d.e"},
	} {
		r := s.get(w.fill(c.path) + "?expand[]=" + url.QueryEscape(c.expand))
		require.Equal(t, 400, r.Status, c)
		require.Equal(t, c.message, r.Err["message"])
		require.Equal(t, "invalid_request_error", r.Err["type"])
		require.NotContains(t, r.Err, "code")
		require.NotContains(t, r.Err, "param")
	}
}

// TestS13_SearchQueries: the query language, operator by operator.
func TestS13_SearchQueries(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{SearchLag: -1})
	cus := s.quick("POST", "/v1/customers", "").Body["id"].(string)
	a := s.made("amount=1000&currency=usd&payment_method_types[]=card&metadata[order]=A-1&metadata[note]=it%27s+%22quoted%22")
	b := s.made("amount=2000&currency=eur&payment_method_types[]=card&metadata[order]=B-2&customer=" + cus)
	c := s.made("amount=3000&currency=usd&payment_method_types[]=card&confirm=true&payment_method=pm_card_visa")
	created := strconv.FormatInt(s.now.Now().Unix(), 10)
	for query, want := range map[string][]string{
		`amount:1000`:                               {a},
		`amount>1000`:                               {c, b},
		`amount>=2000`:                              {c, b},
		`amount<2000`:                               {a},
		`amount<=2000`:                              {b, a},
		`amount:"2000"`:                             {b},
		`-amount:2000`:                              {c, a},
		`currency:"usd"`:                            {c, a},
		`currency:'USD'`:                            {c, a},
		`currency~"US"`:                             {c, a},
		`-currency:"usd"`:                           {b},
		`status:"succeeded"`:                        {c},
		`status:'requires_payment_method'`:          {b, a},
		`customer:"` + cus + `"`:                    {b},
		`metadata["order"]:"A-1"`:                   {a},
		`metadata['order']:'b-2'`:                   {b},
		`metadata["order"]~"-"`:                     {b, a},
		`-metadata["order"]:"A-1"`:                  {c, b},
		`metadata["none"]:"A-1"`:                    {},
		`metadata["note"]:"it's \"quoted\""`:        {a},
		`created:` + created:                        {c, b, a},
		`created>` + created:                        {},
		`status:"succeeded" AND amount>2000`:        {c},
		`status:"succeeded" AND amount<2000`:        {},
		`amount:1000 OR amount:3000`:                {c, a},
		`amount:1000 OR amount:2000 OR amount:3000`: {c, b, a},
		`  amount:1000   AND   currency:"usd"  `:    {a},
		`amount:1000 AND -currency:"usd"`:           {},
		`currency:"usd" AND amount>=1000 AND amount<=3000 AND status:"succeeded"`: {c},
	} {
		r := s.get("/v1/payment_intents/search?query=" + url.QueryEscape(query))
		require.Equal(t, 200, r.Status, "%s: %s", query, r.Raw)
		require.Equal(t, want, idsOf(r), query)
		require.Equal(t, "search_result", r.Body["object"])
		require.Equal(t, "/v1/payment_intents/search", r.Body["url"])
		require.Nil(t, r.Body["next_page"])
	}
	const format = "We were unable to parse your search query. Try using the following format: metadata[\"key\"]:\"value\" AND status:\"succeeded\"."
	field := func(name string) string {
		return "Field `" + name + "` is an unsupported search field for resource `payment_intents`. See https://stripe.com/docs/search#query-fields-for-payment-intents for a list of supported fields."
	}
	for query, message := range map[string]string{
		"amount": format, ":1": format, "amount:": format, "status:'x": format, `status:"x' AND amount:1`: format, "amount:1 AND": format, "amount:1 XOR amount:2": format,
		"amount:1 amount:2": format, "amount:1 AND currency:'usd' OR amount:2": format, "description:'x'": field("description"), "metadata[]:'x'": field("metadata[]"),
		"metadata:'x'": field("metadata"), "Amount:1": field("Amount"), "id:'pi_1'": field("id"),
	} {
		r := s.get("/v1/payment_intents/search?query=" + url.QueryEscape(query))
		require.Equal(t, 400, r.Status, query)
		require.Equal(t, message, r.Err["message"], query)
		require.NotContains(t, r.Err, "code")
		require.NotContains(t, r.Err, "param")
	}
}

// TestS13_SearchPages by tokens, not by ids.
func TestS13_SearchPages(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{SearchLag: -1})
	var want []string
	for range 25 {
		want = append([]string{s.made(cardOnly)}, want...)
	}
	var got []string
	for page, pages := "", 0; ; pages++ {
		r := s.get("/v1/payment_intents/search?query=currency:%27usd%27&limit=10" + page)
		got = append(got, idsOf(r)...)
		require.Equal(t, len(got) < 25, r.Body["has_more"])
		if r.Body["has_more"] == false {
			require.Equal(t, 2, pages)
			break
		}
		page = "&page=" + r.Body["next_page"].(string)
	}
	require.Equal(t, want, got)
	n := 0
	for it := s.api.PaymentIntents.Search(&stripe.PaymentIntentSearchParams{SearchParams: stripe.SearchParams{Query: "currency:'usd'", Limit: stripe.Int64(10)}}); it.Next(); n++ {
	}
	require.Equal(t, 25, n, "stripe-go walks them too")
}

// TestS13_SearchLagIsConfigurable: twenty seconds by default, any other, or none.
func TestS13_SearchLagIsConfigurable(t *testing.T) {
	t.Parallel()
	for lag, seconds := range map[time.Duration]int64{0: 20, 3 * time.Minute: 180, -1: 0} {
		s := start(t, stripesim.Config{SearchLag: lag})
		id := s.made(cardOnly)
		found := func() int {
			return len(idsOf(s.get("/v1/payment_intents/search?query=currency:%27usd%27")))
		}
		if seconds > 0 {
			require.Zero(t, found(), "at once")
			s.now.add(time.Duration(seconds-1) * time.Second)
			require.Zero(t, found(), "a second early")
			require.Equal(t, []string{id}, idsOf(s.get("/v1/payment_intents")), "a list has it at once")
			s.now.add(time.Second)
		}
		require.Equal(t, 1, found())
	}
}
