//go:build unix

package files

import "syscall"

// OpenSafely are flags for an open that does not follow a link put in place of the file, and does
// not wait for the writer of a pipe.
const OpenSafely = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
