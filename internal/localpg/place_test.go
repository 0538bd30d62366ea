package localpg

import (
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func isRoot() bool { return os.Geteuid() == 0 }

// unreachableDir is a directory below one that only its owner can enter.
func unreachableDir(t *testing.T) string {
	return filepath.Join(t.TempDir(), "checkout", "data")
}

func TestRoot_UnreachableDirectory(t *testing.T) {
	t.Parallel()
	if !isRoot() {
		return // an ordinary user runs the server as itself and reaches what it reaches
	}
	c := testConfig(t)
	c.DataDir = unreachableDir(t)
	cluster := mustStart(t, c)
	keepRow(t, cluster.URL("postgres"))
	elsewhere := cluster.Dir()
	require.NotEqual(t, c.DataDir, elsewhere)
	require.Equal(t, elsewhere, readNote(filepath.Join(c.DataDir, NoteName)))

	_, err := Start(within(t, soon), c)
	var inUse *InUseError
	require.ErrorAs(t, err, &inUse)
	mustStop(t, cluster)

	again := mustStart(t, c)
	rowIsThere(t, again.URL("postgres"))
	require.Equal(t, elsewhere, again.Dir())
	require.ErrorAs(t, Remove(c.DataDir), &inUse)
	mustStop(t, again)
	require.NoError(t, Remove(c.DataDir))
	require.NoDirExists(t, c.DataDir)
	require.NoDirExists(t, elsewhere)
}

func TestRoot_DeletedDirectoryStartsEmpty(t *testing.T) {
	t.Parallel()
	if !isRoot() {
		return
	}
	c := testConfig(t)
	c.DataDir = unreachableDir(t)
	cluster := mustStart(t, c)
	keepRow(t, cluster.URL("postgres"))
	mustStop(t, cluster)
	require.NoError(t, os.RemoveAll(c.DataDir))

	again := mustStart(t, c)
	require.Equal(t, 0, query[int](t, again.URL("postgres"), `SELECT count(*)::int FROM pg_class WHERE relname = 'kept'`))
	require.FileExists(t, filepath.Join(again.Dir(), previousName, "PG_VERSION"))
	mustStop(t, again)
	require.NoError(t, Remove(c.DataDir))
}

func TestRoot_MovedAndCopiedDirectory(t *testing.T) {
	t.Parallel()
	if !isRoot() {
		return
	}
	c := testConfig(t)
	c.DataDir = unreachableDir(t)
	cluster := mustStart(t, c)
	keepRow(t, cluster.URL("postgres"))
	mustStop(t, cluster)

	copied := c
	copied.DataDir = c.DataDir + "-copy"
	require.NoError(t, os.CopyFS(copied.DataDir, os.DirFS(c.DataDir)))
	_, err := Start(within(t, soon), copied)
	require.ErrorContains(t, err, "looks like a copy of "+c.DataDir)

	moved := c
	moved.DataDir = c.DataDir + "-moved"
	require.NoError(t, os.Rename(c.DataDir, moved.DataDir))
	again := mustStart(t, moved)
	rowIsThere(t, again.URL("postgres"))
	mustStop(t, again)
	require.NoError(t, Remove(moved.DataDir))
}

func TestRoot_EphemeralUnreachableLeavesNothing(t *testing.T) {
	t.Parallel()
	if !isRoot() {
		return
	}
	c := testConfig(t)
	c.DataDir = unreachableDir(t)
	c.Ephemeral = true
	cluster := mustStart(t, c)
	elsewhere := cluster.Dir()
	mustStop(t, cluster)
	require.NoDirExists(t, c.DataDir)
	require.NoDirExists(t, elsewhere)

	o := startOwner(t, c)
	require.DirExists(t, elsewhere)
	o.kill()
	require.Eventually(t, func() bool {
		_, errWanted := os.Stat(c.DataDir)
		_, errElsewhere := os.Stat(elsewhere)
		return os.IsNotExist(errWanted) && os.IsNotExist(errElsewhere)
	}, 20*time.Second, 20*time.Millisecond)
}

func TestRoot_NoteThatNamesAForeignPlace(t *testing.T) {
	t.Parallel()
	if !isRoot() {
		return
	}
	victim := reachableDir(t)
	c := testConfig(t)
	c.DataDir = unreachableDir(t)
	require.NoError(t, os.MkdirAll(c.DataDir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(c.DataDir, NoteName), []byte(victim+"\n"), 0o600))
	_, err := Start(within(t, soon), c)
	require.ErrorContains(t, err, "names "+victim)
	require.NoError(t, Remove(c.DataDir))
	require.DirExists(t, victim)
}

func TestRoot_ClusterStaysWithItsOwner(t *testing.T) {
	t.Parallel()
	if !isRoot() {
		return
	}
	nobody, err := user.Lookup("nobody")
	require.NoError(t, err)
	uid, err := strconv.Atoi(nobody.Uid)
	require.NoError(t, err)
	c := testConfig(t)
	require.NoError(t, os.Chown(filepath.Dir(c.DataDir), uid, uid))
	o := startOwnerAs(t, c, uid)
	keepRow(t, o.url)
	o.kill()
	requireNoProcess(t, c.DataDir)

	cluster := mustStart(t, c)
	rowIsThere(t, cluster.URL("postgres"))
	owner, _, _ := ownerOf(filepath.Join(c.DataDir, clusterName))
	require.Equal(t, uid, owner)
	mustStop(t, cluster)

	again := startOwnerAs(t, c, uid)
	rowIsThere(t, again.url)
}

func TestDirectoryOfSomebodyElse(t *testing.T) {
	t.Parallel()
	if isRoot() {
		return // root may use any; TestAgainAsAnOrdinaryUser comes through here
	}
	_, err := Start(within(t, soon), Config{DataDir: "/root/shop-data"})
	require.Error(t, err)
	_, err = Start(within(t, soon), Config{DataDir: "/usr/share"})
	require.ErrorContains(t, err, "not part of a cluster made here")
}

// TestAgainAsAnOrdinaryUser runs those tests in which it makes a difference
// as the user nobody.
func TestAgainAsAnOrdinaryUser(t *testing.T) {
	t.Parallel()
	if !isRoot() {
		return
	}
	dir := reachableDir(t)
	nobody, err := user.Lookup("nobody")
	require.NoError(t, err)
	uid, err := strconv.Atoi(nobody.Uid)
	require.NoError(t, err)
	cmd := exec.Command(reachableSelf, "-test.shuffle=on", "-test.timeout=5m",
		"-test.run=^Test(Start_Fresh|Start_TwoOwners|Crash_|Ephemeral|Runtime|Directory|Fetch_Downloads)")
	cmd.Dir = dir
	temp := filepath.Join(dir, "tmp")
	require.NoError(t, os.Mkdir(temp, 0o700))
	require.NoError(t, os.Chown(temp, uid, uid))
	cmd.Env = append(os.Environ(), "TMPDIR="+temp, "HOME="+temp)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "as nobody:\n%s", out)
}
