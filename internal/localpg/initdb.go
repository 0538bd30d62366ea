package localpg

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// madeBy is the major version that made the cluster, 0 if there is none yet.
func (p place) madeBy() (int, error) {
	text, err := os.ReadFile(filepath.Join(p.cluster(), "PG_VERSION"))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("localpg: reading the version of %s: %w", p.cluster(), err)
	}
	if n := numberIn(string(text)); n > 0 {
		return n, nil
	}
	return 0, fmt.Errorf("localpg: %s/PG_VERSION says %q, expected a number: the cluster is damaged", p.cluster(), text)
}

// initCluster makes an empty cluster. It gets its name only when complete, so
// a kill in the middle leaves nothing that a later start could mistake for one.
//
// Nothing is synced: a power cut within the first half minute may cost the
// cluster, and it is empty then. From there on the server syncs what it writes.
func (p place) initCluster(ctx context.Context, bin string, acct account) error {
	leftovers, _ := filepath.Glob(p.cluster() + ".*")
	for _, dir := range leftovers {
		_ = os.RemoveAll(dir)
	}
	if err := p.makePassword(acct); err != nil {
		return err
	}
	unfinished := p.cluster() + "." + rand.Text()[:8]
	args := []string{"-D", unfinished, "-U", superuser, "--pwfile=" + p.password(), "--auth=scram-sha-256",
		"-E", "UTF8", "--no-sync", "--no-instructions"}
	out, err := acct.command(ctx, bin, "initdb", append(args, "--locale=C.UTF-8")...).CombinedOutput()
	if err != nil && strings.Contains(string(out), "invalid locale") {
		// Older systems have no C.UTF-8; C orders the same and knows fewer letters.
		out, err = acct.command(ctx, bin, "initdb", append(args, "--locale=C")...).CombinedOutput()
	}
	if err != nil {
		_ = os.RemoveAll(unfinished)
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return fmt.Errorf("localpg: making a cluster in %s: %w\n%s", p.dir, err, strings.TrimSpace(string(out)))
	}
	if err := os.Rename(unfinished, p.cluster()); err != nil {
		return fmt.Errorf("localpg: naming the new cluster: %w", err)
	}
	return nil
}

// makePassword writes a new password for the superuser: loopback is shared by
// all users of a machine, so "trust" would let each of them in.
func (p place) makePassword(acct account) error {
	if err := os.Remove(p.password()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("localpg: removing an old password: %w", err)
	}
	file, err := os.OpenFile(p.password(), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("localpg: writing password: %w", err)
	}
	_, err = file.WriteString(rand.Text() + "\n")
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("localpg: writing password: %w", err)
	}
	return acct.own(p.password())
}

func (p place) readPassword() (string, error) {
	text, err := os.ReadFile(p.password())
	if err != nil {
		return "", fmt.Errorf("localpg: reading the cluster's password: %w; without it the cluster cannot be used: put the file back, or delete %s to start over",
			err, p.wanted)
	}
	return strings.TrimSpace(string(text)), nil
}
