package localpg

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const tempPrefix = "shop-pg-"

// maxSocketDir keeps a socket's path within the 104 bytes that the shortest
// sockaddr_un (macOS) has room for.
const maxSocketDir = 103 - len("/.s.PGSQL.65535")

// runtimeDirs are the short-lived files of one run.
type runtimeDirs struct {
	log    string // file
	socket string // directory with unix socket and pid file
	temp   string // made for this run and removed with it; may be empty
}

// makeRuntime prepares them. A directory that the account cannot use, or whose
// path is too long for a socket, still gets the log, which this process opens.
// One that holds other things already does not change hands.
func makeRuntime(dir string, acct account) (runtimeDirs, error) {
	var r runtimeDirs
	usable := false
	if dir != "" {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return r, fmt.Errorf("localpg: making runtime directory: %w", err)
		}
		r.log, r.socket = filepath.Join(dir, "postgresql.log"), dir
		if acct.drop && isEmpty(dir) {
			_ = acct.own(dir) // whether it helped shows in the next line
		}
		usable = len(dir) <= maxSocketDir && acct.canUse(dir) == nil
	}
	if usable {
		return r, nil
	}
	temp, err := makeTemp(acct)
	if err != nil {
		return r, fmt.Errorf("localpg: making runtime directory: %w", err)
	}
	r.temp, r.socket = temp, temp
	if r.log == "" {
		r.log = filepath.Join(temp, "postgresql.log")
	}
	return r, nil
}

// makeTemp makes a short-named directory for the account.
func makeTemp(acct account) (string, error) {
	var problems []error
	for _, base := range []string{os.TempDir(), "/tmp"} {
		if len(base)+len(tempPrefix)+12 > maxSocketDir {
			continue // macOS has long ones
		}
		temp, err := os.MkdirTemp(base, tempPrefix)
		if err == nil {
			if err = errors.Join(acct.own(temp), acct.canUse(temp)); err == nil {
				return temp, nil
			}
			_ = os.RemoveAll(temp)
		}
		problems = append(problems, err)
	}
	return "", errors.Join(problems...)
}

func isEmpty(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err == nil && len(entries) == 0
}

// openLog opens the server log for appending; one that has grown past 8 MB is
// put aside first.
func (r runtimeDirs) openLog() (*os.File, error) {
	if info, err := os.Stat(r.log); err == nil && info.Size() > 8<<20 {
		_ = os.Rename(r.log, r.log+".1")
	}
	file, err := os.OpenFile(r.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("localpg: opening server log: %w", err)
	}
	return file, nil
}

// removeOwnTemp removes a runtime directory that an earlier run made for
// itself and had no time to remove.
func removeOwnTemp(dir string) {
	if strings.HasPrefix(filepath.Base(dir), tempPrefix) && filepath.IsAbs(dir) {
		_ = os.RemoveAll(dir)
	}
}

// removeTree removes a directory into which ending server processes may still
// be writing.
func removeTree(dir string) error {
	var err error
	for range 100 {
		if err = os.RemoveAll(dir); err == nil || errors.Is(err, fs.ErrPermission) {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
	return err
}
