package stripesim

import "net/http"

// ledgerAccount is the money that really moved in one account.
type ledgerAccount struct {
	Account string                  `json:"account"` // the key after sk_test_
	ID      string                  `json:"id"`
	Totals  map[string]*ledgerTotal `json:"totals"` // by currency
	Charges []ledgerCharge          `json:"charges"`
	Refunds []ledgerRefund          `json:"refunds"`
}

// ledgerTotal sums minor units of one currency.
type ledgerTotal struct {
	Charges  int   `json:"charges"`
	Captured int64 `json:"captured"`
	Refunded int64 `json:"refunded"`
	Net      int64 `json:"net"`
}

type ledgerCharge struct {
	Charge        string            `json:"charge"`
	PaymentIntent string            `json:"payment_intent"`
	Amount        int64             `json:"amount"` // captured
	Refunded      int64             `json:"refunded"`
	Currency      string            `json:"currency"`
	Metadata      map[string]string `json:"metadata"`
	Created       int64             `json:"created"`
}

type ledgerRefund struct {
	Refund        string            `json:"refund"`
	Charge        string            `json:"charge"`
	PaymentIntent string            `json:"payment_intent"`
	Amount        int64             `json:"amount"`
	Currency      string            `json:"currency"`
	Metadata      map[string]string `json:"metadata"`
	Created       int64             `json:"created"`
}

// ledger lists captured charges and refunds in order of creation.
func (a *account) ledger() ledgerAccount {
	a.mu.Lock()
	defer a.mu.Unlock()
	l := ledgerAccount{Account: a.name, ID: a.acct, Totals: map[string]*ledgerTotal{}, Charges: []ledgerCharge{}, Refunds: []ledgerRefund{}}
	total := func(currency string) *ledgerTotal {
		if l.Totals[currency] == nil {
			l.Totals[currency] = &ledgerTotal{}
		}
		return l.Totals[currency]
	}
	for _, ch := range a.charges.rows {
		if !ch.Paid || !ch.Captured {
			continue
		}
		t := total(ch.Currency)
		t.Charges++
		t.Captured += ch.AmountCaptured
		t.Net += ch.AmountCaptured
		l.Charges = append(l.Charges, ledgerCharge{ch.ID, ch.PaymentIntent, ch.AmountCaptured, ch.AmountRefunded, ch.Currency, ch.Metadata, ch.Created})
	}
	for _, f := range a.refunds.rows {
		t := total(f.Currency)
		t.Refunded += f.Amount
		t.Net -= f.Amount
		l.Refunds = append(l.Refunds, ledgerRefund{f.ID, f.Charge, deref(f.PaymentIntent), f.Amount, f.Currency, f.Metadata, f.Created})
	}
	return l
}

// serveLedger answers GET /_sim/ledger, for one account with ?account=.
func (s *Server) serveLedger(w http.ResponseWriter, r *http.Request) {
	out := []ledgerAccount{}
	for _, a := range s.allAccounts() {
		if same(r.URL.Query().Get("account"), a.name) {
			out = append(out, a.ledger())
		}
	}
	s.answerJournaled(w, func() { writeJSON(w, map[string]any{"accounts": out}) })
}
