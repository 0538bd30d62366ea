package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"shop/internal/localpg"
)

// patience bounds every wait. It only decides how long a broken shop takes to
// fail; nothing here depends on being fast.
const patience = 60 * time.Second

// pause is how often a wait looks.
const pause = 25 * time.Millisecond

// ready is the file that `shop demo --ready-file` writes.
type ready struct {
	ShopURL       string `json:"shop_url"`
	AdminURL      string `json:"admin_url"`
	AdminLoginURL string `json:"admin_login_url"`
	APIURL        string `json:"api_url"`
	APIKey        string `json:"api_key"`
	StripeURL     string `json:"stripe_url"`
	InboxURL      string `json:"inbox_url"`
	DatabaseURL   string `json:"database_url"`
}

// demo is a `shop demo` with a folder of its own.
type demo struct {
	dir   string // holds the rest
	bin   string // a link to the binary, so that its processes can be told from other demos'
	data  string
	addr  string
	flags []string
	runs  int
	*running
}

// running is one run of it, from its start to its end.
type running struct {
	ready
	cmd     *exec.Cmd
	began   time.Time
	output  string // file with what it printed
	stdin   io.Closer
	ended   chan struct{} // closed when it has ended; err is set then
	err     error
	db      *pgxpool.Pool
	started bool // its ready file was there
}

// prepareDemo makes the folder of a demo that is not running yet.
func prepareDemo(flags ...string) (*demo, error) {
	dir, err := os.MkdirTemp("", "shop-e2e-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for a demo: %w", err)
	}
	// Its processes are found by this name, which must be the one that the system shows.
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, fmt.Errorf("resolving the folder of a demo: %w", err)
	}
	d := &demo{dir: dir, bin: filepath.Join(dir, "shop"), data: filepath.Join(dir, "data"), addr: "127.0.0.1:0", flags: flags}
	if err := os.Link(binary, d.bin); err != nil {
		return nil, fmt.Errorf("linking the binary: %w", err)
	}
	return d, nil
}

// newDemo makes a demo for one test. Its data goes with the test, unless the
// test fails: then it stays, and its place is logged.
func newDemo(t *testing.T, flags ...string) *demo {
	t.Helper()
	d, err := prepareDemo(flags...)
	require.NoError(t, err)
	t.Cleanup(func() {
		if err := d.stop(); err != nil {
			t.Errorf("stopping the demo: %v", err)
		}
		if t.Failed() {
			t.Logf("data and logs stay in %s", d.dir)
			return
		}
		if err := d.remove(); err != nil {
			t.Errorf("removing the demo's data: %v", err)
		}
	})
	return d
}

func startDemo(t *testing.T, flags ...string) *demo {
	t.Helper()
	d := newDemo(t, flags...)
	require.NoError(t, d.start())
	return d
}

// launch starts the process and returns without waiting for anything.
func (d *demo) launch(flags ...string) error {
	d.runs++
	// The file of an earlier run must not be taken for this one's.
	if err := os.Remove(d.readyFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing the ready file of an earlier run: %w", err)
	}
	r := &running{output: filepath.Join(d.dir, fmt.Sprintf("output-%d.txt", d.runs)), ended: make(chan struct{})}
	out, err := os.Create(r.output)
	if err != nil {
		return fmt.Errorf("making a file for the output: %w", err)
	}
	defer out.Close()
	args := append([]string{"demo", "--data", d.data, "--addr", d.addr, "--ready-file", d.readyFile()}, append(d.flags, flags...)...)
	r.cmd = exec.Command(d.bin, args...)
	r.cmd.Stdout, r.cmd.Stderr = out, out
	// The demo must not outlive the tests, not even when they are killed.
	r.cmd.Env = append(os.Environ(), "SHOP_LIFELINE=stdin")
	// Like a terminal would: a Ctrl-C of the tests is not a Ctrl-C of the demo.
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if r.stdin, err = r.cmd.StdinPipe(); err != nil {
		return fmt.Errorf("opening its standard input: %w", err)
	}
	r.began = time.Now()
	if err := r.cmd.Start(); err != nil {
		return fmt.Errorf("starting the demo: %w", err)
	}
	go func() {
		r.err = r.cmd.Wait()
		close(r.ended)
	}()
	d.running = r
	return nil
}

func (d *demo) readyFile() string { return filepath.Join(d.dir, "ready.json") }

// start runs the demo and waits until it says that it is ready.
func (d *demo) start(flags ...string) error {
	if err := d.launch(flags...); err != nil {
		return err
	}
	tick := time.NewTicker(pause)
	defer tick.Stop()
	limit := time.After(2 * patience)
	for {
		raw, err := os.ReadFile(d.readyFile())
		if err == nil {
			if err := json.Unmarshal(raw, &d.ready); err != nil {
				return fmt.Errorf("reading the ready file: %w", err)
			}
			break
		}
		select {
		case <-d.ended:
			return fmt.Errorf("it ended before it was ready (%v):\n%s", d.err, d.printed())
		case <-limit:
			return fmt.Errorf("it was not ready in %s; it printed\n%s", 2*patience, d.printed())
		case <-tick.C:
		}
	}
	d.started = true
	config, err := pgxpool.ParseConfig(d.DatabaseURL)
	if err != nil {
		return fmt.Errorf("reading its database URL: %w", err)
	}
	config.MaxConns = 4
	if d.db, err = pgxpool.NewWithConfig(context.Background(), config); err != nil {
		return fmt.Errorf("opening its database: %w", err)
	}
	return nil
}

// printed is what this run has printed so far.
func (r *running) printed() string {
	raw, err := os.ReadFile(r.output)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// alive reports whether the process still runs.
func (r *running) alive() bool {
	select {
	case <-r.ended:
		return false
	default:
		return true
	}
}

// stop presses Ctrl-C and waits for the end. A demo that is not running is no error.
func (d *demo) stop() error {
	r := d.running
	if r == nil {
		return nil
	}
	if r.db != nil {
		r.db.Close()
		r.db = nil
	}
	if !r.alive() {
		return nil
	}
	if err := r.cmd.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("interrupting it: %w", err)
	}
	select {
	case <-r.ended:
		return r.err
	case <-time.After(patience):
		_ = r.cmd.Process.Kill()
		<-r.ended
		return fmt.Errorf("it did not stop within %s after Ctrl-C", patience)
	}
}

// kill ends the demo's own process the way a power cut would, and only that
// one: its children are on their own.
func (d *demo) kill() error {
	if err := d.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("killing the demo: %w", err)
	}
	<-d.ended
	if d.db != nil {
		d.db.Close()
		d.db = nil
	}
	return nil
}

// remove deletes all that the demo kept, the cluster's files included.
func (d *demo) remove() error {
	return errors.Join(localpg.Remove(filepath.Join(d.data, "postgres")), os.RemoveAll(d.dir))
}

// logs returns the log files of the demo's parts, by their names.
func (d *demo) logs() (map[string]string, error) {
	dir := filepath.Join(d.data, "logs")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("listing the logs: %w", err)
	}
	logs := map[string]string{}
	for _, e := range entries {
		raw, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("reading a log: %w", err)
		}
		logs[strings.TrimSuffix(e.Name(), ".log")] = string(raw)
	}
	return logs, nil
}

// eventually waits for a condition and says what it waited for.
func eventually(t *testing.T, condition func() bool, what string, args ...any) {
	t.Helper()
	require.Eventuallyf(t, condition, patience, pause, "waiting for "+what, args...)
}
