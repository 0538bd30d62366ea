package stripesim

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
)

// journal is the append-only file that survives the death of the process. An
// answer is given only after the record it rests on was handed to the kernel.
//
// Group commit: callers append to a shared buffer; whoever reaches the file first
// writes what everybody appended, and the others find their record written.
type journal struct {
	file *os.File // nil: state lives in memory only
	sync bool     // fsync after each group: survives power loss too

	mu      sync.Mutex
	buf     []byte
	spare   []byte
	next    uint64 // number of records appended
	failure error

	writing sync.Mutex
	written atomic.Uint64
}

// openJournal opens or creates the file, hands every whole record to replay, and
// cuts a torn last line, which is a record nobody was ever told about.
func openJournal(path string, fsync bool, replay func(line []byte) error) (*journal, error) {
	if path == "" {
		return &journal{}, nil
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening journal %s: %w", path, err)
	}
	if err := lockFile(f); err != nil {
		f.Close()
		return nil, fmt.Errorf("journal %s is in use by another process; stop it or choose another file: %w", path, err)
	}
	if !stillNamed(f, path) {
		f.Close()
		return nil, fmt.Errorf("journal %s was replaced while it was opened; start again", path)
	}
	whole, err := replayLines(f, replay)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("reading journal %s: %w", path, err)
	}
	if err = f.Truncate(whole); err == nil {
		_, err = f.Seek(whole, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("cutting the torn end of journal %s: %w", path, err)
	}
	return &journal{file: f, sync: fsync}, nil
}

// stillNamed tells whether path still names f: another process may have compacted
// the journal between the opening and the locking of the old one.
func stillNamed(f *os.File, path string) bool {
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(path)
	return err == nil && os.SameFile(mine, named)
}

// replayLines hands on every line that ends and returns their length in bytes.
func replayLines(f io.Reader, replay func([]byte) error) (whole int64, err error) {
	r := bufio.NewReaderSize(f, 1<<20)
	for n := 1; ; n++ {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return whole, nil
		}
		if err == nil {
			err = replay(line)
		}
		if err != nil {
			return whole, fmt.Errorf("line %d is damaged; restore the file or start with an empty one: %w", n, err)
		}
		whole += int64(len(line))
	}
}

// append queues one record and returns its number for wait.
func (j *journal) append(line []byte) uint64 {
	if j.file == nil {
		return 0
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.buf = append(append(j.buf, line...), '\n')
	j.next++
	return j.next
}

// wait returns once record n is in the file, writing it if nobody else has.
func (j *journal) wait(n uint64) error {
	if j.written.Load() >= n {
		return nil
	}
	j.writing.Lock()
	defer j.writing.Unlock()
	if j.written.Load() >= n {
		return nil
	}
	j.mu.Lock()
	batch, upTo := j.buf, j.next
	j.buf = j.spare[:0]
	failed := j.failure
	j.mu.Unlock()
	if failed != nil {
		return failed
	}
	_, err := j.file.Write(batch)
	if err == nil && j.sync {
		err = j.file.Sync()
	}
	j.mu.Lock()
	j.spare = batch[:0]
	if err != nil {
		j.failure = fmt.Errorf("writing journal: %w", err)
	}
	err = j.failure
	j.mu.Unlock()
	if err != nil {
		return err
	}
	j.written.Store(upTo)
	return nil
}

// flush writes everything appended so far.
func (j *journal) flush() error {
	j.mu.Lock()
	n := j.next
	j.mu.Unlock()
	return j.wait(n)
}

func (j *journal) close() error {
	if j.file == nil {
		return nil
	}
	err := j.flush()
	unlockFile(j.file)
	if cerr := j.file.Close(); err == nil {
		err = cerr
	}
	return err
}
