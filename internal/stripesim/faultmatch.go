package stripesim

import "strconv"

// FaultMatch narrows a rule; empty fields match everything.
type FaultMatch struct {
	Endpoint string `json:"endpoint,omitempty"` // e.g. POST /v1/payment_intents/{id}/confirm; POST alone is any POST
	Key      string `json:"key,omitempty"`      // idempotency key
	Amount   int64  `json:"amount,omitempty"`   // parameter amount, or that of the intent concerned
	Customer string `json:"customer,omitempty"` // parameter customer, or that of the intent concerned
	Object   string `json:"object,omitempty"`   // id in the path
}

func (m *FaultMatch) covers(x *exchange) bool {
	if m.Endpoint != "" && m.Endpoint != x.ep.method && m.Endpoint != x.ep.method+" "+x.ep.path ||
		!same(m.Key, x.key) || !same(m.Object, x.id) {
		return false
	}
	if m.Amount == 0 && m.Customer == "" {
		return true
	}
	amount, customer := x.subject()
	return (m.Amount == 0 || m.Amount == amount) && same(m.Customer, customer)
}

// subject returns the amount and customer a request is about: its parameters, or
// those of the intent it names.
func (x *exchange) subject() (amount int64, customer string) {
	amount, _ = strconv.ParseInt(x.reader.str("amount"), 10, 64) // not a number: matches no rule
	customer = x.reader.str("customer")
	cred, err := authenticate(x.r, x.reader.p)
	a := x.srv.existingAccount(cred.account)
	if err != nil || a == nil {
		return amount, customer
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, id := range []string{x.id, x.reader.str("payment_intent")} {
		if pi := a.intents.get(id); pi != nil {
			if amount == 0 {
				amount = pi.Amount
			}
			customer = deref(pi.Customer)
		}
	}
	return amount, customer
}
