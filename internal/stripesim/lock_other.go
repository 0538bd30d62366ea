//go:build !unix

package stripesim

import "os"

// lockFile does nothing where advisory locks are not at hand.
func lockFile(*os.File) error { return nil }

func unlockFile(*os.File) {}
