package storefront

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"shop/internal/operations"
	"shop/internal/orders"
)

// Feed tells the open order pages of this process that something has changed.
// However many pages are open, it asks the database one question at a time,
// and none when no page is open.
type Feed struct {
	ops   *operations.Store
	every time.Duration
	log   *slog.Logger

	mu       sync.Mutex
	watchers map[string]map[chan struct{}]bool // by order id
	seen     map[string]operations.SubjectProgress
	opened   chan struct{}
}

// NewFeed returns a feed that looks every 150 ms while somebody watches.
func NewFeed(ops *operations.Store, log *slog.Logger) *Feed {
	return &Feed{ops: ops, every: 150 * time.Millisecond, log: log, watchers: map[string]map[chan struct{}]bool{},
		seen: map[string]operations.SubjectProgress{}, opened: make(chan struct{}, 1)}
}

// Watch returns a channel that gets a value after each change of the order's
// operations, and a function that ends the watch.
func (f *Feed) Watch(orderID string) (<-chan struct{}, func()) {
	changed := make(chan struct{}, 1)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.watchers[orderID] == nil {
		f.watchers[orderID] = map[chan struct{}]bool{}
	}
	f.watchers[orderID][changed] = true
	select {
	case f.opened <- struct{}{}:
	default:
	}
	return changed, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.watchers[orderID], changed)
		if len(f.watchers[orderID]) == 0 {
			delete(f.watchers, orderID)
			delete(f.seen, orderID)
		}
	}
}

// Run looks for changes until ctx ends.
func (f *Feed) Run(ctx context.Context) {
	tick := time.NewTicker(f.every)
	defer tick.Stop()
	for {
		if len(f.watched()) == 0 {
			select {
			case <-ctx.Done():
				return
			case <-f.opened:
			}
		}
		if err := f.RunOnce(ctx); err != nil && ctx.Err() == nil {
			f.log.WarnContext(ctx, "looking for changes of orders", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (f *Feed) watched() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	ids := make([]string, 0, len(f.watchers))
	for id := range f.watchers {
		ids = append(ids, id)
	}
	return ids
}

// RunOnce looks once and wakes the pages of the orders that have changed.
func (f *Feed) RunOnce(ctx context.Context) error {
	ids := f.watched()
	if len(ids) == 0 {
		return nil
	}
	changes, err := f.ops.SubjectChanges(ctx, orders.SubjectType, ids)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range changes {
		if f.seen[c.SubjectID] == c || f.watchers[c.SubjectID] == nil {
			continue
		}
		f.seen[c.SubjectID] = c
		for w := range f.watchers[c.SubjectID] {
			select {
			case w <- struct{}{}:
			default:
			}
		}
	}
	return nil
}
