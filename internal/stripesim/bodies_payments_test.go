package stripesim_test

// bodiesOfPayments are whole answers about money, as TestBodies asks for them.
var bodiesOfPayments = map[string]string{
	"payment_intent": `
{
  "id": "pi_1",
  "object": "payment_intent",
  "amount": 2500,
  "amount_capturable": 0,
  "amount_details": {
    "tip": {}
  },
  "amount_received": 0,
  "application": null,
  "application_fee_amount": null,
  "automatic_payment_methods": null,
  "canceled_at": null,
  "cancellation_reason": null,
  "capture_method": "automatic",
  "client_secret": "pi_1_secret",
  "confirmation_method": "automatic",
  "created": 1796040000,
  "currency": "usd",
  "customer": "cus_1",
  "description": "Order 1",
  "invoice": null,
  "last_payment_error": null,
  "latest_charge": null,
  "livemode": false,
  "metadata": {
    "order_id": "1"
  },
  "next_action": null,
  "on_behalf_of": null,
  "payment_method": null,
  "payment_method_configuration_details": null,
  "payment_method_options": {
    "card": {
      "installments": null,
      "mandate_options": null,
      "network": null,
      "request_three_d_secure": "automatic"
    }
  },
  "payment_method_types": [
    "card"
  ],
  "processing": null,
  "receipt_email": "a@example.com",
  "review": null,
  "setup_future_usage": null,
  "shipping": {
    "address": {
      "city": null,
      "country": null,
      "line1": "1",
      "line2": null,
      "postal_code": "10115",
      "state": null
    },
    "carrier": "Post",
    "name": "Ada",
    "phone": "2",
    "tracking_number": "T1"
  },
  "source": null,
  "statement_descriptor": null,
  "statement_descriptor_suffix": "ORDER",
  "status": "requires_payment_method",
  "transfer_data": null,
  "transfer_group": null
}`,

	"decline": `
{
  "error": {
    "advice_code": "try_again_later",
    "charge": "ch_1",
    "code": "card_declined",
    "decline_code": "insufficient_funds",
    "doc_url": "https://stripe.com/docs/error-codes/card-declined",
    "message": "Your card has insufficient funds.",
    "payment_intent": {
      "id": "pi_1",
      "object": "payment_intent",
      "amount": 2500,
      "amount_capturable": 0,
      "amount_details": {
        "tip": {}
      },
      "amount_received": 0,
      "application": null,
      "application_fee_amount": null,
      "automatic_payment_methods": null,
      "canceled_at": null,
      "cancellation_reason": null,
      "capture_method": "automatic",
      "client_secret": "pi_1_secret",
      "confirmation_method": "automatic",
      "created": 1796040000,
      "currency": "usd",
      "customer": "cus_1",
      "description": "Order 1",
      "invoice": null,
      "last_payment_error": {
        "advice_code": "try_again_later",
        "charge": "ch_1",
        "code": "card_declined",
        "decline_code": "insufficient_funds",
        "doc_url": "https://stripe.com/docs/error-codes/card-declined",
        "message": "Your card has insufficient funds.",
        "payment_method": {
          "id": "pm_1",
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
            "fingerprint": "194feabf16087ec2",
            "funding": "credit",
            "last4": "9995",
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
        },
        "type": "card_error"
      },
      "latest_charge": "ch_1",
      "livemode": false,
      "metadata": {
        "order_id": "1"
      },
      "next_action": null,
      "on_behalf_of": null,
      "payment_method": null,
      "payment_method_configuration_details": null,
      "payment_method_options": {
        "card": {
          "installments": null,
          "mandate_options": null,
          "network": null,
          "request_three_d_secure": "automatic"
        }
      },
      "payment_method_types": [
        "card"
      ],
      "processing": null,
      "receipt_email": "a@example.com",
      "review": null,
      "setup_future_usage": null,
      "shipping": {
        "address": {
          "city": null,
          "country": null,
          "line1": "1",
          "line2": null,
          "postal_code": "10115",
          "state": null
        },
        "carrier": "Post",
        "name": "Ada",
        "phone": "2",
        "tracking_number": "T1"
      },
      "source": null,
      "statement_descriptor": null,
      "statement_descriptor_suffix": "ORDER",
      "status": "requires_payment_method",
      "transfer_data": null,
      "transfer_group": null
    },
    "payment_method": {
      "id": "pm_1",
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
        "fingerprint": "194feabf16087ec2",
        "funding": "credit",
        "last4": "9995",
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
    },
    "request_log_url": "https://dashboard.stripe.com/test/logs/req_1?t=1796040000",
    "type": "card_error"
  }
}`,

	"payment_intent paid": `
{
  "id": "pi_1",
  "object": "payment_intent",
  "amount": 2500,
  "amount_capturable": 0,
  "amount_details": {
    "tip": {}
  },
  "amount_received": 2500,
  "application": null,
  "application_fee_amount": null,
  "automatic_payment_methods": null,
  "canceled_at": null,
  "cancellation_reason": null,
  "capture_method": "automatic",
  "client_secret": "pi_1_secret",
  "confirmation_method": "automatic",
  "created": 1796040000,
  "currency": "usd",
  "customer": "cus_1",
  "description": "Order 1",
  "invoice": null,
  "last_payment_error": null,
  "latest_charge": "ch_2",
  "livemode": false,
  "metadata": {
    "order_id": "1"
  },
  "next_action": null,
  "on_behalf_of": null,
  "payment_method": "pm_2",
  "payment_method_configuration_details": null,
  "payment_method_options": {
    "card": {
      "installments": null,
      "mandate_options": null,
      "network": null,
      "request_three_d_secure": "automatic"
    }
  },
  "payment_method_types": [
    "card"
  ],
  "processing": null,
  "receipt_email": "a@example.com",
  "review": null,
  "setup_future_usage": null,
  "shipping": {
    "address": {
      "city": null,
      "country": null,
      "line1": "1",
      "line2": null,
      "postal_code": "10115",
      "state": null
    },
    "carrier": "Post",
    "name": "Ada",
    "phone": "2",
    "tracking_number": "T1"
  },
  "source": null,
  "statement_descriptor": null,
  "statement_descriptor_suffix": "ORDER",
  "status": "succeeded",
  "transfer_data": null,
  "transfer_group": null
}`,

	"charge": `
{
  "id": "ch_2",
  "object": "charge",
  "amount": 2500,
  "amount_captured": 2500,
  "amount_refunded": 0,
  "application": null,
  "application_fee": null,
  "application_fee_amount": null,
  "balance_transaction": "txn_1",
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
  "calculated_statement_descriptor": "LOCAL STRIPE",
  "captured": true,
  "created": 1796040000,
  "currency": "usd",
  "customer": "cus_1",
  "description": "Order 1",
  "disputed": false,
  "failure_balance_transaction": null,
  "failure_code": null,
  "failure_message": null,
  "fraud_details": {},
  "invoice": null,
  "livemode": false,
  "metadata": {
    "order_id": "1"
  },
  "on_behalf_of": null,
  "outcome": {
    "network_status": "approved_by_network",
    "reason": null,
    "risk_level": "normal",
    "risk_score": 42,
    "seller_message": "Payment complete.",
    "type": "authorized"
  },
  "paid": true,
  "payment_intent": "pi_1",
  "payment_method": "pm_2",
  "payment_method_details": {
    "card": {
      "amount_authorized": 2500,
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
      "installments": null,
      "last4": "4242",
      "mandate": null,
      "network": "visa",
      "three_d_secure": null,
      "wallet": null
    },
    "type": "card"
  },
  "receipt_email": "a@example.com",
  "receipt_number": null,
  "receipt_url": "http://sim/_sim/receipts/ch_2",
  "refunded": false,
  "review": null,
  "shipping": {
    "address": {
      "city": null,
      "country": null,
      "line1": "1",
      "line2": null,
      "postal_code": "10115",
      "state": null
    },
    "carrier": "Post",
    "name": "Ada",
    "phone": "2",
    "tracking_number": "T1"
  },
  "source": null,
  "source_transfer": null,
  "statement_descriptor": null,
  "statement_descriptor_suffix": "ORDER",
  "status": "succeeded",
  "transfer_data": null,
  "transfer_group": null
}`,

	"balance_transaction": `
{
  "id": "txn_1",
  "object": "balance_transaction",
  "amount": 2500,
  "available_on": 1796212800,
  "created": 1796040000,
  "currency": "usd",
  "description": null,
  "exchange_rate": null,
  "fee": 0,
  "fee_details": [],
  "net": 2500,
  "reporting_category": "charge",
  "source": "ch_2",
  "status": "pending",
  "type": "charge"
}`,

	"refund": `
{
  "id": "re_1",
  "object": "refund",
  "amount": 500,
  "balance_transaction": "txn_2",
  "charge": "ch_2",
  "created": 1796040000,
  "currency": "usd",
  "destination_details": {
    "card": {
      "reference_status": "pending",
      "reference_type": "acquirer_reference_number",
      "type": "refund"
    },
    "type": "card"
  },
  "metadata": {
    "refund_id": "r1"
  },
  "payment_intent": "pi_1",
  "reason": "requested_by_customer",
  "receipt_number": null,
  "source_transfer_reversal": null,
  "status": "succeeded",
  "transfer_reversal": null
}`,

	"list of a failed charge": `
{
  "object": "list",
  "data": [
    {
      "id": "ch_1",
      "object": "charge",
      "amount": 2500,
      "amount_captured": 0,
      "amount_refunded": 0,
      "application": null,
      "application_fee": null,
      "application_fee_amount": null,
      "balance_transaction": null,
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
      "calculated_statement_descriptor": "LOCAL STRIPE",
      "captured": false,
      "created": 1796040000,
      "currency": "usd",
      "customer": "cus_1",
      "description": "Order 1",
      "disputed": false,
      "failure_balance_transaction": null,
      "failure_code": "card_declined",
      "failure_message": "Your card has insufficient funds.",
      "fraud_details": {},
      "invoice": null,
      "livemode": false,
      "metadata": {
        "order_id": "1"
      },
      "on_behalf_of": null,
      "outcome": {
        "network_status": "declined_by_network",
        "reason": "insufficient_funds",
        "risk_level": "normal",
        "risk_score": 42,
        "seller_message": "The bank did not return any further details with this decline.",
        "type": "issuer_declined"
      },
      "paid": false,
      "payment_intent": "pi_1",
      "payment_method": "pm_1",
      "payment_method_details": {
        "card": {
          "amount_authorized": null,
          "brand": "visa",
          "checks": {
            "address_line1_check": null,
            "address_postal_code_check": null,
            "cvc_check": "pass"
          },
          "country": "US",
          "exp_month": 12,
          "exp_year": 2028,
          "fingerprint": "194feabf16087ec2",
          "funding": "credit",
          "installments": null,
          "last4": "9995",
          "mandate": null,
          "network": "visa",
          "three_d_secure": null,
          "wallet": null
        },
        "type": "card"
      },
      "receipt_email": "a@example.com",
      "receipt_number": null,
      "receipt_url": null,
      "refunded": false,
      "review": null,
      "shipping": {
        "address": {
          "city": null,
          "country": null,
          "line1": "1",
          "line2": null,
          "postal_code": "10115",
          "state": null
        },
        "carrier": "Post",
        "name": "Ada",
        "phone": "2",
        "tracking_number": "T1"
      },
      "source": null,
      "source_transfer": null,
      "statement_descriptor": null,
      "statement_descriptor_suffix": "ORDER",
      "status": "failed",
      "transfer_data": null,
      "transfer_group": null
    }
  ],
  "has_more": false,
  "url": "/v1/charges"
}`,

	"payment_intent in action": `
{
  "id": "pi_2",
  "object": "payment_intent",
  "amount": 2500,
  "amount_capturable": 0,
  "amount_details": {
    "tip": {}
  },
  "amount_received": 0,
  "application": null,
  "application_fee_amount": null,
  "automatic_payment_methods": {
    "allow_redirects": "always",
    "enabled": true
  },
  "canceled_at": null,
  "cancellation_reason": null,
  "capture_method": "automatic",
  "client_secret": "pi_2_secret",
  "confirmation_method": "automatic",
  "created": 1796040000,
  "currency": "usd",
  "customer": null,
  "description": null,
  "invoice": null,
  "last_payment_error": null,
  "latest_charge": null,
  "livemode": false,
  "metadata": {},
  "next_action": {
    "redirect_to_url": {
      "return_url": "https://shop.example/r",
      "url": "http://sim/_sim/3ds/shop/pi_2?s=pi_2_secret"
    },
    "type": "redirect_to_url"
  },
  "on_behalf_of": null,
  "payment_method": "pm_3",
  "payment_method_configuration_details": null,
  "payment_method_options": {
    "card": {
      "installments": null,
      "mandate_options": null,
      "network": null,
      "request_three_d_secure": "automatic"
    }
  },
  "payment_method_types": [
    "card"
  ],
  "processing": null,
  "receipt_email": null,
  "review": null,
  "setup_future_usage": null,
  "shipping": null,
  "source": null,
  "statement_descriptor": null,
  "statement_descriptor_suffix": null,
  "status": "requires_action",
  "transfer_data": null,
  "transfer_group": null
}`,

	"payment_intent for a browser, authentication failed": `
{
  "id": "pi_2",
  "object": "payment_intent",
  "amount": 2500,
  "amount_details": {
    "tip": {}
  },
  "automatic_payment_methods": {
    "allow_redirects": "always",
    "enabled": true
  },
  "canceled_at": null,
  "cancellation_reason": null,
  "capture_method": "automatic",
  "client_secret": "pi_2_secret",
  "confirmation_method": "automatic",
  "created": 1796040000,
  "currency": "usd",
  "description": null,
  "last_payment_error": {
    "code": "payment_intent_authentication_failure",
    "doc_url": "https://stripe.com/docs/error-codes/payment-intent-authentication-failure",
    "message": "The provided PaymentMethod has failed authentication. You can provide payment_method_data or a new PaymentMethod to attempt to fulfill this PaymentIntent again.",
    "payment_method": {
      "id": "pm_3",
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
        "fingerprint": "05ecce9b54df4a52",
        "funding": "credit",
        "last4": "3220",
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
    },
    "type": "invalid_request_error"
  },
  "livemode": false,
  "next_action": null,
  "payment_method": null,
  "payment_method_types": [
    "card"
  ],
  "processing": null,
  "receipt_email": null,
  "setup_future_usage": null,
  "shipping": null,
  "source": null,
  "status": "requires_payment_method"
}`,

	"next_action for Stripe.js": `
{
  "type": "use_stripe_sdk",
  "use_stripe_sdk": {
    "source": "pi_3",
    "stripe_js": "http://sim/_sim/3ds/shop/pi_3?s=pi_3_secret",
    "type": "three_d_secure_redirect"
  }
}`,

	"disputes": `
{
  "object": "list",
  "data": [
    {
      "id": "du_1",
      "object": "dispute",
      "amount": 2500,
      "balance_transactions": [
        {
          "id": "txn_3",
          "object": "balance_transaction",
          "amount": -2500,
          "available_on": 1796040000,
          "created": 1796040000,
          "currency": "usd",
          "description": null,
          "exchange_rate": null,
          "fee": 0,
          "fee_details": [],
          "net": -2500,
          "reporting_category": "adjustment",
          "source": "du_1",
          "status": "available",
          "type": "adjustment"
        }
      ],
      "charge": "ch_3",
      "created": 1796040000,
      "currency": "usd",
      "evidence": {},
      "evidence_details": {
        "due_by": 1796644800,
        "has_evidence": false,
        "past_due": false,
        "submission_count": 0
      },
      "is_charge_refundable": false,
      "livemode": false,
      "metadata": {},
      "payment_intent": "pi_4",
      "payment_method_details": {
        "card": {
          "brand": "visa",
          "network_reason_code": "10.4"
        },
        "type": "card"
      },
      "reason": "fraudulent",
      "status": "needs_response"
    }
  ],
  "has_more": false,
  "url": "/v1/disputes"
}`,

	"balance": `
{
  "object": "balance",
  "available": [
    {
      "amount": -3000,
      "currency": "usd",
      "source_types": {
        "card": -3000
      }
    }
  ],
  "livemode": false,
  "pending": [
    {
      "amount": 5000,
      "currency": "usd",
      "source_types": {
        "card": 5000
      }
    }
  ]
}`,
}
