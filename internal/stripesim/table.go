package stripesim

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
