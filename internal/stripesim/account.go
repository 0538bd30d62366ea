package stripesim

import (
	"encoding/json"
	"fmt"
	"sync"
)

// account is everything one pair of keys (sk_test_x, pk_test_x) can see. Its
// mutex is held while an endpoint executes, which takes microseconds; waiting for
// the journal, slow faults and the network happen outside.
type account struct {
	name string // the part of the key after sk_test_
	acct string // acct_…

	mu        sync.Mutex
	intents   table[*intent]
	charges   table[*charge]
	methods   table[*method]
	ctokens   table[*ctoken]
	customers table[*customer]
	refunds   table[*refund]
	disputes  table[*dispute]
	setups    table[*setup]
	txns      table[*balanceTxn]
	endpoints table[*hook]
	events    table[*event]
	idem      map[string]*idemRecord
	claims    int                      // keys claimed, for pruning
	held      map[string]chan struct{} // objects locked by a slow execution
	last      uint64                   // journal number of the newest record
}

func newAccount(name string) *account {
	return &account{name: name, acct: accountID(name), idem: map[string]*idemRecord{}, held: map[string]chan struct{}{}}
}

// store puts a version into the table of its kind. The caller holds mu.
func (a *account) store(o object) {
	switch o := o.(type) {
	case *intent:
		a.intents.put(o)
	case *charge:
		a.charges.put(o)
	case *method:
		a.methods.put(o)
	case *ctoken:
		a.ctokens.put(o)
	case *customer:
		a.customers.put(o)
	case *refund:
		a.refunds.put(o)
	case *dispute:
		a.disputes.put(o)
	case *setup:
		a.setups.put(o)
	case *balanceTxn:
		a.txns.put(o)
	case *hook:
		a.endpoints.put(o)
	default:
		panic(fmt.Sprintf("stripesim: no table for %T", o))
	}
}

// decode reads a journaled object back.
func decode(kind string, data []byte) (object, error) {
	var o object
	switch kind {
	case kindIntent:
		o = new(intent)
	case kindCharge:
		o = new(charge)
	case kindMethod:
		o = new(method)
	case kindToken:
		o = new(ctoken)
	case kindCustomer:
		o = new(customer)
	case kindRefund:
		o = new(refund)
	case kindDispute:
		o = new(dispute)
	case kindSetup:
		o = new(setup)
	case kindTxn:
		o = new(balanceTxn)
	case kindEndpoint:
		o = new(hook)
	default:
		return nil, fmt.Errorf("unknown kind of object %q", kind)
	}
	if err := json.Unmarshal(data, o); err != nil {
		return nil, fmt.Errorf("decoding %s: %w", kind, err)
	}
	return o, nil
}
