// Command withpg runs another command beside a throwaway PostgreSQL cluster:
//
//	go run ./internal/localpg/withpg -- go test ./...
//
// The command finds the superuser's connection string to the database postgres
// in TEST_DATABASE_URL. Its exit code becomes the exit code (128+n for signal
// n), signals are passed on, and the cluster goes when the command ends or
// this process is killed. The cluster forgets what a power cut would cost: it
// never syncs. SHOP_PG_BIN names the binaries, as everywhere.
//
// Note that `go run` reports any failing exit code as 1; build the command
// where the number matters.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"shop/internal/localpg"
)

// Exit codes of a shell for what it could not run.
const (
	exitUsage      = 2
	exitNoCluster  = 125
	exitNotRunable = 126
	exitNotFound   = 127
)

func main() {
	os.Exit(run(os.Args[1:], os.Stderr))
}

func run(args []string, stderr io.Writer) int {
	flags := flag.NewFlagSet("withpg", flag.ContinueOnError)
	flags.SetOutput(stderr)
	keep := flags.Bool("keep", false, "keep the cluster after the command, until Ctrl-C, to look at what is in it")
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: withpg [--keep] -- COMMAND ARGS…")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return exitUsage
	}
	if flags.NArg() == 0 {
		flags.Usage()
		return exitUsage
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)

	cluster, err := startCluster(signals)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return exitNoCluster
	}
	url := cluster.URL("postgres")
	code := runCommand(flags.Args(), url, signals, stderr)
	if *keep {
		fmt.Fprintf(stderr, "withpg: the command ended with %d; the cluster is kept until Ctrl-C:\n  psql '%s'\n", code, url)
		<-signals
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := cluster.Stop(ctx); err != nil {
		fmt.Fprintln(stderr, err)
	}
	return code
}

// startCluster starts it unless a signal comes first.
func startCluster(signals <-chan os.Signal) (*localpg.Cluster, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	started := make(chan struct{})
	defer close(started)
	go func() {
		select {
		case <-signals:
			cancel()
		case <-started:
		}
	}()
	dir, err := os.MkdirTemp("", "shop-withpg-")
	if err != nil {
		return nil, fmt.Errorf("withpg: making a directory for the cluster: %w", err)
	}
	return localpg.Start(ctx, localpg.Config{
		DataDir: dir,
		BinDir:  os.Getenv("SHOP_PG_BIN"),
		Settings: map[string]string{
			"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "max_connections": "300",
		},
		Tether:    true,
		Ephemeral: true,
	})
}

// runCommand runs the command to its end and returns its exit code.
func runCommand(args []string, url string, signals <-chan os.Signal, stderr io.Writer) int {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), "TEST_DATABASE_URL="+url)
	if err := cmd.Start(); err != nil {
		fmt.Fprintf(stderr, "withpg: running %s: %v\n", args[0], err)
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
			return exitNotFound
		}
		return exitNotRunable
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case sig := <-signals:
			if !fromTerminal(sig) {
				_ = cmd.Process.Signal(sig)
			}
		case err := <-ended:
			return exitCode(err)
		}
	}
}

func exitCode(err error) int {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		if err != nil {
			return exitNotRunable
		}
		return 0
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return exit.ExitCode()
}
