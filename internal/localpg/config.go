// Package localpg finds or fetches PostgreSQL binaries and runs a private
// cluster with them: one data directory, one owner, one port on 127.0.0.1.
//
// It is made for `shop demo` and for tests. Recovery is the normal path: a
// cluster whose owner was killed is stopped and started again on the same data
// by the next Start, and a data directory has one living owner at a time.
package localpg

import (
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// MinMajor is the oldest PostgreSQL major version that Start accepts.
const MinMajor = 15

// superuser is the role that initdb makes and that Cluster.URL signs in as.
const superuser = "postgres"

// Config says where a cluster lives and how it runs. DataDir is required.
type Config struct {
	// DataDir holds the cluster files and the generated password. It is made
	// if missing and kept after Stop. It must be for this cluster alone.
	//
	// As root the server runs as an ordinary account. If that account cannot
	// reach DataDir (below a home directory of mode 0700, say), the files are
	// kept in a place that it can reach and DataDir gets a note that says
	// where; see NoteName.
	DataDir string

	// RuntimeDir holds the unix socket, the pid file and the server log,
	// apart from the data. Empty means a new short temporary directory that
	// goes away when the cluster stops.
	RuntimeDir string

	// Port on 127.0.0.1; 0 takes a free one.
	Port int

	// BinDir is the directory with initdb, postgres and pg_ctl, usually the
	// value of SHOP_PG_BIN. Empty means the search that FindBin describes,
	// and a download if that finds nothing.
	BinDir string

	// Settings are extra server settings such as fsync=off, given on the
	// command line of the server, so that they hold for this start only.
	Settings map[string]string

	// Tether stops the cluster (immediate shutdown) when this process ends,
	// however it ends, SIGKILL included. Without it a cluster outlives a
	// killed owner until the next Start on the same DataDir.
	Tether bool

	// Ephemeral removes DataDir once the cluster has stopped, and stops it
	// without a checkpoint. Together with Tether it also does so when this
	// process is killed.
	Ephemeral bool

	// Logger gets a few lines about starting and stopping; nil discards them.
	Logger *slog.Logger
}

// ownSettings are decided by Start and cannot be overridden: the cluster would
// not be where URL and Stop look for it.
var ownSettings = []string{
	"config_file", "data_directory", "external_pid_file", "hba_file", "listen_addresses",
	"log_destination", "logging_collector", "port", "unix_socket_directories",
}

var settingName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$`)

func (c Config) withDefaults() (Config, error) {
	if c.DataDir == "" {
		return c, fmt.Errorf("localpg: DataDir is empty: give the directory that shall hold the cluster files")
	}
	for _, dir := range []*string{&c.DataDir, &c.RuntimeDir, &c.BinDir} {
		if *dir == "" {
			continue
		}
		if strings.ContainsAny(*dir, "\x00\n") {
			return c, fmt.Errorf("localpg: %q is not usable as a directory: it contains a line break or NUL", *dir)
		}
		abs, err := filepath.Abs(*dir)
		if err != nil {
			return c, fmt.Errorf("localpg: resolving directory %s: %w", *dir, err)
		}
		*dir = abs
	}
	if c.RuntimeDir != "" && (isWithin(c.RuntimeDir, c.DataDir) || isWithin(c.DataDir, c.RuntimeDir)) {
		return c, fmt.Errorf("localpg: RuntimeDir %s and DataDir %s must not contain each other", c.RuntimeDir, c.DataDir)
	}
	if c.Port < 0 || c.Port > 65535 {
		return c, fmt.Errorf("localpg: Port is %d: expected 0 (a free port) or 1 to 65535", c.Port)
	}
	for name := range c.Settings {
		if !settingName.MatchString(name) {
			return c, fmt.Errorf("localpg: %q is not the name of a PostgreSQL setting, such as max_connections", name)
		}
		if slices.Contains(ownSettings, strings.ToLower(name)) {
			return c, fmt.Errorf("localpg: setting %s is decided by localpg: use Port, DataDir or RuntimeDir instead", name)
		}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	return c, nil
}

// isWithin tells whether path is dir or lies below it. Both are absolute.
func isWithin(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
