package stripesim

import "sort"

// balanceDelay is how long card money is pending before it is available.
const balanceDelay = 2 * 24 * 60 * 60

// BalanceTransaction is one movement of the account's money. Fees are zero here,
// so that sums stay easy to check.
type BalanceTransaction struct {
	ID                string     `json:"id"`
	Object            string     `json:"object"`
	Amount            int64      `json:"amount"`
	AvailableOn       int64      `json:"available_on"`
	Created           int64      `json:"created"`
	Currency          string     `json:"currency"`
	Description       *string    `json:"description"`
	ExchangeRate      *int64     `json:"exchange_rate"`
	Fee               int64      `json:"fee"`
	FeeDetails        []struct{} `json:"fee_details"`
	Net               int64      `json:"net"`
	ReportingCategory string     `json:"reporting_category"`
	Source            string     `json:"source"`
	Status            string     `json:"status"`
	Type              string     `json:"type"`
}

type balanceTxn struct{ BalanceTransaction }

func (b *balanceTxn) id() string   { return b.ID }
func (b *balanceTxn) born() int64  { return b.Created }
func (b *balanceTxn) kind() string { return kindTxn }
func (b *balanceTxn) wire() any    { return &b.BalanceTransaction }

// book records a movement of money and returns the id of its transaction.
func (c *call) book(amount int64, currency, kind, source string, instant bool) *string {
	t := &balanceTxn{BalanceTransaction{ID: c.srv.ids.id("txn_3", 23), Object: "balance_transaction", Amount: amount,
		AvailableOn: c.now, Created: c.now, Currency: currency, FeeDetails: []struct{}{}, Net: amount,
		ReportingCategory: kind, Source: source, Status: "available", Type: kind}}
	if !instant {
		t.AvailableOn, t.Status = c.now+balanceDelay, "pending"
	}
	c.put(t)
	return &t.ID
}

// bookCharge records the captured money of a charge that is about to be stored.
func (c *call) bookCharge(ch *charge, instant bool) {
	ch.BalanceTransaction = c.book(ch.AmountCaptured, ch.Currency, "charge", ch.ID, instant)
}

// Balance sums the account's transactions by currency.
type Balance struct {
	Object    string        `json:"object"`
	Available []balanceFund `json:"available"`
	Livemode  bool          `json:"livemode"`
	Pending   []balanceFund `json:"pending"`
}

type balanceFund struct {
	Amount      int64       `json:"amount"`
	Currency    string      `json:"currency"`
	SourceTypes sourceTypes `json:"source_types"`
}

type sourceTypes struct {
	Card int64 `json:"card"`
}

func (c *call) retrieveBalance() (any, *apiError) {
	available, pending := map[string]int64{}, map[string]int64{}
	for _, t := range c.acct.txns.rows {
		available[t.Currency] += 0 // every currency seen is listed on both sides
		pending[t.Currency] += 0
		if t.AvailableOn <= c.now {
			available[t.Currency] += t.Net
		} else {
			pending[t.Currency] += t.Net
		}
	}
	return &Balance{Object: "balance", Available: funds(available), Pending: funds(pending)}, nil
}

func funds(sums map[string]int64) []balanceFund {
	if len(sums) == 0 {
		sums = map[string]int64{"usd": 0}
	}
	out := []balanceFund{}
	for currency, n := range sums {
		out = append(out, balanceFund{Amount: n, Currency: currency, SourceTypes: sourceTypes{Card: n}})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Currency < out[j].Currency })
	return out
}

func (c *call) retrieveTxn() (any, *apiError) {
	t := c.acct.txns.get(c.id)
	if t == nil {
		return nil, noSuch("balance_transaction", c.id)
	}
	shown := t.BalanceTransaction
	if shown.AvailableOn <= c.now {
		shown.Status = "available"
	}
	return &shown, nil
}
