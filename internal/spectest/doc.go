// Package spectest holds the simulator of Stripe against Stripe's own published
// description of its API. It is a module of its own because the description weighs
// more than the shop: run it with `go test ./...` in this folder.
//
// Three checks share one recorded conversation with the simulator:
//
//   - every answer validates against the OpenAPI schema of its operation, with the
//     short allow-list of allowed.go, since the description is of a newer version;
//   - every key of every answer is a field of stripe-go v76, the client library of
//     exactly the version the simulator speaks;
//   - every accepted request is accepted by stripe-mock too, which knows each
//     operation's parameters by name and type.
package spectest
