package stripesim

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// compact replaces a journal that has grown large by one that holds only what can
// still be asked for: the newest versions, the events of the last thirty days with
// the versions they show, the keys that are remembered, the newest requests and the
// deliveries still owed. It runs once, while the server starts.
//
// The new file is complete and on disk before it takes the old one's name, and a
// name is changed in one step: a crash at any point leaves one whole journal.
func (s *Server) compact() error {
	j := s.journal
	if j.file == nil || s.replayed < s.cfg.CompactAt || s.replayed < 2*s.settled {
		return nil
	}
	path := s.cfg.Journal + ".compact"
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("opening %s: %w", path, err)
	}
	if err := s.writeCompact(f, path); err != nil {
		f.Close()
		return fmt.Errorf("writing %s: %w", path, err)
	}
	old := j.file
	j.file = f
	_ = old.Close() // its name is gone; there is nothing to lose in it
	s.logger.Info("journal compacted", "journal", s.cfg.Journal, "from_bytes", s.replayed, "to_bytes", s.settled)
	return nil
}

// writeCompact fills the new file, makes it durable and gives it the journal's name.
func (s *Server) writeCompact(f *os.File, path string) error {
	if err := lockFile(f); err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	size := int64(0)
	put := func(r outRecord) {
		n, _ := w.Write(append(r.line(), '\n')) // an error stays with w and is told by Flush
		size += int64(n)
	}
	offset := s.clock.offset.Load()
	put(outRecord{Clock: &offset})
	for _, e := range s.log.newest(s.cfg.KeepRequests, func(*requestEntry) bool { return true }) {
		put(outRecord{Request: &e})
	}
	for _, a := range s.allAccounts() {
		s.putAccount(a, put)
	}
	put(outRecord{Settled: true})
	err := w.Flush()
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = os.Rename(path, s.cfg.Journal)
	}
	if err != nil {
		return err
	}
	s.settled = size
	if dir, err := os.Open(filepath.Dir(path)); err == nil {
		_ = dir.Sync() // where directories cannot be synced, the old name may come back: whole too
		dir.Close()
	}
	return nil
}

// putAccount hands on the records from which replay makes the account again.
func (s *Server) putAccount(a *account, put func(outRecord)) {
	now := s.clock.unix()
	for _, kind := range kinds {
		for _, o := range a.shelves[kind].all() {
			put(outRecord{Account: a.name, Objects: []outObject{{kind, o}}})
		}
	}
	for _, e := range a.events.rows {
		waiting := func(id string) bool { return s.hooks.pending[[2]string{e.ID, id}] != nil }
		if e.Created < now-eventLife && !slices.ContainsFunc(e.To, waiting) {
			continue
		}
		s.putEvent(a, e, put)
		lost := int(e.pending.Load()) // neither accepted nor still owed: given up
		for _, id := range e.To {
			if waiting(id) {
				lost--
			}
		}
		for _, id := range e.To {
			if !waiting(id) {
				put(outRecord{Account: a.name, Delivery: &deliveryMark{Event: e.ID, Endpoint: id, OK: lost <= 0}})
				lost--
			}
		}
	}
	for _, r := range a.idem {
		if now-r.At < int64(keyLife.Seconds()) {
			put(outRecord{Account: a.name, Key: r, body: []byte(r.Body)})
		}
	}
}

// putEvent keeps an event with the version it shows, unless that is the newest.
func (s *Server) putEvent(a *account, e *event, put func(outRecord)) {
	kept := &event{ID: e.ID, Type: e.Type, Created: e.Created, Request: e.Request, To: e.To}
	if a.lookup(e.about.id()) == e.about {
		kept.Of = e.about.id()
		put(outRecord{Account: a.name, Events: []*event{kept}})
		return
	}
	put(outRecord{Account: a.name, Past: true, Objects: []outObject{{e.about.kind(), e.about}}, Events: []*event{kept}})
}
