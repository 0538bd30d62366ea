package localpg

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestCrash_PostmasterKilled(t *testing.T) {
	t.Parallel()
	c := testConfig(t)
	cluster := mustStart(t, c)
	keepRow(t, cluster.URL("postgres"))
	require.NoError(t, cluster.server.cmd.Process.Kill())
	select {
	case <-cluster.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("Done is not closed after the server died")
	}
	require.NoError(t, cluster.Stop(within(t, time.Second)))
	rowIsThere(t, mustStart(t, c).URL("postgres"))
}

func TestCrash_OwnerKilled_TetherLeavesNoProcess(t *testing.T) {
	t.Parallel()
	c := testConfig(t)
	o := startOwner(t, c)
	keepRow(t, o.url)
	require.NotEmpty(t, processesOf(t, c.DataDir))
	o.kill()
	requireNoProcess(t, c.DataDir)
	rowIsThere(t, mustStart(t, c).URL("postgres"))
}

func TestCrash_OwnerKilled_TetherOfEphemeralLeavesNoFiles(t *testing.T) {
	t.Parallel()
	c := testConfig(t)
	c.Ephemeral = true
	o := startOwner(t, c)
	file, err := readPidFile(filepath.Join(c.DataDir, clusterName))
	require.NoError(t, err)
	require.DirExists(t, file.socketDir)
	o.kill()
	requireNoProcess(t, c.DataDir)
	require.NoDirExists(t, c.DataDir)
	require.NoDirExists(t, file.socketDir)
}

func TestCrash_OwnerKilled_UntetheredServerIsTakenOver(t *testing.T) {
	t.Parallel()
	c := testConfig(t)
	c.Tether = false
	o := startOwner(t, c)
	keepRow(t, o.url)
	file, err := readPidFile(filepath.Join(c.DataDir, clusterName))
	require.NoError(t, err)
	require.Equal(t, o.postmasterPid, file.pid)
	o.kill()
	rowIsThere(t, o.url)

	cluster := mustStart(t, c)
	rowIsThere(t, cluster.URL("postgres"))
	require.False(t, isPostmaster(o.postmasterPid, filepath.Join(c.DataDir, clusterName)))
	require.NoDirExists(t, file.socketDir, "what the killed owner could not remove")
	mustStop(t, cluster)
	requireNoProcess(t, c.DataDir)
}

func TestCrash_OwnerKilledWhileAnotherTakesOver_TetherSparesTheNewServer(t *testing.T) {
	t.Parallel()
	c := testConfig(t)
	o := startOwner(t, c)
	o.kill()
	// At once, while the watchdog of the killed owner does its work.
	cluster := mustStart(t, c)
	require.Eventually(t, func() bool { return len(watchdogs(t, c.DataDir)) == 1 }, 10*time.Second, 20*time.Millisecond,
		"only the new owner's watchdog is left")
	require.Equal(t, 1, query[int](t, cluster.URL("postgres"), `SELECT 1`))
}

func TestCrash_ServerDeafToPoliteSignals(t *testing.T) {
	t.Parallel()
	c := testConfig(t)
	cluster := mustStart(t, c)
	keepRow(t, cluster.URL("postgres"))
	require.NoError(t, cluster.server.cmd.Process.Signal(syscall.SIGSTOP))
	require.Error(t, cluster.Stop(within(t, 100*time.Millisecond)))
	requireNoProcess(t, c.DataDir)
	rowIsThere(t, mustStart(t, c).URL("postgres"))
}

func TestCrash_PidFileOfAnotherProcess(t *testing.T) {
	t.Parallel()
	c := testConfig(t)
	cluster := mustStart(t, c)
	keepRow(t, cluster.URL("postgres"))
	mustStop(t, cluster)
	bystander := exec.Command("sleep", "60")
	require.NoError(t, bystander.Start())
	ended := make(chan struct{})
	go func() { _ = bystander.Wait(); close(ended) }()
	t.Cleanup(func() { _ = bystander.Process.Kill(); <-ended })
	for name, text := range map[string]string{
		"a living process that is no server": fmt.Sprintf("%d\n%s\n1\n5432\n\n127.0.0.1\n", bystander.Process.Pid, c.DataDir),
		"cut short":                          "",
		"nonsense":                           "-1\n",
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(c.DataDir, clusterName, "postmaster.pid")
			require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
			again := mustStart(t, c)
			rowIsThere(t, again.URL("postgres"))
			mustStop(t, again)
		})
	}
	select {
	case <-ended:
		t.Fatal("a process that has nothing to do with it was stopped")
	default:
	}
}

func TestCrash_InitdbCutShort(t *testing.T) {
	t.Parallel()
	c := testConfig(t)
	half := filepath.Join(c.DataDir, clusterName+".HALFDONE", "base")
	require.NoError(t, os.MkdirAll(half, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(c.DataDir, passwordName), []byte("old\n"), 0o600))
	mustStart(t, c)
	require.NoDirExists(t, half)
}

// watchdogs are the tether processes on a directory.
func watchdogs(t *testing.T, dir string) []string {
	var found []string
	for _, line := range processesOf(t, dir) {
		if strings.Contains(line, "shop-pg-tether") {
			found = append(found, line)
		}
	}
	return found
}
