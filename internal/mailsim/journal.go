package mailsim

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
)

// journal is a file of records, only ever appended to. A record is one line of
// JSON, the message as received, and a line break, so that it can be read with
// any pager:
//
//	{"id":7,"time":"…","from":"shop@example.com","to":["a@example.com"],"size":1234}
//	<1234 bytes>
//
// or, after all messages were deleted, the single line {"next":8}.
type journal struct {
	file *os.File
	end  int64
}

// next is the record that a cleared journal begins with.
type next struct {
	Next int64 `json:"next"`
}

func openJournal(path string, log *slog.Logger, b *box) (*journal, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("mailsim: making directory of journal: %w", err)
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("mailsim: opening journal: %w", err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		file.Close()
		return nil, fmt.Errorf("mailsim: journal %s is in use by another process (%w): stop that one or give another file", path, err)
	}
	j := &journal{file: file}
	if err := j.replay(b); err != nil {
		_ = j.close()
		return nil, fmt.Errorf("mailsim: reading journal %s: %w", path, err)
	}
	// What is left is the beginning of a record whose sender got no answer.
	if info, err := file.Stat(); err == nil && info.Size() > j.end {
		log.Warn("dropped a record that was cut short", "journal", path, "bytes", info.Size()-j.end)
		if err := file.Truncate(j.end); err != nil {
			_ = j.close()
			return nil, fmt.Errorf("mailsim: cutting journal %s to its last whole record: %w", path, err)
		}
	}
	return j, nil
}

// replay reads the whole records into b and leaves end behind the last.
func (j *journal) replay(b *box) error {
	r := bufio.NewReaderSize(j.file, 1<<20)
	for {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil // nothing, or a line cut short
		}
		if err != nil {
			return err
		}
		var record struct {
			envelope
			next
		}
		if err := json.Unmarshal(line, &record); err != nil {
			return fmt.Errorf("record at byte %d is damaged: %w; move the file away to start with an empty inbox", j.end, err)
		}
		if record.Next > 0 {
			b.forget(record.Next)
			j.end += int64(len(line))
			continue
		}
		if record.ID < b.nextID || record.Size < 0 || record.Size > MaxMessageBytes {
			return fmt.Errorf("record at byte %d is damaged: id %d of %d bytes cannot be; move the file away to start with an empty inbox",
				j.end, record.ID, record.Size)
		}
		raw := make([]byte, record.Size+1)
		if _, err := io.ReadFull(r, raw); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		} else if err != nil {
			return err
		}
		if raw[record.Size] != '\n' {
			return fmt.Errorf("record at byte %d is damaged: its end is not where its size says; move the file away to start with an empty inbox", j.end)
		}
		b.recall(record.envelope, j.end+int64(len(line)), raw[:record.Size])
		j.end += int64(len(line)) + record.Size + 1
	}
}

// append writes one record and returns where the message in it begins. The
// write reaches the kernel, so a killed process loses nothing; it is not
// synced, since a power cut is not what this server is asked to survive.
func (j *journal) append(env envelope, raw []byte) (int64, error) {
	line, err := json.Marshal(env)
	if err != nil {
		return 0, err
	}
	record := make([]byte, 0, len(line)+len(raw)+2)
	record = append(append(append(append(record, line...), '\n'), raw...), '\n')
	if _, err := j.file.WriteAt(record, j.end); err != nil {
		_ = j.file.Truncate(j.end) // half a record must not precede the next
		return 0, err
	}
	offset := j.end + int64(len(line)) + 1
	j.end += int64(len(record))
	return offset, nil
}

func (j *journal) read(offset, size int64) ([]byte, error) {
	raw := make([]byte, size)
	if _, err := j.file.ReadAt(raw, offset); err != nil {
		return nil, fmt.Errorf("reading message from journal: %w", err)
	}
	return raw, nil
}

// clear empties the file but for the next id.
func (j *journal) clear(nextID int64) error {
	line, err := json.Marshal(next{Next: nextID})
	if err != nil {
		return err
	}
	if err := j.file.Truncate(0); err != nil {
		return err
	}
	n, err := j.file.WriteAt(append(line, '\n'), 0)
	j.end = int64(n)
	return err
}

func (j *journal) close() error {
	_ = syscall.Flock(int(j.file.Fd()), syscall.LOCK_UN) // a child being forked may hold the file a little longer
	return j.file.Close()
}
