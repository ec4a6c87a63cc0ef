package store

import (
	"strings"
	"syscall"
)

// tcpUserTimeout is TCP_USER_TIMEOUT of tcp(7).
const tcpUserTimeout = 18

// boundUnanswered bounds how long the kernel waits for an answer to what was sent; keepalives are sent
// only while nothing waits for one. Where the kernel has no such bound they are all there is.
func boundUnanswered(network, _ string, c syscall.RawConn) error {
	if !strings.HasPrefix(network, "tcp") {
		return nil
	}
	return c.Control(func(fd uintptr) {
		_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(unanswered.Milliseconds()))
	})
}
