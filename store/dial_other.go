//go:build !linux

package store

import "syscall"

// boundUnanswered is nil where keepalives are all there is.
var boundUnanswered func(network, address string, c syscall.RawConn) error
