package localpg

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// Start runs the cluster in c.DataDir, which it makes if there is none, and
// returns when it accepts connections. A server that a killed owner left there
// is stopped first; data committed to it is kept.
//
// ctx limits the starting only. Errors: *InUseError if another living process
// owns the directory, *NotFoundError (joined with the failed download) if there
// are no binaries.
func Start(ctx context.Context, c Config) (*Cluster, error) {
	return start(ctx, c, defaultFetch())
}

func start(ctx context.Context, c Config, fetch fetcher) (_ *Cluster, err error) {
	c, err = c.withDefaults()
	if err != nil {
		return nil, err
	}
	if c.Port != 0 && !portIsFree(c.Port) {
		return nil, portInUse(c.Port)
	}
	began := time.Now()
	var undo []func()
	defer func() {
		if err != nil {
			for _, step := range slices.Backward(undo) {
				step()
			}
		}
	}()

	p, acct, held, err := settle(c.DataDir, c.Logger)
	if err != nil {
		return nil, err
	}
	undo = append(undo, held.release)
	if err := stopStale(p.cluster(), c.Logger); err != nil {
		return nil, fmt.Errorf("localpg: data directory %s: %w", c.DataDir, err)
	}
	major, err := p.madeBy()
	if err != nil {
		return nil, err
	}
	bin, err := binaries(ctx, c, major, acct, fetch)
	if err != nil {
		return nil, err
	}
	fresh := major == 0
	if fresh && c.Ephemeral {
		undo = append(undo, func() { _ = removeTree(p.dir) })
	}
	if fresh {
		if err := p.initCluster(ctx, bin, acct); err != nil {
			return nil, err
		}
	}
	password, err := p.readPassword()
	if err != nil {
		return nil, err
	}
	runtime, err := makeRuntime(c.RuntimeDir, acct)
	if err != nil {
		return nil, err
	}
	if runtime.temp != "" {
		undo = append(undo, func() { _ = removeTree(runtime.temp) })
	}
	cluster := &Cluster{port: c.Port, password: password, place: p, runtime: runtime, lock: held,
		ephemeral: c.Ephemeral, log: c.Logger, done: make(chan struct{})}
	if c.Tether {
		if cluster.tether, err = startTether(p, cluster.discards()); err != nil {
			return nil, err
		}
		undo = append(undo, cluster.tether.release)
	}
	if err := cluster.run(ctx, c, acct, bin); err != nil {
		return nil, err
	}
	go cluster.tidy()
	c.Logger.Info("PostgreSQL is ready", "port", cluster.port, "bin", bin, "dir", p.dir, "fresh", fresh,
		"took_ms", time.Since(began).Milliseconds())
	return cluster, nil
}

// run launches the server until one start succeeds: a free port may be taken
// by another process before the server binds it, and what is left of a killed
// server needs a moment to go.
func (c *Cluster) run(ctx context.Context, config Config, acct account, bin string) error {
	giveUp := time.Now().Add(15 * time.Second)
	for {
		if config.Port == 0 {
			port, err := freePort()
			if err != nil {
				return err
			}
			c.port = port
		}
		server, err := launch(c.place, c.runtime, acct, bin, c.port, config.Settings)
		if err != nil {
			return err
		}
		if c.tether != nil {
			err = c.tether.hold(server.cmd.Process.Pid)
		}
		if err == nil {
			err = server.waitReady(ctx, c.URL(superuser))
		}
		if err == nil {
			c.server = server
			return nil
		}
		server.kill()
		again, newPort := retryable(err)
		if newPort && config.Port != 0 {
			return errors.Join(portInUse(config.Port), err)
		}
		if !again || time.Now().After(giveUp) || ctx.Err() != nil {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// discards are the directories that go when the owner does not live to remove
// them itself.
func (c *Cluster) discards() []string {
	var dirs []string
	if c.runtime.temp != "" {
		dirs = append(dirs, c.runtime.temp)
	}
	if c.ephemeral {
		dirs = append(dirs, c.place.dir)
		if c.place.moved() {
			dirs = append(dirs, c.place.wanted)
		}
	}
	return dirs
}

// binaries finds or fetches what runs this cluster. A cluster made by one
// major version can only be run by the same one.
func binaries(ctx context.Context, c Config, major int, acct account, fetch fetcher) (string, error) {
	bin, err := fetch.finder.find(c.BinDir, major)
	var none *NotFoundError
	if errors.As(err, &none) {
		fetched, fetchErr := fetch.fetch(ctx, major, c.Logger)
		if fetchErr != nil {
			return "", fmt.Errorf("localpg: %w\ndownloading it instead failed: %w", forMajor(err, major, c.DataDir), fetchErr)
		}
		bin, err = fetched, nil
	}
	if err != nil {
		return "", fmt.Errorf("localpg: %w", forMajor(err, major, c.DataDir))
	}
	if err := acct.canRun(filepath.Join(bin, "postgres")); err != nil {
		return "", fmt.Errorf("localpg: %w: as root the server runs as that user; install PostgreSQL where it can reach it", err)
	}
	return bin, nil
}

func forMajor(err error, major int, dir string) error {
	if major == 0 {
		return err
	}
	return fmt.Errorf("the cluster in %s was made by PostgreSQL %d and needs that version (or an empty directory to start over): %w", dir, major, err)
}

func freePort() (int, error) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("localpg: looking for a free port: %w", err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

func portIsFree(port int) bool {
	listener, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return false
	}
	return listener.Close() == nil
}

func portInUse(port int) error {
	return fmt.Errorf("localpg: port %d on 127.0.0.1 is in use: stop what listens there, or choose another port (0 takes a free one)", port)
}
