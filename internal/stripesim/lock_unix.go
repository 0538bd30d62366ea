//go:build unix

package stripesim

import (
	"os"
	"syscall"
)

// lockFile keeps a second process away from a journal; the lock ends with the
// process, however it ends.
func lockFile(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}

// unlockFile ends the lock by name: closing alone would leave it with a process that
// is just being started and has not yet closed what it inherited.
func unlockFile(f *os.File) { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }
