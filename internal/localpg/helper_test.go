package localpg

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// ownerVar makes the test binary be the owner of a cluster: it starts the
// cluster of the JSON in this variable, prints its URL and waits for a signal
// that it does not handle.
const ownerVar = "LOCALPG_TEST_OWNER"

// soon bounds a start that is expected to fail.
const soon = 20 * time.Second

func TestMain(m *testing.M) {
	if text := os.Getenv(ownerVar); text != "" {
		var c Config
		err := json.Unmarshal([]byte(text), &c)
		if err == nil {
			var cluster *Cluster
			if cluster, err = Start(context.Background(), c); err == nil {
				fmt.Printf("%s %d\n", cluster.URL("postgres"), cluster.server.cmd.Process.Pid)
				select {}
			}
		}
		fmt.Println("failed:", err)
		os.Exit(1)
	}
	remove, err := copySelf()
	if err != nil {
		fmt.Println("copying the test binary:", err)
		os.Exit(1)
	}
	code := m.Run()
	remove()
	os.Exit(code)
}

// owner is another process that owns a cluster.
type owner struct {
	cmd           *exec.Cmd
	url           string
	postmasterPid int
}

func startOwner(t *testing.T, c Config) *owner {
	t.Helper()
	return startOwnerAs(t, c, os.Geteuid())
}

// startOwnerAs runs it as another user, which takes root.
func startOwnerAs(t *testing.T, c Config, uid int) *owner {
	t.Helper()
	c.Logger = nil
	text, err := json.Marshal(c)
	require.NoError(t, err)
	cmd := exec.Command(reachableSelf)
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), ownerVar+"="+string(text))
	if uid != os.Geteuid() {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	}
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	o := &owner{cmd: cmd}
	t.Cleanup(o.kill)
	line := make([]byte, 1<<16)
	n, err := io.ReadAtLeast(out, line, 1)
	require.NoError(t, err)
	said := strings.TrimSpace(string(line[:n]))
	url, pid, ok := strings.Cut(said, " ")
	require.True(t, ok && strings.HasPrefix(url, "postgres://"), "owner: %s", said)
	o.url = url
	o.postmasterPid, err = strconv.Atoi(pid)
	require.NoError(t, err)
	return o
}

// kill ends the owner by SIGKILL and reaps it.
func (o *owner) kill() {
	_ = o.cmd.Process.Kill()
	_ = o.cmd.Wait()
}

// reachableSelf is the test binary where any user can execute it. TestMain
// makes the copy before anything forks: a child between fork and exec would
// hold it open for writing, and the kernel refuses to execute it then.
var reachableSelf string

func copySelf() (remove func(), err error) {
	if reachableSelf, err = os.Executable(); err != nil || !isRoot() {
		return func() {}, err
	}
	binary, err := os.ReadFile(reachableSelf)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "localpg-test-self-")
	if err != nil {
		return nil, err
	}
	reachableSelf = filepath.Join(dir, "localpg.test")
	return func() { os.RemoveAll(dir) }, errors.Join(os.Chmod(dir, 0o755), os.WriteFile(reachableSelf, binary, 0o755))
}

// reachableDir is a new directory that the server's account can get at, which
// is not true of t.TempDir when root runs the tests.
func reachableDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "localpg-test-")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o755))
	t.Cleanup(func() { require.NoError(t, removeTree(dir)) })
	return dir
}

func testConfig(t testing.TB) Config {
	return Config{
		DataDir:  filepath.Join(reachableDir(t), "pg"),
		Settings: map[string]string{"shared_buffers": "16MB", "fsync": "off"}, // no test cuts the power
		Tether:   true,
		Logger:   slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
}

func mustStart(t testing.TB, c Config) *Cluster {
	t.Helper()
	cluster, err := Start(within(t, time.Minute), c)
	require.NoError(t, err)
	t.Cleanup(func() { _ = cluster.Stop(context.Background()) })
	return cluster
}

func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

func mustStop(t testing.TB, c *Cluster) {
	t.Helper()
	require.NoError(t, c.Stop(within(t, 30*time.Second)))
}

func query[T any](t *testing.T, url, sql string) T {
	t.Helper()
	ctx := within(t, 30*time.Second)
	conn, err := pgx.Connect(ctx, url)
	require.NoError(t, err)
	defer conn.Close(ctx)
	rows, err := conn.Query(ctx, sql)
	require.NoError(t, err)
	value, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[T])
	require.NoError(t, err)
	return value
}

// keepRow commits a row; rowIsThere asks for it.
func keepRow(t *testing.T, url string) {
	t.Helper()
	ctx := within(t, 30*time.Second)
	conn, err := pgx.Connect(ctx, url)
	require.NoError(t, err)
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, `CREATE TABLE kept (word text); INSERT INTO kept VALUES ('still here')`)
	require.NoError(t, err)
}

func rowIsThere(t *testing.T, url string) {
	t.Helper()
	require.Equal(t, "still here", query[string](t, url, `SELECT word FROM kept`))
}

// processesOf lists the processes that work in or were started on a directory.
func processesOf(t *testing.T, dir string) []string {
	t.Helper()
	var found []string
	for pid, command := range commandLines(t) {
		if strings.Contains(command, dir) || isPostmaster(pid, filepath.Join(dir, clusterName)) {
			found = append(found, fmt.Sprintf("%d %s", pid, command))
		}
	}
	return found
}

// commandLines has those of all processes that have not ended. Small containers
// have no ps, and macOS no /proc.
func commandLines(t *testing.T) map[int]string {
	t.Helper()
	lines := map[int]string{}
	if dirs, _ := filepath.Glob("/proc/[0-9]*"); len(dirs) > 0 {
		for _, dir := range dirs {
			command, err := os.ReadFile(filepath.Join(dir, "cmdline")) // empty for a zombie
			pid, errPid := strconv.Atoi(filepath.Base(dir))
			if err == nil && errPid == nil && len(command) > 0 {
				lines[pid] = strings.ReplaceAll(string(command), "\x00", " ")
			}
		}
		return lines
	}
	out, err := exec.Command("ps", "-axww", "-o", "pid=,stat=,command=").Output()
	require.NoError(t, err)
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if pid, err := strconv.Atoi(fields[0]); err == nil && len(fields) > 2 && !strings.HasPrefix(fields[1], "Z") {
			lines[pid] = strings.Join(fields[2:], " ")
		}
	}
	return lines
}

func requireNoProcess(t *testing.T, dir string) {
	t.Helper()
	require.Eventually(t, func() bool { return len(processesOf(t, dir)) == 0 }, 10*time.Second, 20*time.Millisecond,
		"processes left")
}
