package localpg

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
)

// adopt ties a place elsewhere to its wanted directory: a note there, the way
// back here. Called under the lock of the place.
//
// The note is what keeps the cluster alive: without it the wanted directory
// was deleted or is new, and whoever deleted it meant the data. The old
// cluster is set aside once, not destroyed.
func (p place) adopt(log *slog.Logger) error {
	home := filepath.Join(p.dir, homeName)
	noted := readNote(p.note()) == p.dir
	if owner, err := os.ReadFile(home); err == nil && noted {
		other := strings.TrimSpace(string(owner))
		if other != p.wanted && readNote(filepath.Join(other, NoteName)) == p.dir {
			return fmt.Errorf("it looks like a copy of %s, whose cluster files are in %s: delete %s to start with an empty cluster here",
				other, p.dir, p.note())
		}
	}
	if !noted {
		if _, err := os.Stat(p.cluster()); err == nil {
			previous := filepath.Join(p.dir, previousName)
			if err := os.RemoveAll(previous); err != nil {
				return fmt.Errorf("removing %s: %w", previous, err)
			}
			if err := stopStale(p.cluster(), log); err != nil {
				return err
			}
			if err := os.Rename(p.cluster(), previous); err != nil {
				return fmt.Errorf("setting aside the cluster of a deleted directory: %w", err)
			}
			log.Info("set aside the cluster of a deleted directory", "wanted", p.wanted, "kept_in", previous)
		}
	}
	if err := os.WriteFile(home, []byte(p.wanted+"\n"), 0o600); err != nil {
		return fmt.Errorf("writing %s: %w", home, err)
	}
	text := fmt.Sprintf("%s\n\nPostgreSQL does not run as root, and its user cannot reach this directory.\n"+
		"The line above names the directory that holds the cluster files instead.\n"+
		"Deleting this file means starting over with an empty cluster.\n", p.dir)
	if err := os.WriteFile(p.note(), []byte(text), 0o600); err != nil {
		return fmt.Errorf("writing %s: %w", p.note(), err)
	}
	log.Info("cluster files are kept elsewhere", "wanted", p.wanted, "dir", p.dir)
	return nil
}

// readNote returns the directory that a note names, empty if there is no note.
func readNote(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimSpace(first)
}

// sweep removes clusters from a temporary base whose wanted directories are
// gone, as a test's are when it ends.
func sweep(base string) {
	homes, _ := filepath.Glob(filepath.Join(base, "*", homeName))
	for _, home := range homes {
		wanted, err := os.ReadFile(home)
		if err != nil {
			continue
		}
		if _, err := os.Lstat(strings.TrimSpace(string(wanted))); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		dir := filepath.Dir(home)
		if held, err := takeLock(filepath.Join(dir, lockName)); err == nil {
			if stopStale(filepath.Join(dir, clusterName), slog.New(slog.DiscardHandler)) == nil {
				_ = removeTree(dir)
			}
			held.release()
		}
	}
}

// Remove deletes the cluster of dataDir for good: the directory itself and, if
// a note there says so, the files kept elsewhere. A server that a killed owner
// left behind is stopped first. A living owner makes it fail; a missing
// directory is no error.
func Remove(dataDir string) error {
	wanted, err := filepath.Abs(dataDir)
	if err != nil {
		return fmt.Errorf("localpg: resolving directory %s: %w", dataDir, err)
	}
	if _, err := os.Stat(wanted); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	fail := func(err error) error { return fmt.Errorf("localpg: removing %s: %w", wanted, err) }
	if err := refuseForeign(wanted); err != nil {
		return fail(err)
	}
	dirs := []string{wanted}
	if noted := readNote(filepath.Join(wanted, NoteName)); noted != "" {
		for _, base := range elsewhere(wanted) {
			if filepath.Dir(noted) == base && isOurs(base) == nil {
				dirs = append(dirs, noted)
			}
		}
	}
	for _, dir := range dirs {
		if _, err := os.Stat(dir); err != nil {
			continue
		}
		held, err := takeLock(filepath.Join(dir, lockName))
		if err != nil {
			return fail(err)
		}
		defer held.release()
		if err := stopStale(filepath.Join(dir, clusterName), slog.New(slog.DiscardHandler)); err != nil {
			return fail(err)
		}
	}
	for _, dir := range dirs {
		if err := removeTree(dir); err != nil {
			return fail(err)
		}
	}
	return nil
}
