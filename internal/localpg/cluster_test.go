package localpg

import (
	"context"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
)

func TestStart_FreshThenAgainKeepsData(t *testing.T) {
	t.Parallel()
	c := testConfig(t)
	first := mustStart(t, c)
	keepRow(t, first.URL("postgres"))
	require.Equal(t, "UTF8", query[string](t, first.URL("postgres"), `SHOW server_encoding`))
	require.Equal(t, "UTC", query[string](t, first.URL("postgres"), `SHOW timezone`))
	require.Equal(t, "16MB", query[string](t, first.URL("postgres"), `SHOW shared_buffers`))
	require.Equal(t, "127.0.0.1", query[string](t, first.URL("postgres"), `SHOW listen_addresses`))
	mustStop(t, first)
	mustStop(t, first)
	requireNoProcess(t, c.DataDir)
	require.NoDirExists(t, first.runtime.temp)

	second := mustStart(t, c)
	rowIsThere(t, second.URL("postgres"))
}

// BenchmarkStart measures a start with an empty folder and one on its data.
func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		c := testConfig(b)
		c.Settings = nil // as the demo has it
		for range 2 {
			mustStop(b, mustStart(b, c))
		}
	}
}

func TestURL_NeedsThePassword(t *testing.T) {
	t.Parallel()
	c := testConfig(t)
	cluster := mustStart(t, c)
	u, err := url.Parse(cluster.URL("postgres"))
	require.NoError(t, err)
	password, _ := u.User.Password()
	require.GreaterOrEqual(t, len(password), 20)
	u.User = url.UserPassword("postgres", "guess")
	_, err = pgx.Connect(within(t, 10*time.Second), u.String())
	var refused *pgconn.PgError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, "28P01", refused.Code)

	info, err := os.Stat(filepath.Join(c.DataDir, passwordName))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

func TestEnsureDatabase_TwiceAndWithAnOddName(t *testing.T) {
	t.Parallel()
	cluster := mustStart(t, testConfig(t))
	for range 2 {
		require.NoError(t, cluster.EnsureDatabase(within(t, soon), `sh"op ü`))
	}
	require.Equal(t, `sh"op ü`, query[string](t, cluster.URL(`sh"op ü`), `SELECT current_database()`))
}

func TestStart_TwoOwners(t *testing.T) {
	t.Parallel()
	c := testConfig(t)
	first := mustStart(t, c)
	_, err := Start(within(t, soon), c)
	var inUse *InUseError
	require.ErrorAs(t, err, &inUse)
	require.ErrorContains(t, err, c.DataDir)
	require.ErrorContains(t, err, "in use by process")
	require.Equal(t, 1, query[int](t, first.URL("postgres"), `SELECT 1`), "the first owner is not disturbed")
	mustStop(t, first)
	mustStart(t, c)
}

func TestStart_TwoOwnersOfTwoProcesses(t *testing.T) {
	t.Parallel()
	c := testConfig(t)
	other := startOwner(t, c)
	_, err := Start(within(t, soon), c)
	var inUse *InUseError
	require.ErrorAs(t, err, &inUse)
	require.Equal(t, 1, query[int](t, other.url, `SELECT 1`))
}

func TestStart_PortInUse(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	c := testConfig(t)
	c.Port = listener.Addr().(*net.TCPAddr).Port
	_, err = Start(within(t, soon), c)
	require.ErrorContains(t, err, "in use")
	require.ErrorContains(t, err, listener.Addr().String()[len("127.0.0.1:"):])
	require.NoDirExists(t, c.DataDir, "nothing is made for a start that cannot succeed")
}

func TestStart_GivenPort(t *testing.T) {
	t.Parallel()
	c := testConfig(t)
	port, err := freePort()
	require.NoError(t, err)
	c.Port = port
	require.Equal(t, port, mustStart(t, c).Port())
}

func TestStart_ContextEnds(t *testing.T) {
	t.Parallel()
	c := testConfig(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := Start(ctx, c)
	require.ErrorIs(t, err, context.Canceled)
	requireNoProcess(t, c.DataDir)
	mustStart(t, c)
}

func TestStart_BadSettingShowsWhatTheServerSaid(t *testing.T) {
	t.Parallel()
	c := testConfig(t)
	c.Settings = map[string]string{"max_connections": "plenty"}
	_, err := Start(within(t, soon), c)
	require.ErrorContains(t, err, `invalid value for parameter "max_connections": "plenty"`)
	requireNoProcess(t, c.DataDir)
}

func TestStart_RefusesConfig(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"no directory":    {func(c *Config) { c.DataDir = "" }, "DataDir is empty"},
		"port":            {func(c *Config) { c.Port = 65536 }, "Port is 65536"},
		"own setting":     {func(c *Config) { c.Settings = map[string]string{"Port": "1"} }, "decided by localpg"},
		"setting name":    {func(c *Config) { c.Settings = map[string]string{"x=y; z": "1"} }, "not the name of a PostgreSQL setting"},
		"runtime in data": {func(c *Config) { c.RuntimeDir = filepath.Join(c.DataDir, "run") }, "must not contain each other"},
		"line break":      {func(c *Config) { c.DataDir += "\nx" }, "line break"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := Config{DataDir: filepath.Join(t.TempDir(), "pg")}
			tc.change(&c)
			_, err := Start(within(t, soon), c)
			require.ErrorContains(t, err, tc.want)
		})
	}
}

func TestStart_RefusesADirectoryWithOtherThings(t *testing.T) {
	t.Parallel()
	dir := reachableDir(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "thesis.txt"), []byte("x"), 0o600))
	before, _, _ := ownerOf(dir)
	_, err := Start(within(t, soon), Config{DataDir: dir})
	require.ErrorContains(t, err, "thesis.txt")
	after, _, _ := ownerOf(dir)
	require.Equal(t, before, after)
}

func TestStart_OtherMajorVersion(t *testing.T) {
	t.Parallel()
	c := testConfig(t)
	mustStop(t, mustStart(t, c))
	require.NoError(t, os.WriteFile(filepath.Join(c.DataDir, clusterName, "PG_VERSION"), []byte("12\n"), 0o600))
	_, err := Start(within(t, soon), c)
	require.ErrorContains(t, err, "was made by PostgreSQL 12")
	require.ErrorContains(t, err, "no download for PostgreSQL 12")
}

func TestStart_LostPassword(t *testing.T) {
	t.Parallel()
	c := testConfig(t)
	mustStop(t, mustStart(t, c))
	file := filepath.Join(c.DataDir, passwordName)
	require.NoError(t, os.WriteFile(file, []byte("wrong\n"), 0o600))
	_, err := Start(within(t, soon), c)
	require.ErrorContains(t, err, "refuses the password")
	requireNoProcess(t, c.DataDir)
	require.NoError(t, os.Remove(file))
	_, err = Start(within(t, soon), c)
	require.ErrorContains(t, err, "start over")
}

func TestRuntimeDir(t *testing.T) {
	t.Parallel()
	for name, dir := range map[string]string{
		"short":             "run",
		"odd characters":    `r"u, n`,
		"long for a socket": strings.Repeat("long", 30),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := testConfig(t)
			c.RuntimeDir = filepath.Join(filepath.Dir(c.DataDir), dir)
			cluster := mustStart(t, c)
			require.Equal(t, filepath.Join(c.RuntimeDir, "postgresql.log"), cluster.LogPath())
			require.FileExists(t, cluster.LogPath())
			require.FileExists(t, filepath.Join(cluster.runtime.socket, "postgresql.pid"))
			mustStop(t, cluster)
			require.FileExists(t, cluster.LogPath(), "the log stays to be read")
		})
	}
}

func TestStop_OpenTransactionDoesNotHoldItUp(t *testing.T) {
	t.Parallel()
	c := testConfig(t)
	cluster := mustStart(t, c)
	ctx := within(t, 30*time.Second)
	conn, err := pgx.Connect(ctx, cluster.URL("postgres"))
	require.NoError(t, err)
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, `BEGIN`)
	require.NoError(t, err)
	mustStop(t, cluster)
	requireNoProcess(t, c.DataDir)
}

func TestStop_ContextEnds(t *testing.T) {
	t.Parallel()
	c := testConfig(t)
	cluster := mustStart(t, c)
	keepRow(t, cluster.URL("postgres"))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(t, cluster.Stop(ctx), context.Canceled)
	require.NoError(t, cluster.Stop(ctx), "it is stopped now")
	requireNoProcess(t, c.DataDir)
	rowIsThere(t, mustStart(t, c).URL("postgres"))
}

func TestEphemeral_LeavesNothing(t *testing.T) {
	t.Parallel()
	c := testConfig(t)
	c.Ephemeral = true
	cluster := mustStart(t, c)
	require.DirExists(t, c.DataDir)
	mustStop(t, cluster)
	require.NoDirExists(t, c.DataDir)
	requireNoProcess(t, c.DataDir)
}

func TestStart_TerminalSignalsDoNotReachIt(t *testing.T) {
	t.Parallel()
	c := testConfig(t)
	cluster := mustStart(t, c)
	for _, pid := range []int{cluster.server.cmd.Process.Pid, cluster.tether.cmd.Process.Pid} {
		group, err := syscall.Getpgid(pid)
		require.NoError(t, err)
		require.Equal(t, pid, group, "a process group of its own")
	}
}
