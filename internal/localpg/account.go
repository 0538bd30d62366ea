package localpg

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// account is whom the server runs as. initdb and postgres refuse root, so a
// root process drops to an ordinary account for everything it runs.
type account struct {
	name     string
	uid, gid int
	drop     bool // this process is root and must change to uid and gid
}

// accountFor chooses the account for a cluster in dir. A cluster that exists
// stays with the account that owns it, so that `sudo` in front of a command
// once does not lock its owner out afterwards.
func accountFor(dir string) (account, error) {
	if os.Geteuid() != 0 {
		return account{name: "uid " + strconv.Itoa(os.Geteuid()), uid: os.Geteuid(), gid: os.Getegid()}, nil
	}
	if uid, gid, ok := ownerOf(filepath.Join(dir, clusterName)); ok && uid != 0 {
		return account{name: "uid " + strconv.Itoa(uid), uid: uid, gid: gid, drop: true}, nil
	}
	for _, name := range []string{"postgres", "_postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, errUID := strconv.ParseInt(u.Uid, 10, 64)
		gid, errGID := strconv.ParseInt(u.Gid, 10, 64)
		if errUID == nil && errGID == nil && uint32(uid) != 0 {
			return account{name: name, uid: int(uint32(uid)), gid: int(uint32(gid)), drop: true}, nil
		}
	}
	return account{}, errors.New("localpg: PostgreSQL refuses to run as root, and this machine has neither a user postgres nor nobody: " +
		"run this as an ordinary user, or make one with: useradd --system postgres")
}

// ownerOf reads the owner of path without following a symlink.
func ownerOf(path string) (uid, gid int, ok bool) {
	info, err := os.Lstat(path)
	if err != nil {
		return 0, 0, false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return int(stat.Uid), int(stat.Gid), true
}

// command prepares a program of bin to run as the account, in a process group
// of its own: Ctrl-C in a terminal goes to the whole foreground group, and the
// server must not end before its owner has said so.
func (a account) command(ctx context.Context, bin, tool string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(bin, tool), args...)
	cmd.Dir = "/" // ours may be out of reach for the account, and initdb asks for it
	cmd.Env = environment(bin)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if a.drop {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)}
	}
	return cmd
}

// environment is all a PostgreSQL program gets. PG… variables of the caller
// would redirect it, a foreign locale would translate the messages we read,
// and secrets of the caller are none of its business.
func environment(bin string) []string {
	env := []string{"PATH=" + bin + ":/usr/local/bin:/usr/bin:/bin", "HOME=/", "LC_ALL=C", "TZ=UTC"}
	for _, name := range []string{"LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH"} {
		if value := os.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// canUse tells whether the account can enter dir and write there.
func (a account) canUse(dir string) error {
	return a.probe(dir, "enter and write to", accessExecute|accessWrite, `cd "$1" && [ -w . ]`)
}

// canEnter tells whether the account can pass through dir.
func (a account) canEnter(dir string) error {
	return a.probe(dir, "enter", accessExecute, `cd "$1"`)
}

// canRun tells whether the account can execute file.
func (a account) canRun(file string) error {
	return a.probe(file, "execute", accessExecute, `[ -x "$1" ]`)
}

// Modes of access(2).
const (
	accessExecute = 0x1
	accessWrite   = 0x2
)

// probe asks the kernel by trying, so that ACLs, mounts and parent directories
// all count. For another account that takes a process that runs as it.
func (a account) probe(path, verb string, mode uint32, script string) error {
	if !a.drop {
		if err := syscall.Access(path, mode); err != nil {
			return fmt.Errorf("%s cannot %s %s: %w", a.name, verb, path, err)
		}
		return nil
	}
	err := a.command(context.Background(), "/bin", "sh", "-c", script, "sh", path).Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return fmt.Errorf("user %s cannot %s %s", a.name, verb, path)
	}
	if err != nil {
		return fmt.Errorf("trying as user %s to %s %s: %w", a.name, verb, path, err)
	}
	return nil
}

// takeDir makes dir (owner only) if it is missing and gives it to the account.
// Parents are made so that others can pass through them.
func (a account) takeDir(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return fmt.Errorf("making parent directory: %w", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("making directory: %w", err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("looking at directory: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is a file, expected a directory", dir)
	}
	return a.own(dir)
}

// own gives path to the account if this process may and must.
func (a account) own(path string) error {
	uid, _, ok := ownerOf(path)
	if ok && uid == a.uid {
		return nil
	}
	if !a.drop {
		return fmt.Errorf("%s belongs to uid %d and this process runs as uid %d: use another directory, or run as its owner or as root", path, uid, a.uid)
	}
	if err := os.Lchown(path, a.uid, a.gid); err != nil {
		return fmt.Errorf("giving %s to user %s: %w", path, a.name, err)
	}
	return nil
}
