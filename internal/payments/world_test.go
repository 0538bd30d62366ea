package payments_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"shop/internal/database/dbtest"
	"shop/internal/operations"
	"shop/internal/orders"
	"shop/internal/payments"
	"shop/internal/stripesim"
)

// world is one shop before a simulator of its own: real PostgreSQL, real HTTP.
type world struct {
	t       *testing.T
	pool    *pgxpool.Pool
	ops     *operations.Store
	orders  *orders.Store
	gateway *payments.Gateway
	pay     *payments.Service
	stripe  string
	log     *bytes.Buffer
}

const secretKey = "sk_test_world"

func newWorld(t *testing.T) *world {
	pool := dbtest.New(t)
	sim, err := stripesim.New(stripesim.Config{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	require.NoError(t, err)
	server := httptest.NewServer(sim.Handler())
	t.Cleanup(func() { server.Close(); require.NoError(t, sim.Close()) })
	w := &world{t: t, pool: pool, orders: orders.NewStore(pool), stripe: server.URL, log: &bytes.Buffer{},
		ops:     operations.NewStore(pool, operations.Options{Owner: "worker/1", TTL: time.Minute}),
		gateway: payments.NewGateway(payments.GatewayConfig{SecretKey: secretKey, BaseURL: server.URL, Timeout: time.Second})}
	w.pay = payments.NewService(w.ops, w.orders, w.gateway, payments.Policy{}, slog.New(slog.NewTextHandler(w.log, nil)))
	require.NoError(t, w.orders.Seed(context.Background(), "usd"))
	return w
}

// place orders two mugs and plans the charge, as the relay does.
func (w *world) place(paymentMethod string) (orders.Order, operations.Key) {
	w.t.Helper()
	ctx := context.Background()
	payment, err := json.Marshal(payments.Method{PaymentMethod: paymentMethod, ShopURL: "http://shop.example"})
	require.NoError(w.t, err)
	var order orders.Order
	require.NoError(w.t, pgx.BeginFunc(ctx, w.pool, func(tx pgx.Tx) (err error) {
		order, err = w.orders.PlaceRequest(ctx, tx, orders.Request{Buyer: orders.Buyer{Email: "ada@example.com", Name: "Ada"},
			Lines: []orders.RequestLine{{SKU: "enamel-mug", Quantity: 2}}, Payment: payment})
		return err
	}))
	return order, w.planFrom("order.placed", payments.ChargeIntent)
}

// planFrom plans what the newest message of a topic asks for.
func (w *world) planFrom(topic string, intent func([]byte) (operations.Intent, error)) operations.Key {
	w.t.Helper()
	ctx := context.Background()
	var payload []byte
	require.NoError(w.t, w.pool.QueryRow(ctx, `SELECT payload FROM outbox_messages WHERE topic = $1 ORDER BY id DESC LIMIT 1`, topic).Scan(&payload))
	in, err := intent(payload)
	require.NoError(w.t, err)
	require.NoError(w.t, pgx.BeginFunc(ctx, w.pool, func(tx pgx.Tx) error { return w.ops.Plan(ctx, tx, operations.SourceRelay, in) }))
	return in.Key
}

func (w *world) charge(key operations.Key) {
	w.t.Helper()
	require.NoError(w.t, w.pay.Charge(context.Background(), key, operations.ClaimOptions{Source: operations.SourceQueue}))
}

// chargeUntilDone lets time pass for a charge that waits, as often as it takes.
func (w *world) chargeUntilDone(key operations.Key) operations.Operation {
	w.t.Helper()
	for range 10 {
		w.charge(key)
		if op := w.op(key); op.State == operations.Done || op.State == operations.Stuck {
			return op
		}
		_, err := w.pool.Exec(context.Background(), `UPDATE operations SET retry_at = clock_timestamp() WHERE op_key = $1 AND state = 'waiting'`, key)
		require.NoError(w.t, err)
	}
	w.t.Fatalf("the charge came to no end: %+v", w.op(key))
	return operations.Operation{}
}

func (w *world) op(key operations.Key) operations.Operation {
	w.t.Helper()
	op, err := w.ops.Get(context.Background(), key)
	require.NoError(w.t, err)
	return op
}

func (w *world) order(id string) orders.Order {
	w.t.Helper()
	o, err := w.orders.Order(context.Background(), id)
	require.NoError(w.t, err)
	return o
}

// fault arms a fault of the simulator for the next request to one endpoint.
func (w *world) fault(kind, endpoint string, count int) {
	w.t.Helper()
	w.post("/_sim/faults", map[string]any{"kind": kind, "count": count, "delay_ms": 3000, "match": map[string]string{"endpoint": endpoint}})
}

func (w *world) post(path string, what any) {
	w.t.Helper()
	body, err := json.Marshal(what)
	require.NoError(w.t, err)
	resp, err := http.Post(w.stripe+path, "application/json", bytes.NewReader(body))
	require.NoError(w.t, err)
	answer, err := io.ReadAll(resp.Body)
	require.NoError(w.t, err)
	require.NoError(w.t, resp.Body.Close())
	require.Less(w.t, resp.StatusCode, 300, string(answer))
}

// moved is the money that the simulator says has moved.
func (w *world) moved() (charges []ledgerCharge) {
	w.t.Helper()
	var ledger struct {
		Accounts []struct {
			Charges []ledgerCharge `json:"charges"`
		} `json:"accounts"`
	}
	w.get("/_sim/ledger", &ledger)
	for _, a := range ledger.Accounts {
		charges = append(charges, a.Charges...)
	}
	return charges
}

type ledgerCharge struct {
	PaymentIntent string `json:"payment_intent"`
	Amount        int64  `json:"amount"`
	Currency      string `json:"currency"`
}

type request struct {
	Method   string `json:"method"`
	Endpoint string `json:"endpoint"`
	Key      string `json:"idempotency_key"`
	Status   int    `json:"status"`
	Executed bool   `json:"executed"`
	Replayed bool   `json:"replayed"`
}

func (w *world) requests() []request {
	w.t.Helper()
	var body struct {
		Requests []request `json:"requests"`
	}
	w.get("/_sim/requests?limit=1000", &body)
	require.NotEmpty(w.t, body.Requests)
	return body.Requests
}

func (w *world) get(path string, into any) {
	w.t.Helper()
	resp, err := http.Get(w.stripe + path)
	require.NoError(w.t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(w.t, err)
	require.NoError(w.t, json.Unmarshal(raw, into), string(raw))
}

// requirePaidOnce checks from outside: the provider's ledger, the payment row,
// the order, the operation, and the keys that the provider saw.
func (w *world) requirePaidOnce(order orders.Order, key operations.Key) {
	w.t.Helper()
	charges := w.moved()
	require.Len(w.t, charges, 1, "money moved once")
	require.Equal(w.t, order.Total.Amount, charges[0].Amount)
	require.Equal(w.t, order.Total.Currency, charges[0].Currency)
	op := w.op(key)
	require.True(w.t, op.Succeeded(), "%+v", op)
	require.False(w.t, op.OutcomeUnknown)
	require.Equal(w.t, charges[0].PaymentIntent, *op.ProviderRef)
	require.Equal(w.t, orders.Paid, w.order(order.PublicID).State)
	var rows int
	var ref string
	require.NoError(w.t, w.pool.QueryRow(context.Background(), `SELECT count(*), min(provider_ref) FROM payments`).Scan(&rows, &ref))
	require.Equal(w.t, 1, rows)
	require.Equal(w.t, charges[0].PaymentIntent, ref)
	var paidMessages int
	require.NoError(w.t, w.pool.QueryRow(context.Background(), `SELECT count(*) FROM outbox_messages WHERE topic = 'order.paid'`).Scan(&paidMessages))
	require.Equal(w.t, 1, paidMessages)
	for _, r := range w.requests() {
		if r.Method == http.MethodPost {
			require.Contains(w.t, []string{key.Call("create").String(), key.Call("confirm").String()}, r.Key,
				"the provider saw a key that no operation derives")
		}
	}
}
