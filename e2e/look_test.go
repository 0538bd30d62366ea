package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// These functions look at what the shop has done from outside: its rows, the
// books of the local Stripe, and the inbox.

// order is a row of orders.
type order struct {
	ID       int64
	PublicID string
	Email    string
	Name     string
	Total    int64
	Currency string
	State    string
}

func (d *demo) orders(t *testing.T, where string, args ...any) []order {
	t.Helper()
	rows, err := d.db.Query(context.Background(),
		`SELECT id, public_id, email, name, total, currency, state FROM orders WHERE `+where+` ORDER BY id`, args...)
	require.NoError(t, err)
	orders, err := pgx.CollectRows(rows, pgx.RowToStructByPos[order])
	require.NoError(t, err)
	return orders
}

// onlyOrder returns the one order of an e-mail address.
func (d *demo) onlyOrder(t *testing.T, email string) order {
	t.Helper()
	orders := d.orders(t, "email = $1", email)
	require.Len(t, orders, 1, "orders of %s", email)
	return orders[0]
}

// operation is a row of operations, without what no test asks for.
type operation struct {
	Key     string
	Kind    string
	State   string
	Outcome string
	Fence   int64
	Ref     string
}

// operations returns an order's operations of one kind, oldest first.
func (d *demo) operations(t *testing.T, o order, kind string) []operation {
	t.Helper()
	rows, err := d.db.Query(context.Background(), `SELECT op_key, kind, state, coalesce(outcome, ''), fence, coalesce(provider_ref, '')
		FROM operations WHERE subject_type = 'order' AND subject_id = $1 AND kind = $2 ORDER BY created_at`, strconv.FormatInt(o.ID, 10), kind)
	require.NoError(t, err)
	ops, err := pgx.CollectRows(rows, pgx.RowToStructByPos[operation])
	require.NoError(t, err)
	return ops
}

// count returns the number that a query counts; -1 while the database is away.
func (d *demo) count(query string, args ...any) int {
	n := -1
	if err := d.db.QueryRow(context.Background(), query, args...).Scan(&n); err != nil {
		return -1
	}
	return n
}

// counts returns the number of rows in each table that a request can lead to.
// What runs by the clock, and what Stripe sends whenever it likes, does not count.
func (d *demo) counts(t *testing.T) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for _, rows := range []string{"orders", "order_lines", "outbox_messages", "payments", "receipts", "operations WHERE kind <> 'stripe-event'",
		"river_job WHERE kind NOT IN ('tidy_up', 'reconcile', 'apply_event')"} {
		counts[rows] = d.count("SELECT count(*) FROM " + rows)
		require.NotEqual(t, -1, counts[rows], "counting %s", rows)
	}
	return counts
}

// drained waits until nothing is under way: no message pending, no operation open.
func (d *demo) drained(t *testing.T) {
	t.Helper()
	eventually(t, func() bool {
		return d.count(`SELECT (SELECT count(*) FROM outbox_messages WHERE dispatched_at IS NULL)
			+ (SELECT count(*) FROM operations WHERE state NOT IN ('done', 'stuck'))`) == 0
	}, "everything under way to end")
}

// ledgerCharge is money that moved, as the local Stripe booked it.
type ledgerCharge struct {
	Charge        string            `json:"charge"`
	PaymentIntent string            `json:"payment_intent"`
	Amount        int64             `json:"amount"`
	Currency      string            `json:"currency"`
	Metadata      map[string]string `json:"metadata"`
}

// ledger returns every charge that moved money, by the id of its order.
func (d *demo) ledger(t *testing.T) map[int64][]ledgerCharge {
	t.Helper()
	var book struct {
		Accounts []struct {
			Charges []ledgerCharge `json:"charges"`
		} `json:"accounts"`
	}
	getJSON(t, d.StripeURL+"/_sim/ledger", &book)
	charges := map[int64][]ledgerCharge{}
	for _, a := range book.Accounts {
		for _, c := range a.Charges {
			id, err := strconv.ParseInt(c.Metadata["order_id"], 10, 64)
			require.NoError(t, err, "a charge of no order: %+v", c)
			charges[id] = append(charges[id], c)
		}
	}
	return charges
}

// letter is a mail in the inbox.
type letter struct {
	ID        int64    `json:"id"`
	To        []string `json:"to"`
	Subject   string   `json:"subject"`
	MessageID string   `json:"message_id"`
	HeaderTo  string   `json:"header_to"`
	URL       string   `json:"url"`
	Text      string   `json:"text"` // only of a single letter
	HTML      string   `json:"html"` // only of a single letter
}

// mails returns the letters to an address, newest first.
func (d *demo) mails(t *testing.T, to string) []letter {
	t.Helper()
	var list struct {
		Messages []letter `json:"messages"`
	}
	getJSON(t, d.InboxURL+"/api/messages?to="+url.QueryEscape(to), &list)
	return list.Messages
}

// onlyMail returns the one letter to an address, whole.
func (d *demo) onlyMail(t *testing.T, to string) letter {
	t.Helper()
	mails := d.mails(t, to)
	require.Len(t, mails, 1, "mails to %s", to)
	var whole letter
	getJSON(t, fmt.Sprintf("%s/api/messages/%d", d.InboxURL, mails[0].ID), &whole)
	return whole
}

// paymentIntent is an object of Stripe, read with the demo's own key.
type paymentIntent struct {
	ID             string            `json:"id"`
	Amount         int64             `json:"amount"`
	AmountReceived int64             `json:"amount_received"`
	Currency       string            `json:"currency"`
	Status         string            `json:"status"`
	Metadata       map[string]string `json:"metadata"`
}

func (d *demo) paymentIntent(t *testing.T, id string) paymentIntent {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, d.StripeURL+"/v1/payment_intents/"+id, nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+d.keys(t)["stripe_secret_key"])
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, http.StatusOK, resp.StatusCode)
	var pi paymentIntent
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&pi))
	return pi
}

// misbehave makes the local Stripe misbehave for calls about one amount.
func (d *demo) misbehave(t *testing.T, kind, endpoint string, amount, delayMS int64, count int) {
	t.Helper()
	rule, err := json.Marshal(map[string]any{"kind": kind, "delay_ms": delayMS, "count": count,
		"match": map[string]any{"endpoint": endpoint, "amount": amount}})
	require.NoError(t, err)
	resp, err := http.Post(d.StripeURL+"/_sim/faults", "application/json", bytes.NewReader(rule))
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Less(t, resp.StatusCode, 300, "asking Stripe to misbehave")
}

const confirmEndpoint = "POST /v1/payment_intents/{id}/confirm"

func getJSON(t *testing.T, address string, into any) {
	t.Helper()
	resp, err := http.Get(address)
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, http.StatusOK, resp.StatusCode, address)
	require.NoError(t, json.NewDecoder(resp.Body).Decode(into), address)
}

// completed waits until an order is paid, its receipt is booked and nothing
// about it is under way any more.
func (d *demo) completed(t *testing.T, o order) {
	t.Helper()
	id := strconv.FormatInt(o.ID, 10)
	eventually(t, func() bool {
		return d.count(`SELECT count(*) FROM orders o JOIN receipts r ON r.order_id = o.id WHERE o.id = $1 AND o.state = 'paid'
			AND NOT EXISTS (SELECT FROM outbox_messages WHERE subject_type = 'order' AND subject_id = $2 AND dispatched_at IS NULL)
			AND NOT EXISTS (SELECT FROM operations WHERE subject_type = 'order' AND subject_id = $2 AND state <> 'done')`, o.ID, id) == 1
	}, "order %d to be paid, with its receipt sent", o.ID)
}

// paidOnce waits for an order's end and checks that its money moved once and
// that its receipt left once. declined is how many attempts came before.
func (d *demo) paidOnce(t *testing.T, o order, declined int) {
	t.Helper()
	d.completed(t, o)
	id := strconv.FormatInt(o.ID, 10)

	charges := d.operations(t, o, "charge")
	require.Len(t, charges, declined+1, "charge operations")
	for i, c := range charges {
		want := "succeeded"
		if i < declined {
			want = "declined"
		}
		require.Equal(t, "done", c.State)
		require.Equal(t, want, c.Outcome)
		require.GreaterOrEqual(t, c.Fence, int64(1))
	}
	receipts := d.operations(t, o, "receipt-email")
	require.Len(t, receipts, 1, "receipt operations")
	require.Equal(t, "succeeded", receipts[0].Outcome)
	require.Equal(t, 1, d.count(`SELECT count(*) FROM payments WHERE order_id = $1`, o.ID), "payments")
	require.Equal(t, 1, d.count(`SELECT count(*) FROM payments WHERE order_id = $1 AND amount = $2 AND currency = $3 AND op_key = $4`,
		o.ID, o.Total, o.Currency, charges[declined].Key), "payments of what is owed, by the last charge")
	require.Equal(t, 1, d.count(`SELECT count(*) FROM receipts WHERE order_id = $1`, o.ID), "receipts")
	require.Equal(t, 1, d.count(`SELECT count(*) FROM outbox_messages WHERE subject_type = 'order' AND subject_id = $1 AND topic = 'order.placed'`, id))
	require.Equal(t, 1, d.count(`SELECT count(*) FROM outbox_messages WHERE subject_type = 'order' AND subject_id = $1 AND topic = 'order.paid'`, id))
	// An event of the provider may come at any time, and for a moment its message is on its way.
	eventually(t, func() bool {
		return d.count(`SELECT count(*) FROM outbox_messages WHERE subject_type = 'order' AND subject_id = $1 AND dispatched_at IS NULL`, id) == 0
	}, "the messages about order %d to be on their way", o.ID)

	booked := d.ledger(t)[o.ID]
	require.Len(t, booked, 1, "charges in Stripe's books")
	require.Equal(t, o.Total, booked[0].Amount)
	require.Equal(t, o.Currency, booked[0].Currency)
	require.Equal(t, charges[declined].Ref, booked[0].PaymentIntent)
	for _, c := range charges[:declined] {
		if c.Ref != "" {
			require.Equal(t, "canceled", d.paymentIntent(t, c.Ref).Status, "the PaymentIntent of a declined attempt")
		}
	}
}
