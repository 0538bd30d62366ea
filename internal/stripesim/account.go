package stripesim

import "sync"

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
	shelves   map[string]shelf // the tables above, by the kind of object in them
	events    table[*event]
	idem      map[string]*idemRecord
	claims    int                      // keys claimed, for pruning
	held      map[string]chan struct{} // objects locked by a slow execution
	last      uint64                   // journal number of the newest record
	reads     rateWindow
	writes    rateWindow
}

func newAccount(name string) *account {
	a := &account{name: name, acct: accountID(name), idem: map[string]*idemRecord{}, held: map[string]chan struct{}{}}
	a.shelves = map[string]shelf{
		kindIntent: &a.intents, kindCharge: &a.charges, kindMethod: &a.methods, kindToken: &a.ctokens,
		kindCustomer: &a.customers, kindRefund: &a.refunds, kindDispute: &a.disputes, kindSetup: &a.setups,
		kindTxn: &a.txns, kindEndpoint: &a.endpoints,
	}
	return a
}

// store puts a version into the table of its kind. The caller holds mu.
func (a *account) store(o object) { a.shelves[o.kind()].keep(o) }

// find returns the newest version of an object, or nil.
func (a *account) find(kind, id string) object {
	if s := a.shelves[kind]; s != nil {
		return s.find(id)
	}
	return nil
}

// lookup finds an object of any kind, or an event, by its id. The caller holds mu.
func (a *account) lookup(id string) object {
	for _, s := range a.shelves {
		if o := s.find(id); o != nil {
			return o
		}
	}
	return a.events.find(id)
}
