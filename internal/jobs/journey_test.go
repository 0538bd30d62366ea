package jobs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"

	"shop/internal/access"
	"shop/internal/database/dbtest"
	"shop/internal/jobs"
	"shop/internal/mailsim"
	"shop/internal/operations"
	"shop/internal/orders"
	"shop/internal/outbox"
	"shop/internal/payments"
	"shop/internal/receipts"
	"shop/internal/stripesim"
)

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// shop is the whole chain from order to receipt in one process: real
// PostgreSQL, River, HTTP and SMTP.
type shop struct {
	t             *testing.T
	pool          *pgxpool.Pool
	orders        *orders.Store
	ops           *operations.Store
	relay         *outbox.Relay
	sweeper       *jobs.Sweeper
	dispatcher    *jobs.Dispatcher
	client        *river.Client[pgx.Tx]
	stripe, inbox string
}

func newShop(t *testing.T) *shop {
	t.Helper()
	ctx := context.Background()
	s := &shop{t: t, pool: dbtest.New(t)}
	s.orders = orders.NewStore(s.pool)
	require.NoError(t, s.orders.Seed(ctx, "usd"))
	s.ops = operations.NewStore(s.pool, operations.Options{Owner: "worker/1", TTL: 15 * time.Second})

	sim, err := stripesim.New(stripesim.Config{Logger: quiet})
	require.NoError(t, err)
	stripe := httptest.NewServer(sim.Handler())
	t.Cleanup(func() { stripe.Close(); require.NoError(t, sim.Close()) })
	s.stripe = stripe.URL

	box, err := mailsim.New(mailsim.Config{Logger: quiet})
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() { _ = box.ServeSMTP(listener) }()
	inbox := httptest.NewServer(box.Handler())
	t.Cleanup(func() { inbox.Close(); require.NoError(t, box.Close()) })
	s.inbox = inbox.URL

	inserter, err := jobs.NewInserter(s.pool, quiet)
	require.NoError(t, err)
	s.dispatcher = jobs.NewDispatcher(s.ops, inserter)
	s.relay = outbox.NewRelay(s.pool, s.dispatcher.Dispatch, 0, quiet)
	s.sweeper = jobs.NewSweeper(s.ops, s.dispatcher, quiet)

	mailer, err := receipts.NewSMTP("smtp://"+listener.Addr().String(), "Once <orders@once.example>")
	require.NoError(t, err)
	gateway := payments.NewGateway(payments.GatewayConfig{SecretKey: "sk_test_journey", BaseURL: s.stripe, Timeout: 5 * time.Second})
	s.client, err = jobs.NewWorker(s.pool, jobs.Config{Workers: 8, Timeout: time.Minute, Rescue: 5 * time.Minute, Wake: s.relay.Wake},
		jobs.Services{Payments: payments.NewService(s.ops, s.orders, gateway, payments.Policy{}, quiet),
			Refunds: payments.NewRefunds(s.pool, s.ops, gateway, payments.Policy{}, quiet), Events: payments.NewEvents(s.pool, s.ops, quiet),
			Reconciler: payments.NewReconciler(s.pool, s.ops, gateway, quiet),
			Receipts:   receipts.NewService(s.ops, s.orders, mailer, receipts.Config{ShopURL: "http://shop.example", From: "Once <orders@once.example>"}, quiet),
			Tidier:     jobs.NewTidier(s.pool, s.orders, s.ops, access.NewStore(s.pool), quiet)}, quiet)
	require.NoError(t, err)
	return s
}

// run starts worker, relay and sweeper until the test ends.
func (s *shop) run() {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	require.NoError(s.t, s.client.Start(ctx))
	var wg sync.WaitGroup
	wg.Go(func() { s.relay.Run(ctx) })
	wg.Go(func() { s.sweeper.Run(ctx) })
	s.t.Cleanup(func() {
		stopCtx, stop := context.WithTimeout(context.Background(), 20*time.Second)
		defer stop()
		require.NoError(s.t, s.client.Stop(stopCtx))
		cancel()
		wg.Wait()
	})
}

func (s *shop) place(email, method string) orders.Order {
	s.t.Helper()
	ctx := context.Background()
	payment, err := json.Marshal(payments.Method{PaymentMethod: method})
	require.NoError(s.t, err)
	var order orders.Order
	require.NoError(s.t, pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) (err error) {
		order, err = s.orders.PlaceRequest(ctx, tx, orders.Request{Buyer: orders.Buyer{Email: email, Name: "Ada"},
			Lines: []orders.RequestLine{{SKU: "enamel-mug", Quantity: 2}}, Payment: payment})
		return err
	}))
	s.relay.Wake()
	return order
}

// settled waits until nothing is left to do.
func (s *shop) settled() {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		var open int
		err := s.pool.QueryRow(context.Background(), `SELECT (SELECT count(*) FROM outbox_messages WHERE dispatched_at IS NULL)
			+ (SELECT count(*) FROM operations WHERE state IN ('pending', 'running', 'waiting'))
			+ (SELECT count(*) FROM river_job WHERE state NOT IN ('completed', 'discarded', 'cancelled'))`).Scan(&open)
		return err == nil && open == 0
	}, 60*time.Second, 20*time.Millisecond)
}

func (s *shop) count(sql string, args ...any) (n int) {
	s.t.Helper()
	require.NoError(s.t, s.pool.QueryRow(context.Background(), sql, args...).Scan(&n))
	return n
}

func (s *shop) getJSON(url string, into any) {
	s.t.Helper()
	resp, err := http.Get(url)
	require.NoError(s.t, err)
	defer resp.Body.Close()
	require.NoError(s.t, json.NewDecoder(resp.Body).Decode(into))
}

func (s *shop) postJSON(url string, what any) {
	s.t.Helper()
	body, err := json.Marshal(what)
	require.NoError(s.t, err)
	resp, err := http.Post(url, "application/json", bytes.NewReader(body))
	require.NoError(s.t, err)
	require.NoError(s.t, resp.Body.Close())
	require.Less(s.t, resp.StatusCode, 300)
}

// mails returns the Message-IDs that reached an address.
func (s *shop) mails(to string) (ids []string) {
	s.t.Helper()
	var body struct {
		Messages []struct {
			MessageID string `json:"message_id"`
		} `json:"messages"`
	}
	s.getJSON(s.inbox+"/api/messages?to="+to, &body)
	for _, m := range body.Messages {
		ids = append(ids, m.MessageID)
	}
	return ids
}

func (s *shop) charges() (n int) {
	s.t.Helper()
	var body struct {
		Accounts []struct {
			Charges []struct{} `json:"charges"`
		} `json:"accounts"`
	}
	s.getJSON(s.stripe+"/_sim/ledger", &body)
	for _, a := range body.Accounts {
		n += len(a.Charges)
	}
	return n
}

func TestOrdersBecomeChargesAndReceiptsOnce(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.run()
	const n = 30
	for i := range n {
		s.place(fmt.Sprintf("ada%d@example.com", i), "pm_card_visa")
	}
	s.settled()
	require.Equal(t, n, s.count(`SELECT count(*) FROM orders WHERE state = 'paid'`))
	require.Equal(t, n, s.count(`SELECT count(*) FROM payments`))
	require.Equal(t, n, s.count(`SELECT count(*) FROM receipts`))
	require.Equal(t, n, s.charges())
	for i := range n {
		ids := s.mails(fmt.Sprintf("ada%d@example.com", i))
		require.Len(t, ids, 1)
		require.Equal(t, 1, s.count(`SELECT count(*) FROM operations WHERE kind = 'receipt-email' AND $1 = op_key || '@once.example'`, ids[0]),
			"the Message-ID is derived from the operation")
	}
}

// docs/peers.md rows 79 and 94: jobs that are delivered again, rescued or retried
// from outside have no second effect.
func TestRow94_RunningEveryJobAgainHasNoEffect(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.run()
	for range 5 {
		s.place("ada@example.com", "pm_card_visa")
	}
	s.settled()
	ctx := context.Background()
	rows, err := s.pool.Query(ctx, `SELECT id FROM river_job WHERE state = 'completed' AND kind <> 'tidy_up'`)
	require.NoError(t, err)
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	require.NoError(t, err)
	require.Len(t, ids, 10)
	for _, id := range ids {
		_, err := s.client.JobRetry(ctx, id)
		require.NoError(t, err)
	}
	s.settled()
	require.Equal(t, 10, s.count(`SELECT sum(replays) FROM operations`))
	require.Equal(t, 5, s.charges())
	require.Len(t, s.mails("ada@example.com"), 5)
	require.Equal(t, 5, s.count(`SELECT count(*) FROM payments`))
}

// docs/peers.md row 70: a message that is dispatched twice leads to the same
// operation, so nothing happens twice.
func TestRow70_DispatchingEveryMessageAgainHasNoEffect(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.run()
	s.place("ada@example.com", "pm_card_visa")
	s.settled()
	_, err := s.pool.Exec(context.Background(), `UPDATE outbox_messages SET dispatched_at = NULL`)
	require.NoError(t, err)
	s.relay.Wake()
	s.settled()
	require.Equal(t, 1, s.charges())
	require.Len(t, s.mails("ada@example.com"), 1)
	require.Equal(t, 2, s.count(`SELECT sum(replays) FROM operations`))
}

// A worker took the lease and died, its job is "running" in River for ever: the
// sweeper sends the operation round again and another worker finishes it.
func TestTheSweeperRecoversWhatADeadWorkerHeld(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	ctx := context.Background()
	s.place("ada@example.com", "pm_card_visa")
	_, err := s.relay.RunOnce(ctx)
	require.NoError(t, err)
	ops, err := s.ops.List(ctx, operations.Filter{Limit: 10})
	require.NoError(t, err)
	require.Len(t, ops, 1)
	dead := operations.NewStore(s.pool, operations.Options{Owner: "worker/dead", TTL: time.Minute})
	lease, _, err := dead.Claim(ctx, ops[0].Intent(), operations.ClaimOptions{Outside: true})
	require.NoError(t, err)
	_, err = s.pool.Exec(ctx, `UPDATE river_job SET state = 'running', attempt = 1, attempted_at = now(), attempted_by = '{dead}'`)
	require.NoError(t, err)
	_, err = s.pool.Exec(ctx, `UPDATE operations SET lease_until = clock_timestamp() - interval '1 minute'`)
	require.NoError(t, err)
	n, err := s.sweeper.RunOnce(ctx)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	s.run()
	require.Eventually(t, func() bool { return s.count(`SELECT count(*) FROM receipts`) == 1 }, 60*time.Second, 20*time.Millisecond)
	require.Equal(t, 1, s.charges())
	require.ErrorIs(t, dead.Heartbeat(ctx, lease), operations.ErrLeaseLost)
}

// docs/peers.md row 98: the server took the mail and the answer was lost. At most
// one more goes out, under the same Message-ID.
func TestRow98_AMailWhoseAnswerIsLostKeepsItsMessageID(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.postJSON(s.inbox+"/api/faults", map[string]any{"kind": "accept_then_drop", "count": 1})
	s.run()
	s.place("ada@example.com", "pm_card_visa")
	s.settled()
	ids := s.mails("ada@example.com")
	require.LessOrEqual(t, len(ids), 2)
	for _, id := range ids {
		require.Equal(t, ids[0], id)
	}
	require.Equal(t, 1, s.count(`SELECT count(*) FROM receipts`))
	require.Equal(t, 1, s.count(`SELECT count(*) FROM operation_events WHERE type = 'waiting' AND (detail->>'unknown')::boolean`),
		"the timeline says that it was not known")
}

// docs/peers.md rows 100, 101 and 103: an address that is refused for good is given
// up at once, one that is refused for now is tried again, and neither holds up
// the others.
func TestRow101_APoisonAddressBlocksNobody(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.postJSON(s.inbox+"/api/faults", map[string]any{"kind": "reject_rcpt", "count": 1000, "match": "gone@"})
	s.postJSON(s.inbox+"/api/faults", map[string]any{"kind": "tempfail", "count": 1, "match": "later@"})
	s.run()
	for _, to := range []string{"gone@example.com", "later@example.com", "ada@example.com"} {
		s.place(to, "pm_card_visa")
	}
	s.settled()
	require.Len(t, s.mails("ada@example.com"), 1)
	require.Len(t, s.mails("later@example.com"), 1)
	require.Empty(t, s.mails("gone@example.com"))
	require.Equal(t, 1, s.count(`SELECT count(*) FROM operations WHERE kind = 'receipt-email' AND outcome = 'failed'`))
	require.Equal(t, 1, s.count(`SELECT max(claims) FROM operations WHERE outcome = 'failed'`))
	require.Equal(t, 3, s.count(`SELECT count(*) FROM orders WHERE state = 'paid'`), "a receipt that cannot be delivered unpays nothing")
}

func TestAnUnknownTopicStaysPendingAndIsSeen(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	ctx := context.Background()
	require.NoError(t, pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error { return outbox.Append(ctx, tx, "order.teleported", "order", "1", nil) }))
	_, err := s.relay.RunOnce(ctx)
	require.NoError(t, err)
	require.Equal(t, 1, s.count(`SELECT count(*) FROM outbox_messages WHERE dispatched_at IS NULL AND last_error LIKE '%order.teleported%'`))
}

// docs/peers.md row 92: a worker that is told to stop finishes what it has begun.
func TestRow92_StoppingFinishesWhatHasBegun(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.postJSON(s.stripe+"/_sim/faults", map[string]any{"kind": "slow", "delay_ms": 700, "count": 1, "match": map[string]string{"endpoint": "POST /v1/payment_intents"}})
	ctx := context.Background()
	require.NoError(t, s.client.Start(ctx))
	s.place("ada@example.com", "pm_card_visa")
	_, err := s.relay.RunOnce(ctx)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return s.count(`SELECT count(*) FROM operations WHERE state = 'running'`) == 1 }, 20*time.Second, 5*time.Millisecond)
	stopCtx, stop := context.WithTimeout(ctx, 20*time.Second)
	defer stop()
	require.NoError(t, s.client.Stop(stopCtx))
	require.Equal(t, 1, s.count(`SELECT count(*) FROM orders WHERE state = 'paid'`))
	require.Equal(t, 1, s.count(`SELECT count(*) FROM operations WHERE kind = 'charge' AND claims = 1 AND outcome = 'succeeded'`))
}
