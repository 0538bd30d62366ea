package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// TestMain is also the program: as withpg, and as the command that it runs.
func TestMain(m *testing.M) {
	switch os.Getenv("WITHPG_TEST_ROLE") {
	case "withpg":
		os.Setenv("WITHPG_TEST_ROLE", "command")
		main()
	case "command":
		os.Exit(command(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// command counts the server's connection limit, and then does as it is told.
func command(args []string) int {
	url := os.Getenv("TEST_DATABASE_URL")
	conn, err := pgx.Connect(context.Background(), url)
	if err != nil {
		os.Stderr.WriteString(err.Error())
		return 90
	}
	var limit, fsync string
	if err := conn.QueryRow(context.Background(), `SELECT current_setting('max_connections'), current_setting('fsync')`).Scan(&limit, &fsync); err != nil {
		return 91
	}
	os.Stdout.WriteString(limit + " " + fsync + " " + url + "\n")
	if args[0] == "wait" {
		_, _ = io.Copy(io.Discard, os.Stdin) // ends with the test at the latest
		return 92
	}
	code, _ := strconv.Atoi(args[0])
	return code
}

type program struct {
	*exec.Cmd
	out  *bufio.Reader
	errs string // file: unlike a pipe it ends with the process
	temp string
}

func start(t *testing.T, args ...string) *program {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	temp, err := os.MkdirTemp("", "withpg-test-")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(temp, 0o755))
	t.Cleanup(func() { os.RemoveAll(temp) })
	for i, arg := range args {
		if arg == "SELF" {
			args[i] = self
		}
	}
	p := &program{Cmd: exec.Command(self, args...), errs: filepath.Join(t.TempDir(), "errs"), temp: temp}
	p.Env = append(os.Environ(), "WITHPG_TEST_ROLE=withpg", "TMPDIR="+temp)
	p.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no terminal: SIGINT below comes from nobody's keyboard
	p.Stderr, err = os.Create(p.errs)
	require.NoError(t, err)
	in, err := p.StdinPipe()
	require.NoError(t, err)
	out, err := p.StdoutPipe()
	require.NoError(t, err)
	p.out = bufio.NewReader(out)
	require.NoError(t, p.Start())
	t.Cleanup(func() { _ = in.Close(); _ = p.Process.Kill(); _ = p.Wait() })
	return p
}

func (p *program) code(t *testing.T) int {
	t.Helper()
	err := p.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	require.NoError(t, err)
	return 0
}

func (p *program) said() string {
	text, _ := os.ReadFile(p.errs)
	return string(text)
}

func (p *program) line(t *testing.T) string {
	t.Helper()
	line, err := p.out.ReadString('\n')
	require.NoError(t, err, p.said())
	return line
}

func (p *program) requireNothingLeft(t *testing.T, url string) {
	t.Helper()
	require.Eventually(t, func() bool {
		left, err := filepath.Glob(filepath.Join(p.temp, "*"))
		if err != nil || len(left) > 0 {
			return false
		}
		conn, err := pgx.Connect(context.Background(), url)
		if err == nil {
			conn.Close(context.Background())
		}
		return err != nil
	}, 10*time.Second, 20*time.Millisecond)
}

func TestExitCodeAndSettings(t *testing.T) {
	t.Parallel()
	for _, code := range []int{0, 7} {
		p := start(t, "--", "SELF", strconv.Itoa(code))
		line := p.line(t)
		require.True(t, strings.HasPrefix(line, "300 off postgres://"), line)
		require.Equal(t, code, p.code(t), p.said())
		p.requireNothingLeft(t, strings.Fields(line)[2])
	}
}

func TestSignalIsPassedOn(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		p := start(t, "--", "SELF", "wait")
		line := p.line(t)
		require.NoError(t, p.Process.Signal(sig))
		require.Equal(t, 128+int(sig), p.code(t), p.said())
		p.requireNothingLeft(t, strings.Fields(line)[2])
	}
}

func TestKilled(t *testing.T) {
	t.Parallel()
	p := start(t, "--", "SELF", "wait")
	line := p.line(t)
	require.NoError(t, p.Process.Kill())
	p.requireNothingLeft(t, strings.Fields(line)[2])
}

func TestKeep(t *testing.T) {
	t.Parallel()
	p := start(t, "--keep", "--", "SELF", "3")
	line := p.line(t)
	require.Eventually(t, func() bool { return strings.Contains(p.said(), "kept until Ctrl-C:\n  psql 'postgres://") },
		10*time.Second, 10*time.Millisecond)
	conn, err := pgx.Connect(context.Background(), strings.Fields(line)[2])
	require.NoError(t, err, "the cluster has not")
	require.NoError(t, conn.Close(context.Background()))
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	require.Equal(t, 3, p.code(t))
	p.requireNothingLeft(t, strings.Fields(line)[2])
}

func TestMisuse(t *testing.T) {
	t.Parallel()
	var errs bytes.Buffer
	require.Equal(t, exitUsage, run(nil, &errs))
	require.Contains(t, errs.String(), "usage: withpg")
	require.Equal(t, exitUsage, run([]string{"--nonsense"}, &errs))

	p := start(t, "--", "no-such-command-here")
	require.Equal(t, exitNotFound, p.code(t))
	p.requireNothingLeft(t, "postgres://127.0.0.1:1/x")
}
