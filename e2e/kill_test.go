package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// traffic is programs that order through the API, one after the other and each
// order under a key of its own, and that ask again under the same key until they
// are answered 201.
type traffic struct {
	where    atomic.Pointer[ready] // of the demo as it runs now
	answered atomic.Int64
	repeats  atomic.Int64 // requests that had to be sent again

	mu     sync.Mutex
	orders map[string]apiOrder // by key, as answered
	wrong  []string

	enough chan struct{} // closed when no further order shall begin
	done   chan struct{} // closed when all that began are answered
}

// pace is how often each program begins an order.
const pace = 150 * time.Millisecond

// startTraffic begins to place orders, until it is told that it is enough.
func startTraffic(ctx context.Context, d *demo, name string) *traffic {
	tr := &traffic{orders: map[string]apiOrder{}, enough: make(chan struct{}), done: make(chan struct{})}
	tr.where.Store(&d.ready)
	skus := []string{"enamel-mug", "leather-notebook", "steel-scissors", "moka-pot"}
	var next atomic.Int64
	var programs sync.WaitGroup
	for range 4 {
		programs.Go(func() {
			tick := time.NewTicker(pace)
			defer tick.Stop()
			for {
				select {
				case <-tr.enough:
					return
				case <-ctx.Done():
					return
				case <-tick.C:
				}
				i := int(next.Add(1))
				tr.place(ctx, fmt.Sprintf("%s-%d", name, i), orderBody(fmt.Sprintf("%s.%d@example.com", name, i), skus[i%len(skus)], 1+i%5, "pm_card_visa"))
			}
		})
	}
	go func() {
		programs.Wait()
		close(tr.done)
	}()
	return tr
}

// more waits until n more orders have been answered.
func (tr *traffic) more(t *testing.T, n int64) {
	t.Helper()
	before := tr.answered.Load()
	eventually(t, func() bool { return tr.answered.Load() >= before+n }, "%d more orders to be answered", n)
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

// held is an order whose money has moved at Stripe while the answer is still on
// its way: whoever kills the worker now leaves a charge that is done there and
// not known here.
func (d *demo) held(t *testing.T, key string, quantity int) order {
	t.Helper()
	const price = 7600
	d.misbehave(t, "slow_after", confirmEndpoint, int64(quantity)*price, 7000, 1)
	email := key + "@example.com"
	eventually(t, func() bool {
		status, _, _ := call(t.Context(), d.ready, http.MethodPost, "/orders", key, orderBody(email, "wall-clock", quantity, "pm_card_visa"))
		return status == http.StatusCreated
	}, "an order to be taken")
	o := d.onlyOrder(t, email)
	eventually(t, func() bool { return len(d.ledger(t)[o.ID]) == 1 }, "the money of order %d to move", o.ID)
	require.Equal(t, "running", d.operations(t, o, "charge")[0].State, "the charge is known already, so this proves nothing")
	return o
}

// finish ends the traffic, waits until every order has been answered, and checks in the shop, in
// Stripe's books and in the inbox that each exists, is paid once and has one
// letter. A letter that was sent again must be the same letter.
func (tr *traffic) finish(t *testing.T, d *demo, held ...order) {
	t.Helper()
	close(tr.enough)
	select {
	case <-tr.done:
	case <-time.After(patience):
		require.Fail(t, "the programs are not done", "%d orders are answered", tr.answered.Load())
	}
	require.Empty(t, tr.wrong)
	all := len(tr.orders) + len(held)
	eventually(t, func() bool {
		return d.count(`SELECT count(*) FROM orders o JOIN receipts r ON r.order_id = o.id WHERE o.state = 'paid'`) >= all
	}, "%d orders to be paid and their receipts sent", all)
	d.drained(t)

	require.Equal(t, all, d.count(`SELECT count(*) FROM orders`), "orders")
	require.Equal(t, all, d.count(`SELECT count(*) FROM payments`), "payments")
	require.Len(t, d.ledger(t), all, "orders with money in Stripe's books")
	placed := held
	for key, answer := range tr.orders {
		found := d.orders(t, "public_id = $1", answer.ID)
		require.Len(t, found, 1, "%s was answered with %s", key, answer.ID)
		require.Equal(t, answer.Total, found[0].Total)
		placed = append(placed, found[0])
	}
	letters := 0
	for _, o := range placed {
		d.paidOnce(t, o, 0)
		mails := d.mails(t, o.Email)
		require.NotEmpty(t, mails, "mail to %s", o.Email)
		for _, m := range mails {
			require.Equal(t, mails[0].MessageID, m.MessageID, "two letters to %s", o.Email)
		}
		letters += len(mails)
	}
	t.Logf("%d orders, %d requests sent again, %d letters, %d operations finished by a second holder", all, tr.repeats.Load(), letters,
		d.count(`SELECT count(*) FROM operations WHERE fence > 1`))
}

// takenOver checks that the worker which died had these charges, and that another
// finished them.
func (d *demo) takenOver(t *testing.T, held ...order) {
	t.Helper()
	for _, o := range held {
		require.Greater(t, d.operations(t, o, "charge")[0].Fence, int64(1), "the charge of order %d was left in the middle", o.ID)
	}
}

func TestKill_TheWholeDemoInTheMiddleOfTraffic(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	tr := startTraffic(ctx, d, "kill")

	// The first time the next run begins when all of the last one is gone.
	tr.more(t, 10)
	one := d.held(t, "kill-held-1", 1)
	first := d.family()
	require.GreaterOrEqual(t, len(first), 6, "the demo, its four parts and PostgreSQL: %v", first)
	require.NoError(t, d.kill())
	eventually(t, func() bool { return len(remaining(first)) == 0 }, "all processes of the killed demo to end")
	require.NoError(t, d.start())
	tr.where.Store(&d.ready)

	// The second time the next one is on its heels.
	tr.more(t, 10)
	two := d.held(t, "kill-held-2", 2)
	second := d.family()
	require.NoError(t, d.kill())
	require.NoError(t, d.start())
	tr.where.Store(&d.ready)

	tr.more(t, 10)
	require.Positive(t, tr.repeats.Load(), "no request was lost, so this proves nothing")
	tr.finish(t, d, one, two)
	d.takenOver(t, one, two)
	eventually(t, func() bool { return len(remaining(second)) == 0 }, "all processes of the second demo to end")
}

func TestKill_TheWorkerAndTheWebServer(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	tr := startTraffic(ctx, d, "child")
	var held []order
	for i, part := range []string{"worker", "web", "worker", "web"} {
		tr.more(t, 8)
		if part == "worker" {
			held = append(held, d.held(t, fmt.Sprintf("child-held-%d", i), i+1))
		}
		var old process
		eventually(t, func() (found bool) { old, found = d.child(part); return found }, "a running %s", part)
		require.NoError(t, syscall.Kill(old.pid, syscall.SIGKILL))
		eventually(t, func() bool {
			now, found := d.child(part)
			return found && now.pid != old.pid
		}, "the demo to start its %s again", part)
	}
	tr.more(t, 8)
	tr.finish(t, d, held...)
	d.takenOver(t, held...)
	require.Contains(t, d.printed(), "worker stopped (signal: killed); starting it again")
	require.Contains(t, d.printed(), "web stopped (signal: killed); starting it again")
}

// All of it at once, parts included, as when the machine loses power.
func TestKill_EverythingAtOnce(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	tr := startTraffic(ctx, d, "power")
	tr.more(t, 10)
	one := d.held(t, "power-held", 1)
	family := d.family()
	for _, p := range family {
		_ = syscall.Kill(p.pid, syscall.SIGKILL) // one that has just ended is no loss
	}
	require.NoError(t, d.kill())
	eventually(t, func() bool { return len(remaining(family)) == 0 }, "all processes to end")
	require.NoError(t, d.start())
	tr.where.Store(&d.ready)
	tr.more(t, 10)
	tr.finish(t, d, one)
	d.takenOver(t, one)
}

// The database server dies: it is started again on its data, everything else
// waits for it, and nothing is lost.
func TestKill_ThePostmaster(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	tr := startTraffic(ctx, d, "postmaster")
	for range 2 {
		tr.more(t, 8)
		old, found := d.postmaster()
		require.True(t, found)
		require.NoError(t, syscall.Kill(old.pid, syscall.SIGKILL))
		eventually(t, func() bool {
			now, found := d.postmaster()
			return found && now.pid != old.pid
		}, "the demo to start PostgreSQL again")
	}
	tr.more(t, 8)
	tr.finish(t, d)
	require.Contains(t, d.printed(), "postgres stopped; starting it again")
}

// postmaster is the server process that the demo itself has started.
func (d *demo) postmaster() (process, bool) {
	for _, p := range processes() {
		if p.parent == d.cmd.Process.Pid && strings.Contains(p.command, "/postgres -D ") {
			return p, true
		}
	}
	return process{}, false
}
