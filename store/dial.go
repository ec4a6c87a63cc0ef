package store

import (
	"net"
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
