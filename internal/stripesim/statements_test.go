package stripesim_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v76"

	"shop/internal/stripesim"
)

func TestI2_LimitOfAKey(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	for _, c := range []struct {
		name, key string
		ok        bool
	}{
		{"one character", "k", true},
		{"255 characters", strings.Repeat("k", 255), true},
		{"256 characters", strings.Repeat("k", 256), false},
		{"300 bytes", strings.Repeat("k", 300), false},
		{"255 characters of two bytes", strings.Repeat("ü", 255), true},
		{"256 characters of two bytes", strings.Repeat("ü", 256), false},
		{"Cyrillic", "заказ-17", true},
		{"an emoji", "order-🛒", true},
		{"spaces inside", "a key with spaces", true},
		{"all printable ASCII", "!\"#$%&'()*+,-./09:;<=>?@AZ[\\]^_`az{|}~", true},
		{"no UTF-8", "order-\xff\xfe", false},
		{"a UUID", "7f6f8bb0-5dfb-4a0c-9a0c-4e4b5b8f9d10", true},
	} {
		r := s.post("/v1/payment_intents", c.key, cardOnly)
		if !c.ok {
			require.Equal(t, 400, r.Status, c.name)
			require.Equal(t, "invalid_request_error", r.Err["type"], c.name)
			require.NotContains(t, r.Err, "code", c.name)
			require.Contains(t, r.Err["message"], "Idempotency-Key must be", c.name)
			continue
		}
		require.Equal(t, 200, r.Status, "%s: %s", c.name, r.Raw)
		require.Equal(t, c.key, r.Header.Get("Idempotency-Key"), "%s is echoed as it came", c.name)
		again := s.post("/v1/payment_intents", c.key, cardOnly)
		require.Equal(t, r.Raw, again.Raw, c.name)
		require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"), c.name)
	}
}

// TestI2_KeysAreComparedAsWritten: case, spaces inside and normal forms count.
func TestI2_KeysAreComparedAsWritten(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	seen := map[any]string{}
	for _, key := range []string{"key", "Key", "KEY", "key ", "ke y", "ключ", "é", "e\u0301"} {
		id := s.post("/v1/payment_intents", key, cardOnly).Body["id"]
		if strings.HasSuffix(key, " ") {
			require.Equal(t, "key", seen[id], "HTTP strips spaces around a header")
			continue
		}
		require.Empty(t, seen[id], "%q and %q", key, seen[id])
		seen[id] = key
	}
}

// TestI4_WhatIsRefusedBeforeExecutionLeavesTheKey: after each refusal the same key
// serves another request.
func TestI4_WhatIsRefusedBeforeExecutionLeavesTheKey(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	for name, refuse := range map[string]func(key string) reply{
		"a missing parameter":  func(key string) reply { return s.post("/v1/payment_intents", key, "") },
		"an unknown one":       func(key string) reply { return s.post("/v1/payment_intents", key, cardOnly+"&x=1") },
		"a bad form":           func(key string) reply { return s.post("/v1/payment_intents", key, "%zz") },
		"a large body":         func(key string) reply { return s.post("/v1/payment_intents", key, strings.Repeat("x", 2<<20)) },
		"an object not there":  func(key string) reply { return s.post("/v1/payment_intents/pi_none", key, "") },
		"a customer not there": func(key string) reply { return s.post("/v1/payment_intents", key, cardOnly+"&customer=cus_none") },
		"an unknown URL":       func(key string) reply { return s.post("/v1/none", key, "") },
		"no key": func(key string) reply {
			return s.do("POST", "/v1/customers", map[string]string{"Authorization": "", "Idempotency-Key": key}, "")
		},
		"an unknown version": func(key string) reply {
			return s.do("POST", "/v1/customers", map[string]string{"Stripe-Version": "1999-01-01", "Idempotency-Key": key}, "")
		},
		"a publishable key": func(key string) reply {
			return s.do("POST", "/v1/customers", map[string]string{"Authorization": "Bearer pk_test_shop", "Idempotency-Key": key}, "")
		},
		"a raw card": func(key string) reply {
			return s.post("/v1/payment_methods", key, "type=card&card[number]=4242424242424242&card[exp_month]=1&card[exp_year]=40")
		},
	} {
		key := "key for " + name
		first := refuse(key)
		require.GreaterOrEqual(t, first.Status, 400, name)
		again := refuse(key)
		require.Equal(t, first.Status, again.Status, name)
		require.Empty(t, again.Header.Get("Idempotent-Replayed"), "%s is answered afresh", name)
		require.Contains(t, []string{"", again.Header.Get("Request-Id")}, again.Header.Get("Original-Request"), name)
		r := s.post("/v1/payment_intents", key, cardOnly)
		require.Equal(t, 200, r.Status, "%s: %s", name, r.Raw)
		require.Empty(t, r.Header.Get("Idempotent-Replayed"), name)
	}
}

// TestI6_ADeclineStaysADeclineForADay even when the card would work now, and is the
// same answer byte for byte; afterwards the key is new.
func TestI6_ADeclineStaysADeclineForADay(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	pi := s.create()
	path, form := "/v1/payment_intents/"+pi.ID+"/confirm", "payment_method=pm_card_visa_chargeDeclined"
	first := s.post(path, "attempt 1", form)
	require.Equal(t, 402, first.Status)
	_, err := s.confirm(pi.ID, "pm_card_visa")
	require.NoError(t, err)
	for _, hours := range []int{1, 11, 11} {
		s.now.add(time.Duration(hours) * time.Hour)
		again := s.post(path, "attempt 1", form)
		require.Equal(t, first.Raw, again.Raw, "the old decline, though the intent is paid by now")
		require.Equal(t, 402, again.Status)
	}
	s.now.add(2 * time.Hour)
	again := s.post(path, "attempt 1", form)
	require.Equal(t, 400, again.Status, "forgotten: a new request meets a paid intent")
	require.Equal(t, "payment_intent_unexpected_state", again.Err["code"])
	require.EqualValues(t, 2500, ledgerOf(s))
}

// TestI7_ALaterRefusalSaysNothingOfTheKey: 429, 401, 503 and 409 in front of the layer
// do not touch what is stored.
func TestI7_ALaterRefusalSaysNothingOfTheKey(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	first := s.post("/v1/payment_intents", "k", cardOnly+"&confirm=true&payment_method=pm_card_visa")
	for kind, status := range map[string]int{"rate_limit": 429, "unauthorized": 401, "unavailable": 503, "conflict": 409} {
		s.control("/_sim/faults", stripesim.FaultRule{Kind: kind, Count: 1})
		r := s.post("/v1/payment_intents", "k", cardOnly+"&confirm=true&payment_method=pm_card_visa")
		require.Equal(t, status, r.Status)
		require.Empty(t, r.Header.Get("Original-Request"), "%s was produced without looking", kind)
		require.Equal(t, first.Raw, s.post("/v1/payment_intents", "k", cardOnly+"&confirm=true&payment_method=pm_card_visa").Raw)
	}
	require.EqualValues(t, 1, s.ledger().Totals["usd"].Charges)
}

// TestI8_WhatCountsAsTheSameParameters: encodings and the order of names do not, values,
// the order within arrays and extra names do.
func TestI8_WhatCountsAsTheSameParameters(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	const base = "amount=2500&currency=usd&description=a+b&metadata[x]=1&metadata[y]=2&payment_method_types[]=card"
	first := s.post("/v1/payment_intents", "k", base)
	require.Equal(t, 200, first.Status)
	for _, same := range []string{
		"currency=usd&amount=2500&metadata[y]=2&metadata[x]=1&payment_method_types[]=card&description=a+b",
		"amount=2500&currency=usd&description=a%20b&metadata%5Bx%5D=1&metadata[y]=2&payment_method_types[0]=card",
		"%61mount=2500&currency=%75sd&description=a+b&metadata[x]=1&metadata[y]=2&payment_method_types%5B0%5D=card&",
	} {
		require.Equal(t, first.Raw, s.post("/v1/payment_intents", "k", same).Raw, same)
	}
	require.Equal(t, first.Raw, s.post("/v1/payment_intents?currency=usd", "k", strings.Replace(base, "&currency=usd", "", 1)).Raw, "where a parameter stands does not matter")
	for _, other := range []string{
		strings.Replace(base, "2500", "2501", 1), strings.Replace(base, "usd", "USD", 1), strings.Replace(base, "a+b", "a++b", 1), base + "&metadata[z]=3",
		strings.Replace(base, "&metadata[y]=2", "", 1), strings.Replace(base, "[y]", "[Y]", 1), base + "&payment_method_types[]=card", base + "&expand[]=customer", "",
	} {
		require.Equal(t, "idempotency_error", s.post("/v1/payment_intents", "k", other).Err["type"], other)
	}
}

// TestI9_SameKeyOtherObject: the same action on another object is another endpoint.
func TestI9_SameKeyOtherObject(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	one, other := s.create(), s.create()
	require.Equal(t, 200, s.post("/v1/payment_intents/"+one.ID+"/confirm", "k", "payment_method=pm_card_visa").Status)
	r := s.post("/v1/payment_intents/"+other.ID+"/confirm", "k", "payment_method=pm_card_visa")
	require.Equal(t, "idempotency_error", r.Err["type"])
	require.Equal(t, "requires_payment_method", s.statusOf(other.ID))
}

// TestI9_AllKeysOfAnAccountShareItsIdempotencyKeys: a secret, a restricted and a
// publishable key of one account.
func TestI9_AllKeysOfAnAccountShareItsIdempotencyKeys(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	first := s.post("/v1/payment_intents", "k", cardOnly)
	restricted := s.do("POST", "/v1/payment_intents", map[string]string{"Authorization": "Bearer rk_test_shop", "Idempotency-Key": "k"}, cardOnly)
	require.Equal(t, first.Raw, restricted.Raw)
	browser := s.do("POST", "/v1/payment_methods", map[string]string{"Authorization": "Bearer pk_test_shop", "Idempotency-Key": "k"}, "type=card&card[token]=tok_visa")
	require.Equal(t, "idempotency_error", browser.Err["type"])
}

func TestI11_TheWholeBody(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	s.control("/_sim/faults", stripesim.FaultRule{Kind: "conflict", Count: 1})
	r := s.post("/v1/payment_intents", "my-key", cardOnly)
	require.Equal(t, 409, r.Status)
	require.Equal(t, map[string]any{"code": "idempotency_key_in_use", "type": "invalid_request_error",
		"doc_url": "https://stripe.com/docs/error-codes/idempotency-key-in-use",
		"message": "There is currently another in-progress request using this Idempotent Key (that probably means you submitted twice, and the other request is still going through): my-key. Please try again later."}, r.Err)
}

// TestI11_WithOtherParametersItIsAConflictOfParameters even while the first executes.
func TestI11_WithOtherParametersItIsAConflictOfParameters(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{LockWait: time.Millisecond})
	path := "/v1/payment_intents/" + s.create().ID
	s.control("/_sim/faults", stripesim.FaultRule{Kind: "slow_inside", Count: 1, DelayMS: 1000, Match: stripesim.FaultMatch{Key: "k"}})
	slow := make(chan reply, 1)
	go func() {
		r, _ := s.try("POST", path+"/confirm", map[string]string{"Idempotency-Key": "k"}, "payment_method=pm_card_visa")
		slow <- r
	}()
	require.Eventually(t, func() bool { return s.post(path, "", "description=x").Status == 429 }, 5*time.Second, time.Millisecond, "the first executes")
	require.Equal(t, "idempotency_error", s.post("/v1/customers", "k", "").Err["type"])
	require.Equal(t, "idempotency_error", s.post(path+"/confirm", "k", "").Err["type"])
	require.Equal(t, 409, s.post(path+"/confirm", "k", "payment_method=pm_card_visa").Status)
	require.Equal(t, 200, (<-slow).Status)
}

// TestI14_TheDayBeginsWithTheFirstRequest: replays do not prolong it.
func TestI14_TheDayBeginsWithTheFirstRequest(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	first := s.post("/v1/payment_intents", "k", cardOnly).Body["id"]
	for range 23 {
		s.now.add(time.Hour)
		require.Equal(t, first, s.post("/v1/payment_intents", "k", cardOnly).Body["id"])
	}
	s.now.add(time.Hour)
	second := s.post("/v1/payment_intents", "k", "amount=100&currency=usd")
	require.NotEqual(t, first, second.Body["id"])
	require.Equal(t, 200, second.Status, "even other parameters are fine: nothing is known of the key")
	require.Equal(t, second.Header.Get("Request-Id"), second.Header.Get("Original-Request"))
}

// TestI15_AKeyDerivedFromTheCartStopsADoubleSubmit, one made up per click does not.
func TestI15_AKeyDerivedFromTheCartStopsADoubleSubmit(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	click := func(key string) {
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				for range 50 { // a 409 is answered by asking again with the same key
					r, err := s.try("POST", "/v1/payment_intents", map[string]string{"Idempotency-Key": key}, cardOnly+"&confirm=true&payment_method=pm_card_visa")
					if err == nil && r.Status == 200 {
						return
					}
				}
			})
		}
		wg.Wait()
	}
	click("cart-17:pay")
	require.EqualValues(t, 1, s.ledger().Totals["usd"].Charges)
	for n := range 2 {
		s.post("/v1/payment_intents", fmt.Sprintf("click-%d", n), cardOnly+"&confirm=true&payment_method=pm_card_visa")
	}
	require.EqualValues(t, 3, s.ledger().Totals["usd"].Charges)
}

// TestI16_ShouldRetryIsAbsentWhereTheStatusDecides.
func TestI16_ShouldRetryIsAbsentWhereTheStatusDecides(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	for kind, want := range map[string]string{"unavailable": "true", "rate_limit": "", "conflict": "", "error_500_with_effect": "", "html_502": "", "unauthorized": ""} {
		s.control("/_sim/faults", stripesim.FaultRule{Kind: kind, Count: 1})
		require.Equal(t, want, s.post("/v1/payment_intents", "", cardOnly).Header.Get("Stripe-Should-Retry"), kind)
	}
	require.Empty(t, s.post("/v1/payment_intents", "", "").Header.Get("Stripe-Should-Retry"))
}

// TestI17_TheCached500DoesNotChange although the effect is there to see.
func TestI17_TheCached500DoesNotChange(t *testing.T) {
	t.Parallel()
	in := newReceiver(t)
	s := start(t, stripesim.Config{WebhookURL: in.URL, WebhookSecret: secret})
	s.control("/_sim/faults", stripesim.FaultRule{Kind: "error_500_with_effect", Count: 1})
	first := s.post("/v1/payment_intents", "k", cardOnly+"&confirm=true&payment_method=pm_card_visa&metadata[operation]=op_1")
	require.Equal(t, map[string]any{"type": "api_error", "message": first.Err["message"], "request_log_url": first.Err["request_log_url"]}, first.Err)
	for _, e := range in.await(t, 3) {
		require.Equal(t, "k", e.Request.IdempotencyKey, "the webhook can be matched by key")
		require.Equal(t, map[string]any{"operation": "op_1"}, e.Data.Object["metadata"], "and by metadata")
	}
	for range 3 {
		require.Equal(t, first.Raw, s.post("/v1/payment_intents", "k", cardOnly+"&confirm=true&payment_method=pm_card_visa&metadata[operation]=op_1").Raw)
	}
	require.EqualValues(t, 2500, ledgerOf(s))
}

// TestI17_A500OfARefusalIsStoredToo: what executes and is declined can end in a 500.
func TestI17_A500OfARefusalIsStoredToo(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	s.control("/_sim/faults", stripesim.FaultRule{Kind: "error_500_with_effect", Match: stripesim.FaultMatch{Key: "k"}})
	for range 2 {
		require.Equal(t, 500, s.post("/v1/payment_intents", "k", cardOnly+"&confirm=true&payment_method=pm_card_visa_chargeDeclined").Status)
	}
	require.Len(t, s.get("/v1/charges").Body["data"], 1, "the issuer was asked once")
	s.control("/_sim/faults", stripesim.FaultRule{Kind: "error_500_with_effect", Match: stripesim.FaultMatch{Key: "v"}})
	require.Equal(t, 400, s.post("/v1/payment_intents", "v", "").Status, "validation still comes first")
}

// TestI18_AnEventWithoutRequest: what nobody asked for names no request.
func TestI18_AnEventWithoutRequest(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	hold := inStatus["requires_capture"](s)
	s.control("/_sim/clock", map[string]string{"advance": "168h"})
	e := s.first("/v1/events?type=payment_intent.canceled")
	require.Equal(t, hold, e["data"].(map[string]any)["object"].(map[string]any)["id"])
	require.Equal(t, map[string]any{"id": nil, "idempotency_key": nil}, e["request"])
	s.post("/v1/payment_intents", "", cardOnly)
	e = s.first("/v1/events?type=payment_intent.created")
	require.Nil(t, e["request"].(map[string]any)["idempotency_key"], "a request without key has an id all the same")
	require.Regexp(t, "^req_", e["request"].(map[string]any)["id"])
}

// TestI19_EveryStatus of Stripe's table that the simulator gives, and when. It has no
// 403 of Connect and no 424: it has no external dependencies.
func TestI19_EveryStatus(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{RateLimit: 0})
	fault := func(kind string) func() reply {
		return func() reply {
			s.control("/_sim/faults", stripesim.FaultRule{Kind: kind, Count: 1})
			return s.post("/v1/payment_intents", "", cardOnly)
		}
	}
	for status, cause := range map[int]func() reply{
		200: func() reply { return s.post("/v1/payment_intents", "", cardOnly) },
		400: func() reply { return s.post("/v1/payment_intents", "", "") },
		401: func() reply { return s.do("GET", "/v1/balance", map[string]string{"Authorization": ""}, "") },
		402: func() reply {
			return s.post("/v1/payment_intents", "", cardOnly+"&confirm=true&payment_method=pm_card_visa_chargeDeclined")
		},
		403: func() reply {
			return s.do("GET", "/v1/balance", map[string]string{"Authorization": "Bearer pk_test_shop"}, "")
		},
		404: func() reply { return s.get("/v1/charges/ch_none") },
		409: fault("conflict"),
		413: func() reply { return s.post("/v1/payment_intents", "", strings.Repeat("x", 2<<20)) },
		429: fault("rate_limit"),
		500: fault("error_500_without_effect"),
		502: fault("html_502"),
		503: fault("unavailable"),
	} {
		require.Equal(t, status, cause().Status, http.StatusText(status))
	}
}

// TestI20_LiveAndTestAreApart: a live key opens nothing here and takes no key.
func TestI20_LiveAndTestAreApart(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	for _, live := range []string{"sk_live_shop", "rk_live_shop", "pk_live_shop"} {
		r := s.do("POST", "/v1/payment_intents", map[string]string{"Authorization": "Bearer " + live, "Idempotency-Key": "k"}, cardOnly)
		require.Equal(t, 401, r.Status)
		require.NotContains(t, r.Raw, live, "a key is not repeated")
	}
	r := s.post("/v1/payment_intents", "k", cardOnly)
	require.Equal(t, 200, r.Status)
	require.Equal(t, false, r.Body["livemode"])
}

// TestS16_RateLimit counts requests by account and second, reads and writes apart,
// before the layer.
func TestS16_RateLimit(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{RateLimit: 3})
	for n := range 3 {
		require.Equal(t, 200, s.post("/v1/payment_intents", fmt.Sprint("k", n), cardOnly).Status)
	}
	r := s.post("/v1/payment_intents", "k9", cardOnly)
	require.Equal(t, 429, r.Status)
	require.Equal(t, []any{"invalid_request_error", "rate_limit"}, []any{r.Err["type"], r.Err["code"]})
	require.Equal(t, 429, s.post("/v1/payment_intents", "k0", cardOnly).Status, "even what is stored")
	require.Equal(t, 429, s.do("DELETE", "/v1/customers/cus_1", nil, "").Status, "a deletion is a write")
	for range 3 {
		require.Equal(t, 200, s.get("/v1/balance").Status, "reads have a count of their own")
	}
	require.Equal(t, 429, s.get("/v1/balance").Status)
	other := map[string]string{"Authorization": "Bearer sk_test_other"}
	require.Equal(t, 200, s.do("POST", "/v1/payment_intents", other, cardOnly).Status, "so have accounts")
	require.Equal(t, 401, s.do("GET", "/v1/balance", map[string]string{"Authorization": ""}, "").Status, "401 comes first")
	s.now.add(time.Second)
	r = s.post("/v1/payment_intents", "k9", cardOnly)
	require.Equal(t, 200, r.Status, "the next second")
	require.Empty(t, r.Header.Get("Idempotent-Replayed"), "the refusal was not stored")
	require.Equal(t, "true", s.post("/v1/payment_intents", "k0", cardOnly).Header.Get("Idempotent-Replayed"))
}

func TestS16_ThereIsNoRateLimitUnlessAskedFor(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	for range 300 {
		require.Equal(t, 200, s.raw("GET", "/v1/balance", "").Status)
	}
}

// TestS16_TheWholeLockTimeout.
func TestS16_TheWholeLockTimeout(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{LockWait: time.Millisecond})
	pi := s.paid()
	s.control("/_sim/faults", stripesim.FaultRule{Kind: "slow_inside", Count: 1, DelayMS: 1200, Match: stripesim.FaultMatch{Key: "slow"}})
	slow := make(chan reply, 1)
	go func() {
		r, _ := s.try("POST", "/v1/refunds", map[string]string{"Idempotency-Key": "slow"}, "amount=100&charge="+pi.LatestCharge.ID)
		slow <- r
	}()
	var r reply
	key := ""
	for n := 0; r.Status != 429; n++ {
		key = fmt.Sprint("quick", n)                                     // as long as the slow one has not begun, refunds are given
		r = s.post("/v1/refunds", key, "amount=1&payment_intent="+pi.ID) // the charge is locked with its intent
		require.Contains(t, []int{200, 429}, r.Status, r.Raw)
	}
	delete(r.Err, "request_log_url")
	require.Equal(t, map[string]any{"type": "invalid_request_error", "code": "lock_timeout", "doc_url": "https://stripe.com/docs/error-codes/lock-timeout",
		"message": "This object cannot be accessed right now because another API request or Stripe process is currently accessing it. If you see this error intermittently, retry the request. If you see this error frequently and are making multiple concurrent requests to a single object, make your requests serially or at a lower rate."}, r.Err)
	require.Equal(t, 200, (<-slow).Status)
	require.Equal(t, 200, s.post("/v1/refunds", key, "amount=1&payment_intent="+pi.ID).Status, "the refusal was not stored")
}

// TestS16_Versions: every published version is taken and echoed, also by stripe-go.
func TestS16_Versions(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	for _, v := range []string{"2011-01-01", "2019-12-03", "2020-08-27", "2022-11-15", "2023-08-16", "2023-10-16", "2024-06-20", "2024-09-30.acacia", "2026-08-26.dahlia", "2023-10-16; custom_beta=v1"} {
		r := s.do("GET", "/v1/balance", map[string]string{"Stripe-Version": v}, "")
		require.Equal(t, 200, r.Status, v)
		require.Equal(t, v, r.Header.Get("Stripe-Version"))
	}
	for _, v := range []string{"latest", "2023-10-17", "2023", "v1", "2023-10-16x", ";beta"} {
		r := s.do("POST", "/v1/payment_intents", map[string]string{"Stripe-Version": v}, cardOnly)
		require.Equal(t, 400, r.Status, v)
		require.Equal(t, "Invalid Stripe API version: "+v+". Please use a version that exists, e.g. 2023-10-16.", r.Err["message"])
		require.Equal(t, "2023-10-16", r.Header.Get("Stripe-Version"), "answered in the account's own")
	}
	pi := s.create()
	require.Equal(t, "2023-10-16", pi.LastResponse.Header.Get("Stripe-Version"))
	require.NotEmpty(t, pi.LastResponse.RequestID)
	require.NotEmpty(t, pi.LastResponse.IdempotencyKey, "stripe-go reads the key from the answer")
}

// TestS17_KeysOfStripeGo: what the library sends as key without being told, and that
// telemetry is ignored.
func TestS17_KeysOfStripeGo(t *testing.T) {
	t.Parallel()
	s := start(t, stripesim.Config{})
	pi := s.create()
	_, err := s.api.PaymentIntents.Cancel(pi.ID, nil)
	require.NoError(t, err)
	empty := &stripe.PaymentIntentParams{Amount: stripe.Int64(100), Currency: stripe.String("usd")}
	empty.SetIdempotencyKey("")
	_, err = s.api.PaymentIntents.New(empty)
	require.NoError(t, err)
	seen := s.requests(nil)
	require.NotEmpty(t, seen[0].IdempotencyKey, "with parameters an automatic key")
	require.Empty(t, seen[1].IdempotencyKey, "with nil parameters none at all")
	require.Empty(t, seen[2].IdempotencyKey, "an empty one is none")
	long := &stripe.PaymentIntentParams{Amount: stripe.Int64(100), Currency: stripe.String("usd")}
	long.SetIdempotencyKey(strings.Repeat("k", 256))
	_, err = s.api.PaymentIntents.New(long)
	require.ErrorContains(t, err, "longer than 255 characters")
	require.Len(t, s.requests(nil), 3, "refused before it was sent")
}
