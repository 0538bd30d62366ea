package stripesim_test

// bodiesOfOthers are whole answers about everything else.
var bodiesOfOthers = map[string]string{
	"customer": `
{
  "id": "cus_1",
  "object": "customer",
  "address": {
    "city": "Berlin",
    "country": "DE",
    "line1": "1 Street",
    "line2": null,
    "postal_code": null,
    "state": null
  },
  "balance": 0,
  "created": 1796040000,
  "currency": null,
  "default_source": null,
  "delinquent": false,
  "description": "First",
  "discount": null,
  "email": "ada@example.com",
  "invoice_prefix": "PREFIX",
  "invoice_settings": {
    "custom_fields": null,
    "default_payment_method": null,
    "footer": null,
    "rendering_options": null
  },
  "livemode": false,
  "metadata": {
    "a": "b"
  },
  "name": "Ada",
  "next_invoice_sequence": 1,
  "phone": "1",
  "preferred_locales": [],
  "shipping": {
    "address": {
      "city": null,
      "country": null,
      "line1": "1 Street",
      "line2": null,
      "postal_code": null,
      "state": null
    },
    "carrier": null,
    "name": "Ada",
    "phone": null,
    "tracking_number": null
  },
  "tax_exempt": "none",
  "test_clock": null
}`,

	"payment_method": `
{
  "id": "pm_2",
  "object": "payment_method",
  "billing_details": {
    "address": {
      "city": null,
      "country": null,
      "line1": null,
      "line2": null,
      "postal_code": null,
      "state": null
    },
    "email": null,
    "name": null,
    "phone": null
  },
  "card": {
    "brand": "visa",
    "checks": {
      "address_line1_check": null,
      "address_postal_code_check": null,
      "cvc_check": "pass"
    },
    "country": "US",
    "exp_month": 12,
    "exp_year": 2028,
    "fingerprint": "b18fcf8bc2eb3254",
    "funding": "credit",
    "last4": "4242",
    "networks": {
      "available": [
        "visa"
      ],
      "preferred": null
    },
    "three_d_secure_usage": {
      "supported": true
    },
    "wallet": null
  },
  "created": 1796040000,
  "customer": null,
  "livemode": false,
  "metadata": {},
  "type": "card"
}`,

	"confirmation_token": `
{
  "id": "ctoken_1",
  "object": "confirmation_token",
  "created": 1796040000,
  "expires_at": 1796083200,
  "livemode": false,
  "mandate_data": null,
  "payment_intent": null,
  "payment_method_preview": {
    "billing_details": {
      "address": {
        "city": null,
        "country": null,
        "line1": null,
        "line2": null,
        "postal_code": null,
        "state": null
      },
      "email": null,
      "name": null,
      "phone": null
    },
    "card": {
      "brand": "amex",
      "checks": {
        "address_line1_check": null,
        "address_postal_code_check": null,
        "cvc_check": "pass"
      },
      "country": "US",
      "exp_month": 12,
      "exp_year": 2028,
      "fingerprint": "6312d1d034f97fc4",
      "funding": "credit",
      "last4": "0005",
      "networks": {
        "available": [
          "amex"
        ],
        "preferred": null
      },
      "three_d_secure_usage": {
        "supported": true
      },
      "wallet": null
    },
    "type": "card"
  },
  "return_url": "https://shop.example/r",
  "setup_future_usage": "off_session",
  "setup_intent": null,
  "shipping": {
    "address": {
      "city": null,
      "country": null,
      "line1": "1",
      "line2": null,
      "postal_code": null,
      "state": null
    },
    "carrier": null,
    "name": "Ada",
    "phone": null,
    "tracking_number": null
  },
  "use_stripe_sdk": false
}`,

	"setup_intent": `
{
  "id": "seti_1",
  "object": "setup_intent",
  "application": null,
  "automatic_payment_methods": null,
  "cancellation_reason": null,
  "client_secret": "seti_1_secret",
  "created": 1796040000,
  "customer": "cus_1",
  "description": "Save",
  "flow_directions": null,
  "last_setup_error": null,
  "latest_attempt": null,
  "livemode": false,
  "mandate": null,
  "metadata": {
    "a": "b"
  },
  "next_action": null,
  "on_behalf_of": null,
  "payment_method": "pm_4",
  "payment_method_options": {},
  "payment_method_types": [
    "card"
  ],
  "single_use_mandate": null,
  "status": "succeeded",
  "usage": "off_session"
}`,

	"setup_intent declined": `
{
  "code": "expired_card",
  "decline_code": "expired_card",
  "param": "exp_month",
  "setup_intent": "requires_payment_method",
  "type": "card_error"
}`,

	"events": `
{
  "object": "list",
  "data": [
    {
      "id": "evt_1",
      "object": "event",
      "api_version": "2023-10-16",
      "created": 1796040000,
      "data": {
        "object": {
          "id": "cus_2",
          "object": "customer",
          "address": null,
          "balance": 0,
          "created": 1796040000,
          "currency": null,
          "default_source": null,
          "delinquent": false,
          "description": null,
          "discount": null,
          "email": "e@example.com",
          "invoice_prefix": "PREFIX",
          "invoice_settings": {
            "custom_fields": null,
            "default_payment_method": null,
            "footer": null,
            "rendering_options": null
          },
          "livemode": false,
          "metadata": {},
          "name": null,
          "next_invoice_sequence": 1,
          "phone": null,
          "preferred_locales": [],
          "shipping": null,
          "tax_exempt": "none",
          "test_clock": null
        }
      },
      "livemode": false,
      "pending_webhooks": 0,
      "request": {
        "id": "req_2",
        "idempotency_key": "op:7"
      },
      "type": "customer.created"
    }
  ],
  "has_more": true,
  "url": "/v1/events"
}`,

	"webhook_endpoint, new": `
{
  "id": "we_1",
  "object": "webhook_endpoint",
  "api_version": "2023-10-16",
  "application": null,
  "created": 1796040000,
  "description": "Hook",
  "enabled_events": [
    "charge.succeeded",
    "charge.failed"
  ],
  "livemode": false,
  "metadata": {
    "a": "b"
  },
  "secret": "whsec",
  "status": "enabled",
  "url": "https://shop.example/hook"
}`,

	"webhook_endpoint, read again without its secret": `
{
  "id": "we_1",
  "object": "webhook_endpoint",
  "api_version": "2023-10-16",
  "application": null,
  "created": 1796040000,
  "description": "Hook",
  "enabled_events": [
    "charge.succeeded",
    "charge.failed"
  ],
  "livemode": false,
  "metadata": {
    "a": "b"
  },
  "status": "enabled",
  "url": "https://shop.example/hook"
}`,

	"search": `
{
  "object": "search_result",
  "data": [],
  "has_more": false,
  "next_page": null,
  "url": "/v1/payment_intents/search"
}`,

	"customer, deleted": `
{
  "id": "cus_1",
  "object": "customer",
  "deleted": true
}`,

	"error": `
{
  "error": {
    "message": "Unrecognized request URL (GET: /v1/nonsense). Please see https://stripe.com/docs or we can help at https://support.stripe.com/.",
    "request_log_url": "https://dashboard.stripe.com/test/logs/req_3?t=1796040000",
    "type": "invalid_request_error"
  }
}`,
}
