//go:build linux && !android

package proc

import (
	"math"
	"syscall"
)

// Of close_range(2). The number is the same on all processors that a release is
// built for.
const (
	sysCloseRange     = 436
	closeRangeCloexec = 1 << 2
)

// closeOnExecFrom marks all descriptors from the first one on. It is false where
// the system cannot.
func closeOnExecFrom(first uintptr) bool {
	_, _, errno := syscall.RawSyscall(sysCloseRange, first, math.MaxUint32, closeRangeCloexec)
	return errno == 0
}
