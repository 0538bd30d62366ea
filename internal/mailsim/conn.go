package mailsim

import (
	"bufio"
	"net"
	"time"
)

// listener hands out connections that can be watched for their end, and closes
// those that a fault refuses.
type listener struct {
	net.Listener
	faults *faults
}

func (l *listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.faults.strike(faultRefuse) {
			_ = conn.Close()
			continue
		}
		return &watchedConn{Conn: conn, r: bufio.NewReader(conn)}, nil
	}
}

// watchedConn buffers what it reads, so that looking whether the other side is
// still there loses nothing that it sends.
type watchedConn struct {
	net.Conn
	r *bufio.Reader
}

func (c *watchedConn) Read(p []byte) (int, error) { return c.r.Read(p) }

// endsBefore waits until the connection ends (true) or done is closed (false).
// Nobody else may read meanwhile.
func (c *watchedConn) endsBefore(done <-chan struct{}) bool {
	_ = c.SetReadDeadline(time.Time{})
	peeked := make(chan error, 1)
	go func() {
		_, err := c.r.Peek(1)
		peeked <- err
	}()
	select {
	case err := <-peeked:
		if err != nil {
			return true
		}
		<-done // it has sent something, so its end can no longer be seen
		return false
	case <-done:
		_ = c.SetReadDeadline(time.Unix(1, 0)) // wakes the peek
		<-peeked
		_ = c.SetReadDeadline(time.Time{})
		return false
	}
}
