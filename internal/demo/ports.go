package demo

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
)

// port is an address that is ours: the demo listens on it and hands the socket
// to the part. So nobody can take it between the choice and the start, and it
// stays ours while a part that died is started again: who connects meanwhile
// waits and is not refused.
type port struct {
	addr   string
	socket *os.File
}

// ports are where the parts listen.
type ports struct{ web, stripe, inbox, smtp, worker port }

func (p ports) close() {
	for _, one := range []port{p.web, p.stripe, p.inbox, p.smtp, p.worker} {
		if one.socket != nil {
			_ = one.socket.Close() // it may be closed already
		}
	}
}

// tries is how many ports after the wanted one are looked at.
const tries = 200

// choosePorts finds a free address for each part, counting up from the shop's,
// and names the ones that are taken.
func choosePorts(addr string, out io.Writer) (ports, error) {
	host, portText, err := net.SplitHostPort(addr)
	if err != nil {
		return ports{}, fmt.Errorf("--addr is %q, which is not an address; write it like 127.0.0.1:8080", addr)
	}
	next, err := strconv.Atoi(portText)
	if err != nil || next < 0 || next > 65535 {
		return ports{}, fmt.Errorf("--addr is %q: the port must be a number from 0 to 65535, such as 8080", addr)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	anywhere := next == 0
	take := func(what string) (port, error) {
		for range tries {
			if next > 65535 {
				break
			}
			free, err := listen(host, next)
			if err == nil {
				next++
				if anywhere {
					next = 0
				}
				return free, nil
			}
			fmt.Fprintf(out, "  port %d is taken (%v), so the %s gets the next one\n", next, errors.Unwrap(err), what)
			next++
		}
		return port{}, fmt.Errorf("no free port for the %s on %s; give another one with --addr", what, host)
	}
	var p ports
	for _, part := range []struct {
		what string
		into *port
	}{{"shop", &p.web}, {"local Stripe", &p.stripe}, {"inbox", &p.inbox}, {"mail server", &p.smtp}, {"worker's health check", &p.worker}} {
		if *part.into, err = take(part.what); err != nil {
			p.close()
			return ports{}, err
		}
	}
	return p, nil
}

// listen takes an address and the socket that listens on it.
func listen(host string, number int) (port, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(number)))
	if err != nil {
		return port{}, err
	}
	defer l.Close() // the file below is a socket of its own
	tcp, ok := l.(*net.TCPListener)
	if !ok {
		return port{}, fmt.Errorf("listening on %s: not a TCP socket", l.Addr())
	}
	socket, err := tcp.File()
	if err != nil {
		return port{}, fmt.Errorf("keeping the socket of %s: %w", l.Addr(), err)
	}
	return port{addr: l.Addr().String(), socket: socket}, nil
}
