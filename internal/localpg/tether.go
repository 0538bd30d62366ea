package localpg

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"strconv"
)

// watchdog reads the pid of the server and then waits for a line that does not
// come while its owner lives: the end of the pipe without "done" means that
// the owner is gone, whatever killed it. It stops only the server it was told
// about; a new owner's server has another pid.
const watchdog = `
trap '' HUP INT TERM
server=
while read -r word; do
	case $word in
	done) exit 0 ;;
	*) server=$word ;;
	esac
done
now=
[ -n "$server" ] && read -r now <"$1/postmaster.pid"
if [ -n "$now" ] && [ "$now" = "$server" ]; then
	kill -QUIT "$server"
	tries=0
	while kill -0 "$server" && [ "$tries" -lt 100 ]; do
		sleep 0.05
		tries=$((tries + 1))
	done
	kill -0 "$server" && kill -KILL "$server" && sleep 0.1
fi
shift
tries=0
while [ $# -gt 0 ] && ! rm -rf -- "$@" && [ "$tries" -lt 20 ]; do
	sleep 0.1
	tries=$((tries + 1))
done
`

// tether is a small process, in a process group of its own, that outlives its
// owner by one act. It runs as the owner does, who may remove what it made.
type tether struct {
	cmd  *exec.Cmd
	pipe io.WriteCloser
}

// startTether starts it before the server, so that there is hardly a moment in
// which the server could be orphaned. The directories in remove go when it acts.
func startTether(p place, remove []string) (*tether, error) {
	cmd := account{}.command(context.Background(), "/bin", "sh", append([]string{"-c", watchdog, "shop-pg-tether", p.cluster()}, remove...)...)
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("localpg: tethering the server: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("localpg: tethering the server: %w", err)
	}
	return &tether{cmd: cmd, pipe: pipe}, nil
}

// hold names the server to stop.
func (t *tether) hold(pid int) error {
	if _, err := io.WriteString(t.pipe, strconv.Itoa(pid)+"\n"); err != nil {
		return fmt.Errorf("localpg: tethering the server: %w", err)
	}
	return nil
}

// release ends the watchdog without effect.
func (t *tether) release() {
	_, _ = io.WriteString(t.pipe, "done\n")
	_ = t.pipe.Close()
	_ = t.cmd.Wait()
}
