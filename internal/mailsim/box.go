package mailsim

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// errClosed is the answer to a message that arrives while the server closes.
var errClosed = errors.New("the inbox is closed")

// box holds the messages: summaries in memory, contents in the journal or, if
// there is none, in memory too.
type box struct {
	mu      sync.RWMutex
	journal *journal // nil keeps contents in memory
	entries []entry  // by id
	byID    map[string]int
	nextID  int64
	closed  bool
}

type entry struct {
	summary
	offset int64  // of the content in the journal
	raw    []byte // the content, if there is no journal
}

func openBox(path string, log *slog.Logger) (*box, error) {
	b := &box{byID: map[string]int{}, nextID: 1}
	if path == "" {
		return b, nil
	}
	journal, err := openJournal(path, log, b)
	if err != nil {
		return nil, err
	}
	b.journal = journal
	return b, nil
}

// recall takes up a record of the journal.
func (b *box) recall(env envelope, offset int64, raw []byte) {
	b.insert(entry{summary: summarise(env, raw), offset: offset})
	b.nextID = max(b.nextID, env.ID+1)
}

// forget takes up the note that everything before an id was deleted.
func (b *box) forget(nextID int64) {
	b.entries, b.byID = nil, map[string]int{}
	b.nextID = max(b.nextID, nextID)
}

func (b *box) insert(e entry) {
	b.entries = append(b.entries, e)
	if e.MessageID != "" {
		b.byID[e.MessageID]++
	}
}

// add keeps a message. When it returns nil the message is in the journal.
func (b *box) add(at time.Time, from string, to []string, raw []byte) (summary, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return summary{}, errClosed
	}
	env := envelope{ID: b.nextID, Time: at.UTC(), From: from, To: to, Size: int64(len(raw))}
	e := entry{summary: summarise(env, raw)}
	if b.journal == nil {
		e.raw = raw
	} else {
		offset, err := b.journal.append(env, raw)
		if err != nil {
			return summary{}, fmt.Errorf("keeping message: %w", err)
		}
		e.offset = offset
	}
	b.nextID++
	b.insert(e)
	return e.summary, nil
}

// clear deletes all messages. Their ids are not given again.
func (b *box) clear() (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return 0, errClosed
	}
	if b.journal != nil {
		if err := b.journal.clear(b.nextID); err != nil {
			return 0, fmt.Errorf("deleting messages: %w", err)
		}
	}
	n := len(b.entries)
	b.forget(b.nextID)
	return n, nil
}

// item is a message in a list, with how often its Message-ID was delivered.
type item struct {
	summary
	Deliveries int
}

// query selects messages; zero values do not restrict.
type query struct {
	to        string // recipient, exactly, whatever the case
	messageID string // without angle brackets
	text      string // part of an address
	before    int64  // only older ones than this id
	limit     int
}

func (q query) takes(m *summary) bool {
	return (q.to == "" || m.isTo(q.to)) && (q.messageID == "" || m.MessageID == q.messageID) && m.concerns(q.text)
}

// list returns the newest matching messages first, and how many match in all.
func (b *box) list(q query) (items []item, total int) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	for i := len(b.entries) - 1; i >= 0; i-- {
		e := &b.entries[i]
		if !q.takes(&e.summary) {
			continue
		}
		total++
		if (q.before == 0 || e.ID < q.before) && (q.limit == 0 || len(items) < q.limit) {
			items = append(items, item{summary: e.summary, Deliveries: max(1, b.byID[e.MessageID])})
		}
	}
	return items, total
}

// size is how many messages there are.
func (b *box) size() int {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return len(b.entries)
}

// get returns one message as it was received.
func (b *box) get(id int64) (item, []byte, bool, error) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	i, found := b.find(id)
	if !found {
		return item{}, nil, false, nil
	}
	e := &b.entries[i]
	it := item{summary: e.summary, Deliveries: max(1, b.byID[e.MessageID])}
	if b.journal == nil {
		return it, e.raw, true, nil
	}
	raw, err := b.journal.read(e.offset, e.Size)
	return it, raw, true, err
}

func (b *box) find(id int64) (int, bool) {
	low, high := 0, len(b.entries)
	for low < high {
		if mid := (low + high) / 2; b.entries[mid].ID < id {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low, low < len(b.entries) && b.entries[low].ID == id
}

func (b *box) close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed || b.journal == nil {
		b.closed = true
		return nil
	}
	b.closed = true
	return b.journal.close()
}
