// Package e2e tests the shop as its people meet it: the built binary as real
// processes on a real PostgreSQL, bought from with a real browser, and looked
// at from outside, through HTTP, SQL, the inbox and the books of the local
// Stripe.
//
// Nearly all tests share one running demo; those that kill something, or need
// other settings, start their own.
package e2e

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
)

// binary is the program under test, built once for this run.
var binary string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	// These tests mostly wait for other processes, so more of them fit at once
	// than there are cores; four browsers and demos also fit into memory.
	if p := flag.Lookup("test.parallel"); p != nil {
		if n, err := strconv.Atoi(p.Value.String()); err == nil && n < 4 {
			_ = p.Value.Set("4")
		}
	}
	dir, err := os.MkdirTemp("", "shop-e2e-bin-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "making a folder for the binary:", err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "shop")
	build := exec.Command("go", "build", "-o", binary, "../cmd/shop")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "building the shop:", err)
		return 1
	}
	code := m.Run()
	closeBrowser()
	return max(code, closeShared(code != 0))
}

// shared is the demo that most tests use.
var shared struct {
	sync.Once
	demo *demo
	err  error
}

// sharedDemo returns the running demo that the tests share. Each test has its
// own shoppers and orders in it. It lists the stories too.
func sharedDemo(t *testing.T) *demo {
	t.Helper()
	shared.Do(func() {
		if shared.demo, shared.err = prepareDemo("--dev"); shared.err == nil {
			shared.err = shared.demo.start()
		}
	})
	if shared.err != nil {
		t.Fatalf("the shared demo did not start: %v", shared.err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the shared demo keeps its data and logs in %s", shared.demo.dir)
		}
	})
	return shared.demo
}

// closeShared stops the shared demo after the last test and looks through all
// that it has stored for secrets. It returns an exit code.
func closeShared(failed bool) int {
	d := shared.demo
	if d == nil {
		return 0
	}
	code := 0
	if shared.err == nil {
		leaks, err := findSecrets(d)
		if err != nil {
			leaks = append(leaks, err.Error())
		}
		for _, leak := range leaks {
			fmt.Fprintln(os.Stderr, "after all tests:", leak)
			code = 1
		}
	}
	if err := d.stop(); err != nil {
		fmt.Fprintln(os.Stderr, "stopping the shared demo:", err)
		code = 1
	}
	if failed || code != 0 {
		fmt.Fprintf(os.Stderr, "the shared demo's data and logs are in %s\n", d.dir)
		return code
	}
	if err := d.remove(); err != nil {
		fmt.Fprintln(os.Stderr, "removing the shared demo's data:", err)
		return 1
	}
	return 0
}
