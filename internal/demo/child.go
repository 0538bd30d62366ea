package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// child is a part of the demo that is started again whenever it dies.
type child struct {
	name, executable string
	args, env        []string
	health           string // address of its health check
	log              string // file that gets what it says
	needsDatabase    bool
	sockets          []*os.File // on which it listens; ours, and handed on at each start
	out              io.Writer

	stop chan struct{} // closed when it shall not be started again
	done chan struct{} // closed when it has ended for good
	once sync.Once
}

const (
	firstPause  = 50 * time.Millisecond // before the first restart
	longPause   = 5 * time.Second       // before every later one, at most
	steadyAfter = 10 * time.Second      // a child that ran so long starts afresh
)

// start runs the child until it is stopped.
func (c *child) start(ctx context.Context) {
	c.stop, c.done = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(c.done)
		pause := firstPause
		for {
			began := time.Now()
			err := c.runOnce()
			select {
			case <-c.stop:
				return
			case <-ctx.Done():
				// Everything is about to stop, this one was only quicker.
				return
			default:
			}
			if time.Since(began) > steadyAfter {
				pause = firstPause
			}
			fmt.Fprintf(c.out, "  %s stopped (%v); starting it again\n", c.name, err)
			select {
			case <-c.stop:
				return
			case <-ctx.Done():
				return
			case <-time.After(pause):
			}
			pause = min(2*pause, longPause)
		}
	}()
}

// runOnce runs the process to its end. Its standard input is a lifeline: when
// this process dies, however it dies, the child reads the end of it and stops.
// It is in a process group of its own, so that Ctrl-C reaches only us and the
// parts stop in order.
func (c *child) runOnce() error {
	log, err := os.OpenFile(c.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("opening its log: %w", err)
	}
	defer log.Close()
	cmd := exec.Command(c.executable, c.args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = c.env, log, log
	cmd.ExtraFiles = c.sockets
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	lifeline, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("opening its lifeline: %w", err)
	}
	defer lifeline.Close()
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		if err == nil {
			return errors.New("exit status 0")
		}
		return err
	case <-c.stop:
	}
	// It may not have reached the point of handling signals yet; the lifeline covers that.
	_ = cmd.Process.Signal(syscall.SIGTERM)
	lifeline.Close()
	select {
	case <-ended:
	case <-time.After(stopEach):
		_ = cmd.Process.Kill()
		<-ended
	}
	return nil
}

// stopEach is how long one part may take to stop before it is killed. A kill
// costs nothing but time: that is what the whole program is about.
const stopEach = 2 * time.Second

// stopAll stops children at the same time and waits until they have ended,
// which runOnce sees to: it kills after stopEach.
func stopAll(children []*child) {
	for _, c := range children {
		if c.stop != nil {
			c.once.Do(func() { close(c.stop) })
		}
	}
	for _, c := range children {
		if c.done != nil {
			<-c.done
		}
	}
}
