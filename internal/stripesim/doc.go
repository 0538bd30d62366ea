// Package stripesim is a local Stripe: an HTTP server that answers the payment
// part of Stripe's API (version 2023-10-16) as the public record says Stripe
// answers it, keeps its state in a journal, and misbehaves on demand the way
// networks and payment providers do.
//
// It exists so that code which must charge exactly once can be tried against a
// provider that is stateful, strict and treacherous, without an account. The
// centre is the idempotency layer (idempotency.go): a key is reserved before
// anything executes, and the answer is stored in the same journal record as the
// effect it describes, so that no crash can keep one without the other.
//
// Nothing here knows the shop. docs/stripe-sim.md lists every statement the
// simulator honours and whether it was recorded, documented or assumed.
package stripesim
