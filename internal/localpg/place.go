package localpg

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
)

// Names inside a data directory.
const (
	clusterName  = "cluster"  // what PostgreSQL calls PGDATA
	passwordName = "password" // the superuser's password, owner only
	lockName     = "lock"     // held by the living owner
	previousName = "previous" // a cluster whose wanted directory was deleted
	homeName     = "kept-for" // in a place elsewhere: the wanted directory

	// NoteName is the file in Config.DataDir that says where the cluster files
	// are, if the server's account cannot reach DataDir itself. Deleting it
	// (or DataDir) means deleting the cluster.
	NoteName = "cluster-files-are-elsewhere.txt"
)

// elsewhere lists the directories that may keep the files of a cluster whose
// wanted directory is out of reach; the first usable one is taken. What is
// wanted in the temporary directory stays in it, and ages with it.
var elsewhere = func(wanted string) []string {
	if isWithin(wanted, os.TempDir()) {
		return []string{filepath.Join(os.TempDir(), "shop-localpg"), "/var/tmp/shop"}
	}
	return []string{"/var/lib/shop", "/var/tmp/shop"}
}

// place is where a cluster's files are.
type place struct {
	wanted string // Config.DataDir
	dir    string // the directory in use: wanted, or one elsewhere
}

func (p place) cluster() string  { return filepath.Join(p.dir, clusterName) }
func (p place) password() string { return filepath.Join(p.dir, passwordName) }
func (p place) note() string     { return filepath.Join(p.wanted, NoteName) }
func (p place) moved() bool      { return p.dir != p.wanted }

// settle decides where the cluster lives, makes the directory, takes the lock
// on it and returns the account that runs there.
func settle(wanted string, log *slog.Logger) (place, account, *lock, error) {
	fail := func(err error) (place, account, *lock, error) {
		return place{}, account{}, nil, fmt.Errorf("localpg: data directory %s: %w", wanted, err)
	}
	if err := refuseForeign(wanted); err != nil {
		return fail(err)
	}
	acct, err := accountFor(wanted)
	if err != nil {
		return fail(err)
	}
	p := place{wanted: wanted, dir: wanted}
	if why := reach(p, acct); why != nil {
		if !acct.drop {
			return fail(why)
		}
		if p, err = settleElsewhere(wanted, acct); err != nil {
			return fail(fmt.Errorf("%w; %w", why, err))
		}
		if acct, err = accountFor(p.dir); err != nil {
			return fail(err)
		}
		if err := reach(p, acct); err != nil {
			return fail(err)
		}
	}
	held, err := takeLock(filepath.Join(p.dir, lockName))
	if err != nil {
		return fail(err)
	}
	if err := acct.own(filepath.Join(p.dir, lockName)); err != nil {
		held.release()
		return fail(err)
	}
	if p.moved() {
		if err := p.adopt(log); err != nil {
			held.release()
			return fail(err)
		}
	}
	return p, acct, held, nil
}

// reach gives the directory to the account and checks that it can work there.
// A wanted directory with a note in it stays as it is.
func reach(p place, acct account) error {
	if noted := readNote(p.note()); noted != "" && !p.moved() {
		return fmt.Errorf("root keeps its cluster files in %s: run this as root, or delete %s to start with an empty cluster", noted, p.note())
	}
	if acct.drop && !p.moved() {
		// Before the directory changes hands: are its parents passable at all?
		parent := filepath.Dir(p.dir)
		if err := os.MkdirAll(parent, 0o755); err != nil {
			return fmt.Errorf("making parent directory: %w", err)
		}
		if err := acct.canEnter(parent); err != nil {
			return err
		}
	}
	if err := acct.takeDir(p.dir); err != nil {
		return err
	}
	return acct.canUse(p.dir)
}

// refuseForeign keeps us from handing a directory with other things in it (a
// home directory, say) to another account.
func refuseForeign(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if errors.Is(err, fs.ErrPermission) {
		uid, _, _ := ownerOf(dir)
		return fmt.Errorf("it belongs to uid %d and this process runs as uid %d: use another directory, or run as its owner or as root", uid, os.Geteuid())
	}
	if err != nil {
		return fmt.Errorf("reading it: %w", err)
	}
	ours := false
	var foreign string
	for _, entry := range entries {
		switch name := entry.Name(); {
		case name == clusterName, name == NoteName, name == lockName:
			ours = true
		case name == passwordName, name == previousName, name == homeName, strings.HasPrefix(name, clusterName+"."):
		default:
			foreign = name
		}
	}
	if foreign != "" && !ours {
		return fmt.Errorf("it holds %s, which is not part of a cluster made here: give an empty or new directory", foreign)
	}
	return nil
}

// settleElsewhere finds the place for a wanted directory that is out of reach.
func settleElsewhere(wanted string, acct account) (place, error) {
	if err := os.MkdirAll(wanted, 0o700); err != nil {
		return place{}, fmt.Errorf("making directory: %w", err)
	}
	bases := elsewhere(wanted)
	p := place{wanted: wanted}
	if noted := readNote(p.note()); noted != "" {
		for _, base := range bases {
			if filepath.Dir(noted) == base && isOurs(base) == nil {
				p.dir = noted
				return p, nil
			}
		}
		return place{}, fmt.Errorf("%s names %s, which is not below %s: correct or delete it", p.note(), noted, strings.Join(bases, " or "))
	}
	sum := sha256.Sum256([]byte(wanted))
	var problems []string
	for _, base := range bases {
		err := os.MkdirAll(base, 0o755)
		if err == nil {
			err = isOurs(base)
		}
		if err == nil {
			err = acct.canEnter(base)
		}
		if err != nil {
			problems = append(problems, err.Error())
			continue
		}
		if isWithin(base, os.TempDir()) {
			sweep(base)
		}
		p.dir = filepath.Join(base, hex.EncodeToString(sum[:6]))
		return p, nil
	}
	return place{}, fmt.Errorf("no other place for the cluster files: %s", strings.Join(problems, "; "))
}

// isOurs guards against a directory that somebody else prepared under a name
// that can be guessed.
func isOurs(base string) error {
	info, err := os.Lstat(base)
	if err != nil {
		return fmt.Errorf("looking at %s: %w", base, err)
	}
	uid, _, _ := ownerOf(base)
	if !info.IsDir() || uid != os.Geteuid() || info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%s is not a directory that only this user can write to", base)
	}
	return nil
}
