package localpg

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
)

// Cluster is a running PostgreSQL cluster that this process owns.
type Cluster struct {
	port      int
	password  string
	place     place
	runtime   runtimeDirs
	server    *server
	tether    *tether
	lock      *lock
	ephemeral bool
	log       *slog.Logger
	done      chan struct{}
	stopping  sync.Mutex
}

// URL is the connection string of a database, over TCP on 127.0.0.1, as the
// superuser. The database need not exist; see EnsureDatabase.
func (c *Cluster) URL(database string) string {
	u := url.URL{
		Scheme:   "postgres",
		User:     url.UserPassword(superuser, c.password),
		Host:     "127.0.0.1:" + strconv.Itoa(c.port),
		Path:     "/" + database,
		RawQuery: "sslmode=disable",
	}
	return u.String()
}

// Port is the TCP port on 127.0.0.1.
func (c *Cluster) Port() int { return c.port }

// LogPath is the server's log file.
func (c *Cluster) LogPath() string { return c.runtime.log }

// Dir is where the cluster files are: Config.DataDir, or the place that the
// note in it names.
func (c *Cluster) Dir() string { return c.place.dir }

// Done is closed when the server has ended, by Stop or by itself, and the data
// directory is free for another Start.
func (c *Cluster) Done() <-chan struct{} { return c.done }

// EnsureDatabase creates a database unless it exists.
func (c *Cluster) EnsureDatabase(ctx context.Context, name string) error {
	conn, err := pgx.Connect(ctx, c.URL(superuser))
	if err != nil {
		return fmt.Errorf("creating database %s: %w", name, err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var exists bool
	if err := conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)`, name).Scan(&exists); err != nil {
		return fmt.Errorf("looking for database %s: %w", name, err)
	}
	if exists {
		return nil
	}
	if _, err := conn.Exec(ctx, `CREATE DATABASE `+pgx.Identifier{name}.Sanitize()); err != nil {
		return fmt.Errorf("creating database %s: %w", name, err)
	}
	return nil
}

// Stop ends the server by a fast shutdown: open transactions are rolled back,
// everything committed is on disk. If ctx ends first, the shutdown is made
// immediate (the next start recovers, nothing committed is lost) and the
// error says so. Stopping a stopped cluster does nothing.
func (c *Cluster) Stop(ctx context.Context) error {
	c.stopping.Lock()
	defer c.stopping.Unlock()
	select {
	case <-c.done:
		return nil
	default:
	}
	signal := fastShutdown
	if c.ephemeral {
		signal = immediateShutdown
	}
	if err := c.server.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stopping PostgreSQL: %w", err)
	}
	select {
	case <-c.done:
		return nil
	case <-ctx.Done():
	}
	c.server.kill()
	<-c.done
	return fmt.Errorf("stopping PostgreSQL: %w before it had shut down by itself; it was stopped at once and recovers at the next start", ctx.Err())
}

// tidy waits for the server to end, for whatever reason, and lets go of all
// that belonged to the run.
func (c *Cluster) tidy() {
	<-c.server.done
	if c.tether != nil {
		c.tether.release()
	}
	if c.runtime.temp != "" {
		_ = removeTree(c.runtime.temp)
	}
	if c.ephemeral {
		if c.place.moved() {
			_ = removeTree(c.place.wanted)
		}
		if err := removeTree(c.place.dir); err != nil {
			c.log.Warn("removing a cluster that was not to be kept", "dir", c.place.dir, "error", err)
		}
	}
	c.lock.release()
	c.log.Info("PostgreSQL has stopped", "port", c.port)
	close(c.done)
}

// retryable tells whether an early end of the server may be overcome by
// starting again, and whether a new port is needed for it.
func retryable(err error) (again, newPort bool) {
	var exited *errExited
	if !errors.As(err, &exited) {
		return false, false
	}
	switch {
	case strings.Contains(exited.said, "shared memory block"):
		// Processes of a killed server are still on their way out.
		return true, false
	case strings.Contains(exited.said, "could not bind"), strings.Contains(exited.said, "could not create any TCP/IP sockets"):
		return true, true
	}
	return false, false
}
