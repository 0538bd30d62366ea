package demo

import (
	"fmt"
	"io"
	"net"
	"strconv"
)

// ports are the addresses on which the parts listen.
type ports struct{ web, stripe, inbox, smtp, worker string }

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
	take := func(what string) (string, error) {
		for range tries {
			if next > 65535 {
				break
			}
			free, err := listenable(host, next)
			if free != "" {
				next++
				if anywhere {
					next = 0
				}
				return free, nil
			}
			fmt.Fprintf(out, "  port %d is taken (%v), so the %s tries the next one\n", next, err, what)
			next++
		}
		return "", fmt.Errorf("no free port for the %s on %s; give another one with --addr", what, host)
	}
	var p ports
	for _, part := range []struct {
		what string
		into *string
	}{{"shop", &p.web}, {"local Stripe", &p.stripe}, {"inbox", &p.inbox}, {"mail server", &p.smtp}, {"worker", &p.worker}} {
		if *part.into, err = take(part.what); err != nil {
			return ports{}, err
		}
	}
	return p, nil
}

// listenable returns the address when one can listen there. Between this look
// and the child's own listening somebody else may take it; then the child says
// so in its log and is started again.
func listenable(host string, port int) (string, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}
