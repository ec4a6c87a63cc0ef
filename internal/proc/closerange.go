//go:build linux

package proc

import (
	"math"
	"syscall"
)

// From close_range(2). The number is the same on all processors of our releases.
const (
	sysCloseRange     = 436
	closeRangeCloexec = 1 << 2
)

// closeOnExecFrom marks all descriptors from first on; false if the system cannot.
func closeOnExecFrom(first uintptr) bool {
	_, _, errno := syscall.RawSyscall(sysCloseRange, first, math.MaxUint32, closeRangeCloexec)
	return errno == 0
}
