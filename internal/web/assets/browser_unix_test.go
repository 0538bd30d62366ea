//go:build unix

package assets_test

import (
	"os"
	"syscall"
)

// lockBrowser waits until no other package of this machine runs its browser.
func lockBrowser(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX) }
