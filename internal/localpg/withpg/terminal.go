package main

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// fromTerminal tells whether a signal most likely came from a key such as
// Ctrl-C. Then the command, in the same foreground group, has it already, and
// a second one would tell it to hurry.
func fromTerminal(sig os.Signal) bool {
	if sig != syscall.SIGINT && sig != syscall.SIGQUIT {
		return false
	}
	tty, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	defer tty.Close()
	foreground, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && foreground == unix.Getpgrp()
}
