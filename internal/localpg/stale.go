package localpg

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Shutdown modes of a postmaster, by signal (pg_ctl stop -m fast, immediate).
const (
	fastShutdown      = syscall.SIGINT
	immediateShutdown = syscall.SIGQUIT
)

// pidFile is what a server writes down about itself in its data directory.
// https://www.postgresql.org/docs/current/storage-file-layout.html
type pidFile struct {
	pid       int
	socketDir string
}

func readPidFile(cluster string) (pidFile, error) {
	text, err := os.ReadFile(filepath.Join(cluster, "postmaster.pid"))
	if err != nil {
		return pidFile{}, err
	}
	lines := append(strings.Split(string(text), "\n"), make([]string, 5)...)
	pid, err := strconv.Atoi(strings.TrimSpace(lines[0]))
	if err != nil || pid <= 1 {
		return pidFile{}, fmt.Errorf("postmaster.pid begins with %q, expected a process id", lines[0])
	}
	return pidFile{pid: pid, socketDir: strings.TrimSpace(lines[4])}, nil
}

// stopStale stops a server that a killed owner left running on cluster. The
// caller holds the lock, so a server found here belongs to nobody.
func stopStale(cluster string, log *slog.Logger) error {
	file, err := readPidFile(cluster)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && isPostmaster(file.pid, cluster) {
		log.Info("stopping a server that its owner left running", "pid", file.pid)
		if err := stopProcess(file.pid, cluster); err != nil {
			return err
		}
	} else {
		// Cut short by a crash, or the number now belongs to somebody else, and
		// then the server would refuse to start. What could still be attached
		// to the data is guarded by its shared memory, not by this file.
		stale := filepath.Join(cluster, "postmaster.pid")
		if err := os.Remove(stale); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("removing stale %s: %w", stale, err)
		}
	}
	removeOwnTemp(file.socketDir)
	return nil
}

// stopProcess ends a server that is no child of ours: fast, then immediate,
// then by force. Committed data survives all three.
func stopProcess(pid int, cluster string) error {
	for _, step := range []struct {
		signal syscall.Signal
		wait   time.Duration
	}{{fastShutdown, 10 * time.Second}, {immediateShutdown, 5 * time.Second}, {syscall.SIGKILL, 5 * time.Second}} {
		if err := syscall.Kill(pid, step.signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("stopping the server that still runs there (pid %d): %w", pid, err)
		}
		for end := time.Now().Add(step.wait); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
			if !isPostmaster(pid, cluster) {
				return nil
			}
		}
	}
	return fmt.Errorf("the server that still runs there (pid %d) does not stop", pid)
}
