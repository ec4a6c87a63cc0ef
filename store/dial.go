package store

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"
)

// The server and this side close a connection whose other side does not answer for this long.
const (
	keepAlive  = 10 * time.Second // between the three tries
	unanswered = 30 * time.Second
)

// dialer connects to a server. A connection to a machine that is gone fails within unanswered: the system
// itself would try for a quarter of an hour.
func dialer() *net.Dialer {
	return &net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: keepAlive, Interval: keepAlive, Count: 3}, Control: boundUnanswered}
}

// How long one statement may take until the server sends the next byte: a server, or what is between, may
// accept all that is sent, and answer nothing. A writer may wait for the rows of a transaction whose machine
// is gone. Tests have less time.
var (
	readerWaits = unanswered
	writerWaits = idleInTransaction + unanswered
)

// dialWithin connects to a server that has to answer within a time from then on.
func dialWithin(within time.Duration) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dialer().DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &boundConn{Conn: conn, within: within}, nil
	}
}

// boundConn is a connection on which no read takes longer than a time.
type boundConn struct {
	net.Conn
	within time.Duration
	mu     sync.Mutex
	until  time.Time // the deadline that was set; zero: none
}

// errSilent says that a server accepts what is sent, and does not answer.
var errSilent = errors.New("it has not answered")

// Read is part of net.Conn.
func (c *boundConn) Read(b []byte) (int, error) {
	c.mu.Lock()
	most := time.Now().Add(c.within) //nolint:forbidigo // the network has no other clock
	ours := c.until.IsZero() || most.Before(c.until)
	if !ours {
		most = c.until
	}
	err := c.Conn.SetReadDeadline(most)
	c.mu.Unlock()
	if err != nil {
		return 0, err
	}
	n, err := c.Conn.Read(b)
	if ours && errors.Is(err, os.ErrDeadlineExceeded) && !time.Now().Before(most) { //nolint:forbidigo // as before
		err = fmt.Errorf("%w for %s: %w", errSilent, c.within, err) // pgx closes a connection with which it has run out of time
	}
	return n, err
}

// SetDeadline is part of net.Conn.
func (c *boundConn) SetDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.until = t
	return c.Conn.SetDeadline(t)
}

// SetReadDeadline is part of net.Conn.
func (c *boundConn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.until = t
	return c.Conn.SetReadDeadline(t)
}
