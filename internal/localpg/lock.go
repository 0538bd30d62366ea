package localpg

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

// lock is an flock on a file: the kernel drops it when the owner dies, so a
// crashed owner never blocks the next one.
type lock struct{ file *os.File }

func takeLock(path string) (*lock, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening its lock file: %w", err)
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		owner, _ := io.ReadAll(io.LimitReader(file, 64))
		file.Close()
		return nil, &InUseError{Owner: strings.TrimSpace(string(owner))}
	}
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
	// Who holds it is for the message of the next one who asks, no more.
	if err := file.Truncate(0); err == nil {
		_, _ = file.WriteAt([]byte(fmt.Sprintf("%d\n", os.Getpid())), 0)
	}
	return &lock{file: file}, nil
}

// release unlocks before it closes: a child that another goroutine is just
// forking holds the file too, until it executes its program.
func (l *lock) release() {
	_ = syscall.Flock(int(l.file.Fd()), syscall.LOCK_UN)
	_ = l.file.Close()
}

// InUseError says that a living process owns the data directory.
type InUseError struct{ Owner string } // its process id, empty if unknown

func (e *InUseError) Error() string {
	who := "another process"
	if e.Owner != "" {
		who = "process " + e.Owner
	}
	return "it is in use by " + who + ": stop that one first, or give another directory"
}
