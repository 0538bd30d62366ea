package stripesim

import "net/http"

func fields(groups ...[]string) schema {
	s := accepts()
	for _, g := range groups {
		s = s.and(g...)
	}
	return s
}

// endpoints is the part of Stripe's API that the simulator speaks.
var endpoints = []endpoint{
	{method: "POST", path: "/v1/payment_intents", params: createIntentSchema, run: (*call).createIntent},
	{method: "GET", path: "/v1/payment_intents", params: fields(listFields, createdFields, []string{"customer"}), run: (*call).listIntents},
	{method: "GET", path: "/v1/payment_intents/search", params: accepts("query", "limit", "page"), run: (*call).searchIntents},
	{method: "GET", path: "/v1/payment_intents/{id}", params: accepts("client_secret", "key"), public: true, run: (*call).retrieveIntent},
	{method: "POST", path: "/v1/payment_intents/{id}", params: updateIntentSchema, run: (*call).updateIntent},
	{method: "POST", path: "/v1/payment_intents/{id}/confirm", params: confirmIntentSchema, public: true, run: (*call).confirmEndpoint},
	{method: "POST", path: "/v1/payment_intents/{id}/capture", params: captureIntentSchema, run: (*call).captureIntent},
	{method: "POST", path: "/v1/payment_intents/{id}/cancel", params: cancelIntentSchema, run: (*call).cancelEndpoint},

	{method: "GET", path: "/v1/charges", params: fields(listFields, createdFields, []string{"customer", "payment_intent"}), run: (*call).listCharges},
	{method: "GET", path: "/v1/charges/{id}", params: accepts(), run: retrieve(kindCharge, "charge")},

	{method: "POST", path: "/v1/refunds", params: createRefundSchema, run: (*call).createRefund, lockOn: []string{"payment_intent", "charge"}},
	{method: "GET", path: "/v1/refunds", params: fields(listFields, createdFields, []string{"charge", "payment_intent"}), run: (*call).listRefunds},
	{method: "GET", path: "/v1/refunds/{id}", params: accepts(), run: retrieve(kindRefund, "refund")},
	{method: "POST", path: "/v1/refunds/{id}", params: accepts("metadata[*]"), run: (*call).updateRefund},

	{method: "POST", path: "/v1/payment_methods", params: createMethodSchema, public: true, run: (*call).createMethod},
	{method: "GET", path: "/v1/payment_methods", params: fields(listFields, []string{"customer", "type"}), run: (*call).listMethods},
	{method: "GET", path: "/v1/payment_methods/{id}", params: accepts(), run: retrieve(kindMethod, "PaymentMethod")},
	{method: "POST", path: "/v1/payment_methods/{id}/attach", params: accepts("customer"), run: (*call).attachEndpoint},
	{method: "POST", path: "/v1/payment_methods/{id}/detach", params: accepts(), run: (*call).detachEndpoint},

	{method: "POST", path: "/v1/confirmation_tokens", params: createTokenSchema, public: true, run: (*call).createToken},
	{method: "GET", path: "/v1/confirmation_tokens/{id}", params: accepts("key"), public: true, run: (*call).retrieveToken},
	{method: "POST", path: "/v1/test_helpers/confirmation_tokens", params: createTokenSchema, run: (*call).createToken},

	{method: "POST", path: "/v1/customers", params: customerSchema, run: (*call).createCustomer},
	{method: "GET", path: "/v1/customers", params: fields(listFields, createdFields, []string{"email"}), run: (*call).listCustomers},
	{method: "GET", path: "/v1/customers/{id}", params: accepts(), run: retrieve(kindCustomer, "customer")},
	{method: "POST", path: "/v1/customers/{id}", params: customerSchema, run: (*call).updateCustomer},
	{method: "DELETE", path: "/v1/customers/{id}", params: accepts(), run: (*call).deleteCustomer},
	{method: "GET", path: "/v1/customers/{id}/payment_methods", params: fields(listFields, []string{"type"}), run: (*call).listMethods},
	{method: "GET", path: "/v1/customers/{id}/payment_methods/{sub}", params: accepts(), run: (*call).customerMethod},

	{method: "POST", path: "/v1/setup_intents", params: setupSchema, run: (*call).createSetup},
	{method: "GET", path: "/v1/setup_intents/{id}", params: accepts("client_secret", "key"), public: true, run: (*call).retrieveSetup},
	{method: "POST", path: "/v1/setup_intents/{id}/confirm", params: setupSchema, public: true, run: (*call).confirmSetupEndpoint},

	{method: "GET", path: "/v1/disputes", params: fields(listFields, createdFields, []string{"charge", "payment_intent"}), run: (*call).listDisputes},
	{method: "GET", path: "/v1/disputes/{id}", params: accepts(), run: retrieve(kindDispute, "dispute")},
	{method: "POST", path: "/v1/disputes/{id}/close", params: accepts(), run: (*call).closeDispute},

	{method: "GET", path: "/v1/events", params: fields(listFields, createdFields, []string{"type", "types[]"}), run: (*call).listEvents},
	{method: "GET", path: "/v1/events/{id}", params: accepts(), run: (*call).retrieveEvent},

	{method: "POST", path: "/v1/webhook_endpoints", params: hookSchema, run: (*call).createHook},
	{method: "GET", path: "/v1/webhook_endpoints", params: fields(listFields), run: (*call).listHooks},
	{method: "GET", path: "/v1/webhook_endpoints/{id}", params: accepts(), run: (*call).retrieveHook},
	{method: "POST", path: "/v1/webhook_endpoints/{id}", params: hookSchema, run: (*call).updateHook},
	{method: "DELETE", path: "/v1/webhook_endpoints/{id}", params: accepts(), run: (*call).deleteHook},

	{method: "GET", path: "/v1/balance", params: accepts(), run: (*call).retrieveBalance},
	{method: "GET", path: "/v1/balance_transactions/{id}", params: accepts(), run: (*call).retrieveTxn},
}

// routes builds the mux: the API, Stripe.js, the pages and the controls.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	for i := range endpoints {
		ep := &endpoints[i]
		mux.HandleFunc(ep.method+" "+ep.path, func(w http.ResponseWriter, r *http.Request) { s.serve(ep, w, r) })
	}
	mux.HandleFunc("/v1/", func(w http.ResponseWriter, r *http.Request) {
		s.serve(&endpoint{method: r.Method, path: r.URL.Path, public: true, run: (*call).unknownURL}, w, r)
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	s.controls(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodOptions {
			preflight(w)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// preflight answers what a browser asks before a cross-origin call.
func preflight(w http.ResponseWriter) {
	h := w.Header()
	allowOrigin(h)
	h.Set("Access-Control-Allow-Methods", "GET, HEAD, PUT, PATCH, POST, DELETE")
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Idempotency-Key, Stripe-Version")
	h.Set("Access-Control-Max-Age", "300")
	w.WriteHeader(http.StatusOK)
}

func allowOrigin(h http.Header) {
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Expose-Headers", "Request-Id, Idempotency-Key, Idempotent-Replayed, Original-Request, Stripe-Should-Retry, Stripe-Version")
}
