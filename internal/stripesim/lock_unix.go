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
