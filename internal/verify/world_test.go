package verify_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"shop/internal/database/dbtest"
	"shop/internal/mailsim"
	"shop/internal/operations"
	"shop/internal/orders"
	"shop/internal/outbox"
	"shop/internal/payments"
	"shop/internal/receipts"
	"shop/internal/stripesim"
	"shop/internal/verify"
)

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

const account = "verify" // of the secret key sk_test_verify

// world is a shop on real PostgreSQL, HTTP and SMTP that moves only when told.
type world struct {
	t             *testing.T
	pool          *pgxpool.Pool
	orders        *orders.Store
	ops           *operations.Store
	relay         *outbox.Relay
	gateway       *payments.Gateway
	pay           *payments.Service
	refunds       *payments.Refunds
	send          *receipts.Service
	mailer        *receipts.SMTP
	stripe, inbox string // origins
	smtp          string // address
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, pool: dbtest.New(t)}
	w.orders = orders.NewStore(w.pool)
	require.NoError(t, w.orders.Seed(context.Background(), "usd"))
	w.ops = operations.NewStore(w.pool, operations.Options{Owner: "worker/1", TTL: time.Minute})
	w.relay = outbox.NewRelay(w.pool, w.dispatch, 0, quiet)

	sim, err := stripesim.New(stripesim.Config{Logger: quiet})
	require.NoError(t, err)
	stripe := httptest.NewServer(sim.Handler())
	t.Cleanup(func() { stripe.Close(); require.NoError(t, sim.Close()) })
	w.stripe = stripe.URL

	box, err := mailsim.New(mailsim.Config{Logger: quiet})
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() { _ = box.ServeSMTP(listener) }()
	inbox := httptest.NewServer(box.Handler())
	t.Cleanup(func() { inbox.Close(); require.NoError(t, box.Close()) })
	w.inbox, w.smtp = inbox.URL, listener.Addr().String()

	w.gateway = payments.NewGateway(payments.GatewayConfig{SecretKey: "sk_test_" + account, BaseURL: w.stripe, Timeout: 5 * time.Second})
	w.pay = payments.NewService(w.ops, w.orders, w.gateway, payments.Policy{}, quiet)
	w.refunds = payments.NewRefunds(w.pool, w.ops, w.gateway, payments.Policy{}, quiet)
	w.mailer, err = receipts.NewSMTP("smtp://"+w.smtp, "Once <orders@once.example>")
	require.NoError(t, err)
	w.send = receipts.NewService(w.ops, w.orders, w.mailer, receipts.Config{ShopURL: "http://shop.example", From: "Once <orders@once.example>"}, quiet)
	return w
}

// dispatch plans what messages ask for; drain does the work of the queue.
func (w *world) dispatch(ctx context.Context, tx pgx.Tx, messages []outbox.Message) error {
	for _, m := range messages {
		intent := map[outbox.Topic]func([]byte) (operations.Intent, error){orders.TopicPlaced: payments.ChargeIntent,
			payments.TopicRetry: payments.RetryIntent, payments.TopicRefundRequested: payments.RefundIntent, orders.TopicPaid: receipts.Intent}[m.Topic]
		if intent == nil {
			continue
		}
		in, err := intent(m.Payload)
		if err != nil {
			return err
		}
		if err := w.ops.Plan(ctx, tx, operations.SourceRelay, in); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) place(method string) orders.Order {
	w.t.Helper()
	ctx := context.Background()
	payment, err := json.Marshal(payments.Method{PaymentMethod: method, ShopURL: "http://shop.example"})
	require.NoError(w.t, err)
	var order orders.Order
	require.NoError(w.t, pgx.BeginFunc(ctx, w.pool, func(tx pgx.Tx) (err error) {
		order, err = w.orders.PlaceRequest(ctx, tx, orders.Request{Buyer: orders.Buyer{Email: "ada@example.com", Name: "Ada"},
			Lines: []orders.RequestLine{{SKU: "enamel-mug", Quantity: 2}}, Payment: payment})
		return err
	}))
	return order
}

func (w *world) pass() {
	w.t.Helper()
	_, err := w.relay.RunOnce(context.Background())
	require.NoError(w.t, err)
}

// drain relays and works until nothing is pending.
func (w *world) drain() {
	w.t.Helper()
	ctx := context.Background()
	for range 10 {
		w.pass()
		pending, err := w.ops.List(ctx, operations.Filter{State: operations.Pending, Limit: 1000})
		require.NoError(w.t, err)
		if len(pending) == 0 {
			return
		}
		for _, op := range pending {
			work := map[string]func(context.Context, operations.Key, operations.ClaimOptions) error{
				payments.ChargeKind: w.pay.Charge, payments.RefundKind: w.refunds.Refund, receipts.Kind: w.send.Send}[op.Kind]
			require.NoError(w.t, work(ctx, op.Key, operations.ClaimOptions{Source: operations.SourceQueue}))
		}
	}
	w.t.Fatal("there is always something pending")
}

// paid places an order and takes it to its receipt.
func (w *world) paid() orders.Order {
	w.t.Helper()
	order := w.place("pm_card_visa")
	w.drain()
	return order
}

// operation returns the newest operation of a kind that an order has.
func (w *world) operation(o orders.Order, kind string) (last operations.Operation) {
	w.t.Helper()
	all, err := w.ops.BySubject(context.Background(), orders.SubjectType, fmt.Sprint(o.ID))
	require.NoError(w.t, err)
	for _, op := range all {
		if op.Kind == kind {
			last = op
		}
	}
	require.NotEmpty(w.t, last.Key, "order %d has no %s", o.ID, kind)
	return last
}

// exec changes our side behind everybody's back.
func (w *world) exec(sql string, args ...any) {
	w.t.Helper()
	tag, err := w.pool.Exec(context.Background(), sql, args...)
	require.NoError(w.t, err)
	if !strings.HasPrefix(sql, "ALTER") && !strings.HasPrefix(sql, "CREATE") {
		require.Positive(w.t, tag.RowsAffected(), "the statement was meant to break something")
	}
}

// call speaks to the provider behind everybody's back.
func (w *world) call(path, key string, form url.Values) string {
	w.t.Helper()
	req, err := http.NewRequest(http.MethodPost, w.stripe+path, strings.NewReader(form.Encode()))
	require.NoError(w.t, err)
	req.SetBasicAuth("sk_test_"+account, "")
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(w.t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(w.t, err)
	require.Equal(w.t, http.StatusOK, resp.StatusCode, string(body))
	var object struct{ ID string }
	require.NoError(w.t, json.Unmarshal(body, &object))
	return object.ID
}

// intent makes a PaymentIntent that nobody in the shop knows of; with a card it is paid.
func (w *world) intent(operation operations.Key, card string) string {
	w.t.Helper()
	key := operation
	if key == "" {
		key = operations.Key(strings.Repeat("e", 64))
	}
	form := url.Values{"amount": {"3600"}, "currency": {"usd"}, "payment_method_types[]": {"card"}}
	if operation != "" {
		form.Set("metadata[operation]", string(operation))
	}
	id := w.call("/v1/payment_intents", key.Call("create").String(), form)
	if card != "" {
		w.call("/v1/payment_intents/"+id+"/confirm", key.Call("confirm").String(), url.Values{"payment_method": {card}})
	}
	return id
}

// subject reads from the inbox what a letter is about.
func (w *world) subject(messageID string) string {
	w.t.Helper()
	resp, err := http.Get(w.inbox + "/api/messages?message_id=" + url.QueryEscape(messageID))
	require.NoError(w.t, err)
	defer resp.Body.Close()
	var list struct{ Messages []struct{ Subject string } }
	require.NoError(w.t, json.NewDecoder(resp.Body).Decode(&list))
	require.Len(w.t, list.Messages, 1)
	return list.Messages[0].Subject
}

func (w *world) sources() verify.Sources {
	return verify.Sources{Pool: w.pool, Provider: w.gateway, Simulator: verify.Simulator{URL: w.stripe, Account: account}, InboxURL: w.inbox}
}

func (w *world) run(s verify.Sources) verify.Report {
	w.t.Helper()
	report, err := verify.Run(context.Background(), s)
	require.NoError(w.t, err)
	require.Len(w.t, report.Results, 8)
	return report
}

// result returns the answer of one invariant.
func result(t *testing.T, r verify.Report, id string) verify.Result {
	t.Helper()
	for _, one := range r.Results {
		if one.ID == id {
			return one
		}
	}
	t.Fatalf("the report has no %s", id)
	return verify.Result{}
}

// requireBroken checks that one invariant fails, by these subjects, and no other does.
func (w *world) requireBroken(s verify.Sources, id string, subjects ...string) verify.Result {
	w.t.Helper()
	report := w.run(s)
	for _, one := range report.Results {
		require.Equal(w.t, one.ID != id, one.OK, "%s: %+v", one.ID, one.Violations)
	}
	broken := result(w.t, report, id)
	var got []string
	for _, v := range broken.Violations {
		got = append(got, v.Subject)
		require.NotEmpty(w.t, v.Detail)
	}
	require.Equal(w.t, subjects, got, "%+v", broken.Violations)
	require.ErrorContains(w.t, report.Err(), id+" by "+subjects[0])
	return broken
}
