// Package demo runs the whole of shop on one machine with nothing configured:
// a private PostgreSQL, a local Stripe, an inbox, the web server and a worker,
// each a process of its own, so that one can die without the others.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"shop/internal/localpg"
)

// Config of a demo.
type Config struct {
	Executable string // the shop binary, started once for each part
	DataDir    string // everything that is kept
	Addr       string // where the shop listens; the next free port when it is taken
	Currency   string
	PGBin      string // folder of PostgreSQL's programs; "" looks for them
	ReadyFile  string // where to write the addresses once all is up; "" nowhere
	Fresh      bool   // start over without the data of an earlier run
	Dev        bool   // list the stories
	Out        io.Writer
	Log        *slog.Logger // for what is not worth a line on the terminal
}

// database is the name of the demo's database.
const database = "shop"

// Run starts everything, says where it is, and keeps it running until ctx
// ends. Then it stops all of it in order and leaves the data.
func Run(ctx context.Context, c Config) (err error) {
	if c.DataDir, err = filepath.Abs(c.DataDir); err != nil {
		return fmt.Errorf("resolving the data folder: %w", err)
	}
	pgData := filepath.Join(c.DataDir, "postgres")
	if c.Fresh {
		if err := removeData(c.DataDir, pgData); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Join(c.DataDir, "logs"), 0o700); err != nil {
		return fmt.Errorf("making the data folder: %w", err)
	}
	keys, err := loadKeys(filepath.Join(c.DataDir, "keys.json"))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	server, err := startPostgres(ctx, localpg.Config{DataDir: pgData, BinDir: c.PGBin, Tether: true, Logger: c.Log}, c.Out)
	if err != nil {
		defer cancel()
		return endedByUser(ctx, err) // it may have been told to stop before it had begun
	}
	defer func() {
		cancel() // nobody starts it again from here on
		err = errors.Join(err, server.stop())
	}()
	cluster := server.current()
	// The data is ours from here on, and so is the ready file: one of an earlier
	// run would speak of addresses that are gone.
	if err := os.Remove(c.ReadyFile); c.ReadyFile != "" && err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing the ready file of an earlier run: %w", err)
	}
	if err := cluster.EnsureDatabase(ctx, database); err != nil {
		return err
	}
	ports, err := choosePorts(c.Addr, c.Out)
	if err != nil {
		return err
	}
	defer ports.close()
	d := &demo{Config: c, keys: keys, ports: ports, databaseURL: cluster.URL(database), databaseDir: cluster.Dir()}
	return d.run(ctx)
}

// demo is a demo with its database running.
type demo struct {
	Config
	keys        keys
	ports       ports
	databaseURL string
	databaseDir string // where the files of PostgreSQL really are
}

func (d *demo) run(ctx context.Context) error {
	children := d.parts()
	defer func() {
		fmt.Fprintln(d.Out, "  Stopping.")
		// The web server goes first: nobody should order from a shop that is closing.
		stopAll(children[:1])
		stopAll(children[1:])
	}()
	migrated := make(chan error, 1)
	go func() { migrated <- d.runOnce(ctx, "migrate", d.env("migrate")) }()
	for _, c := range children {
		if c.needsDatabase {
			continue
		}
		c.start(ctx)
	}
	if err := <-migrated; err != nil {
		return endedByUser(ctx, err)
	}
	for _, c := range children {
		if c.needsDatabase {
			c.start(ctx)
		}
	}
	for _, c := range children {
		if err := c.waitReady(ctx); err != nil {
			return endedByUser(ctx, err)
		}
	}
	orders, err := newAnnouncer(ctx, d.databaseURL, d.Out, d.Log)
	if err != nil {
		return endedByUser(ctx, err)
	}
	ready := d.ready()
	if err := ready.write(d.ReadyFile); err != nil {
		return err
	}
	defer func() {
		if d.ReadyFile != "" {
			_ = os.Remove(d.ReadyFile) // what it says is not true any more
		}
	}()
	ready.print(d.Out, d.kept())
	orders.run(ctx)
	return nil
}

// kept says where everything is. As root the database may have to live in a
// place that an unprivileged account can reach.
func (d *demo) kept() string {
	if strings.HasPrefix(d.databaseDir, d.DataDir+string(filepath.Separator)) {
		return d.DataDir
	}
	return d.DataDir + ",\n  and the database in " + d.databaseDir
}

// endedByUser hides errors that only say that somebody pressed Ctrl-C.
func endedByUser(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// removeData deletes what a demo keeps, and nothing else that may lie there.
func removeData(dir, pgData string) error {
	if err := localpg.Remove(pgData); err != nil {
		return fmt.Errorf("starting over: %w", err)
	}
	for _, name := range []string{"keys.json", "stripe.journal", "mail.journal", "logs"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("starting over: %w", err)
		}
	}
	return nil
}
