package stripesim

import (
	"encoding/json"
	"fmt"
)

// Kinds of stored objects, as the journal names them.
const (
	kindIntent   = "payment_intent"
	kindCharge   = "charge"
	kindMethod   = "payment_method"
	kindToken    = "confirmation_token"
	kindCustomer = "customer"
	kindRefund   = "refund"
	kindDispute  = "dispute"
	kindSetup    = "setup_intent"
	kindTxn      = "balance_transaction"
	kindEndpoint = "webhook_endpoint"
)

// object is a stored version of an API object. Versions are never modified once
// stored, so they can be rendered without a lock.
type object interface {
	id() string
	born() int64 // created, unix seconds
	kind() string
	wire() any // what the API shows
}

// kinds lists them in the order in which a compacted journal keeps them.
var kinds = []string{kindCustomer, kindMethod, kindToken, kindIntent, kindCharge, kindTxn, kindRefund, kindDispute, kindSetup, kindEndpoint}

// shelf is a table, whatever it holds.
type shelf interface {
	keep(object)
	find(id string) object // nil for none
	all() []object
	decode(data []byte) (object, error)
}

// table holds the newest version of each object of a kind in order of creation.
type table[T object] struct {
	rows []T
	at   map[string]int
}

func (t *table[T]) get(id string) (none T) {
	if i, ok := t.at[id]; ok {
		return t.rows[i]
	}
	return none
}

func (t *table[T]) put(o T) {
	if i, ok := t.at[o.id()]; ok {
		t.rows[i] = o
		return
	}
	if t.at == nil {
		t.at = map[string]int{}
	}
	t.at[o.id()] = len(t.rows)
	t.rows = append(t.rows, o)
}

func (t *table[T]) keep(o object) { t.put(o.(T)) }

func (t *table[T]) find(id string) object {
	if i, ok := t.at[id]; ok {
		return t.rows[i]
	}
	return nil
}

func (t *table[T]) all() []object {
	out := make([]object, len(t.rows))
	for i, o := range t.rows {
		out[i] = o
	}
	return out
}

// decode reads a journaled object back.
func (t *table[T]) decode(data []byte) (object, error) {
	var o T
	if err := json.Unmarshal(data, &o); err != nil {
		return nil, fmt.Errorf("decoding %T: %w", o, err)
	}
	return o, nil
}

// retrieve makes the endpoint that shows one object of a kind as it is.
func retrieve(kind, noun string) func(*call) (any, *apiError) {
	return func(c *call) (any, *apiError) {
		o := c.acct.find(kind, c.id)
		if o == nil {
			return nil, noSuch(noun, c.id)
		}
		return o.wire(), nil
	}
}
