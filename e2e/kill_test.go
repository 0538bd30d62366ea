package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// traffic is programs that order through the API, each order under a key of
// its own, and that ask again under the same key until they are answered 201.
type traffic struct {
	where    atomic.Pointer[ready] // of the demo as it runs now
	answered atomic.Int64
	repeats  atomic.Int64 // requests that had to be sent again

	mu     sync.Mutex
	orders map[string]apiOrder // by key, as answered
	wrong  []string

	done chan struct{}
}

// takenOver counts operations that a second holder had to finish.
const takenOver = `SELECT count(*) FROM operations WHERE fence > 1`

// startTraffic begins to place n orders, a few at a time.
func startTraffic(ctx context.Context, d *demo, name string, n int) *traffic {
	tr := &traffic{orders: map[string]apiOrder{}, done: make(chan struct{})}
	tr.where.Store(&d.ready)
	skus := []string{"enamel-mug", "leather-notebook", "steel-scissors", "moka-pot"}
	keys := make(chan int)
	var programs sync.WaitGroup
	for range 4 {
		programs.Go(func() {
			for i := range keys {
				tr.place(ctx, fmt.Sprintf("%s-%d", name, i), orderBody(fmt.Sprintf("%s.%d@example.com", name, i), skus[i%len(skus)], 1+i%5, "pm_card_visa"))
			}
		})
	}
	go func() {
		for i := range n {
			keys <- i
		}
		close(keys)
		programs.Wait()
		close(tr.done)
	}()
	return tr
}

func (tr *traffic) place(ctx context.Context, key, body string) {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		status, _, raw := call(ctx, *tr.where.Load(), http.MethodPost, "/orders", key, body)
		var placed apiOrder
		switch {
		case status == http.StatusCreated && json.Unmarshal(raw, &placed) == nil:
			tr.mu.Lock()
			tr.orders[key] = placed
			tr.mu.Unlock()
			tr.answered.Add(1)
			return
		case status == 0, status == http.StatusConflict, status >= 500:
			tr.repeats.Add(1) // it may have been placed: the same key finds out
		default:
			tr.mu.Lock()
			tr.wrong = append(tr.wrong, fmt.Sprintf("%s: %d %s", key, status, raw))
			tr.mu.Unlock()
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// finish waits until every order has been answered, and checks in the shop, in
// Stripe's books and in the inbox that each exists, is paid once and has one
// letter. A letter that was sent again must be the same letter.
func (tr *traffic) finish(t *testing.T, d *demo, n int) {
	t.Helper()
	select {
	case <-tr.done:
	case <-time.After(patience):
		require.Fail(t, "the programs are not done", "%d of %d orders are answered", tr.answered.Load(), n)
	}
	require.Empty(t, tr.wrong)
	require.Len(t, tr.orders, n)
	eventually(t, func() bool {
		return d.count(`SELECT count(*) FROM orders o JOIN receipts r ON r.order_id = o.id WHERE o.state = 'paid'`) >= n
	}, "%d orders to be paid and their receipts sent", n)
	d.drained(t)

	require.Equal(t, n, d.count(`SELECT count(*) FROM orders`), "orders")
	require.Equal(t, n, d.count(`SELECT count(*) FROM payments`), "payments")
	ledger := d.ledger(t)
	require.Len(t, ledger, n, "orders with money in Stripe's books")
	letters := 0
	for key, placed := range tr.orders {
		found := d.orders(t, "public_id = $1", placed.ID)
		require.Len(t, found, 1, "%s was answered with %s", key, placed.ID)
		require.Equal(t, placed.Total, found[0].Total)
		d.paidOnce(t, found[0], 0)
		mails := d.mails(t, found[0].Email)
		require.NotEmpty(t, mails, "mail to %s", found[0].Email)
		for _, m := range mails {
			require.Equal(t, mails[0].MessageID, m.MessageID, "two letters to %s", found[0].Email)
		}
		letters += len(mails)
	}
	t.Logf("%d orders, %d requests sent again, %d letters, %d operations taken over", n, tr.repeats.Load(), letters,
		d.count(takenOver))
}

func TestKill_TheWholeDemoInTheMiddleOfTraffic(t *testing.T) {
	t.Parallel()
	const n = 45
	d := startDemo(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	tr := startTraffic(ctx, d, "kill", n)

	// A quick end, then nothing for as long as it takes until all is quiet.
	eventually(t, func() bool { return tr.answered.Load() >= n/3 }, "a third of the orders")
	first := d.family()
	require.GreaterOrEqual(t, len(first), 6, "the demo, its four parts and PostgreSQL: %v", first)
	require.NoError(t, d.kill())
	eventually(t, func() bool { return len(remaining(first)) == 0 }, "all processes of the killed demo to end")
	require.NoError(t, d.start())
	tr.where.Store(&d.ready)

	// And once more, with the next one on its heels.
	eventually(t, func() bool { return tr.answered.Load() >= 2*n/3 }, "two thirds of the orders")
	second := d.family()
	require.NoError(t, d.kill())
	require.NoError(t, d.start())
	tr.where.Store(&d.ready)

	tr.finish(t, d, n)
	eventually(t, func() bool { return len(remaining(second)) == 0 }, "all processes of the second demo to end")
}

func TestKill_TheWorkerAndTheWebServer(t *testing.T) {
	t.Parallel()
	const n = 30
	d := startDemo(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()

	// Charges that wait at Stripe with the money moved already: whoever holds
	// them when it is killed leaves them in the middle.
	for _, amount := range []int64{1800, 3200 * 2} {
		d.misbehave(t, "slow_after", confirmEndpoint, amount, 3000, 1)
	}
	tr := startTraffic(ctx, d, "child", n)
	for i, part := range []string{"worker", "web", "worker"} {
		eventually(t, func() bool { return tr.answered.Load() >= int64((i+1)*n/5) }, "more orders")
		if part == "worker" {
			eventually(t, func() bool {
				return d.count(`SELECT count(*) FROM operations WHERE state = 'running'`) > 0 || i > 0
			}, "a charge under way")
		}
		var old process
		eventually(t, func() (found bool) { old, found = d.child(part); return found }, "a running %s", part)
		require.NoError(t, syscall.Kill(old.pid, syscall.SIGKILL))
		eventually(t, func() bool {
			now, found := d.child(part)
			return found && now.pid != old.pid
		}, "the demo to start its %s again", part)
	}
	tr.finish(t, d, n)
	require.Positive(t, d.count(takenOver), "nothing was taken over, so this proves nothing")
	require.Contains(t, d.printed(), "worker stopped (signal: killed); starting it again")
	require.Contains(t, d.printed(), "web stopped (signal: killed); starting it again")
}

// All of it at once, parts included, as when the machine loses power.
func TestKill_EverythingAtOnce(t *testing.T) {
	t.Parallel()
	const n = 20
	d := startDemo(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	tr := startTraffic(ctx, d, "power", n)
	eventually(t, func() bool { return tr.answered.Load() >= n/2 }, "half of the orders")
	family := d.family()
	for _, p := range family {
		if p.pid != os.Getpid() {
			_ = syscall.Kill(p.pid, syscall.SIGKILL) // one that has just ended is no loss
		}
	}
	require.NoError(t, d.kill())
	eventually(t, func() bool { return len(remaining(family)) == 0 }, "all processes to end")
	require.NoError(t, d.start())
	tr.where.Store(&d.ready)
	tr.finish(t, d, n)
}
