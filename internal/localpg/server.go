package localpg

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// server is one running postmaster, a direct child of this process.
type server struct {
	cmd     *exec.Cmd
	log     *os.File
	logFrom int64
	done    chan struct{} // closed when the process has been reaped
}

// launch starts the server; it is not ready yet when launch returns.
func launch(p place, r runtimeDirs, acct account, bin string, port int, settings map[string]string) (*server, error) {
	log, err := r.openLog()
	if err != nil {
		return nil, err
	}
	socketDirs := `"` + strings.ReplaceAll(r.socket, `"`, `""`) + `"`
	args := []string{"-D", p.cluster(),
		"-c", "port=" + strconv.Itoa(port),
		"-c", "listen_addresses=127.0.0.1",
		"-c", "unix_socket_directories=" + socketDirs,
		"-c", "external_pid_file=" + r.socket + "/postgresql.pid",
		"-c", "log_destination=stderr",
		"-c", "logging_collector=off",
	}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		args = append(args, "-c", name+"="+settings[name])
	}
	s := &server{log: log, done: make(chan struct{})}
	if info, err := log.Stat(); err == nil {
		s.logFrom = info.Size()
	}
	s.cmd = acct.command(context.Background(), bin, "postgres", args...)
	s.cmd.Stdout, s.cmd.Stderr = log, log
	if err := s.cmd.Start(); err != nil {
		log.Close()
		return nil, fmt.Errorf("localpg: starting %s: %w", s.cmd.Path, err)
	}
	go func() {
		_ = s.cmd.Wait()
		log.Close()
		close(s.done)
	}()
	return s, nil
}

// errExited says that the server ended before it was ready; said is its log.
type errExited struct{ said string }

func (e *errExited) Error() string {
	return "localpg: the server ended while starting; it said:\n" + e.said
}

// waitReady connects until the server lets us in. Recovery after a crash may
// take as long as it takes; ctx is the limit.
func (s *server) waitReady(ctx context.Context, url string) error {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return fmt.Errorf("localpg: connection string: %w", err)
	}
	config.ConnectTimeout = 5 * time.Second
	address := net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port)))
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		// Dialling first keeps the many early attempts cheap.
		probe, err := net.DialTimeout("tcp", address, time.Second)
		if err == nil {
			probe.Close()
			var conn *pgx.Conn
			if conn, err = pgx.ConnectConfig(ctx, config); err == nil {
				return conn.Close(ctx)
			}
		}
		var refused *pgconn.PgError
		if errors.As(err, &refused) && strings.HasPrefix(refused.Code, "28") { // invalid authorization
			return fmt.Errorf("localpg: the server refuses the password kept beside its data: %w", err)
		}
		select {
		case <-s.done:
			return &errExited{said: s.said()}
		case <-ctx.Done():
			return fmt.Errorf("localpg: waiting for the server: %w; last answer: %v; it said:\n%s", ctx.Err(), err, s.said())
		case <-tick.C:
		}
	}
}

// said is the end of what this run of the server wrote to its log.
func (s *server) said() string {
	file, err := os.Open(s.log.Name())
	if err != nil {
		return ""
	}
	defer file.Close()
	const most = 4 << 10
	from := s.logFrom
	if info, err := file.Stat(); err == nil && info.Size()-from > most {
		from = info.Size() - most
	}
	text, _ := io.ReadAll(io.NewSectionReader(file, from, most))
	return strings.TrimSpace(string(text))
}

// kill ends a server that is of no further use.
func (s *server) kill() {
	_ = s.cmd.Process.Signal(immediateShutdown)
	select {
	case <-s.done:
	case <-time.After(5 * time.Second):
		_ = s.cmd.Process.Kill()
		<-s.done
	}
}
