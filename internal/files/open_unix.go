//go:build unix

package files

import "syscall"

// OpenSafely keeps an open from following a link that was put in a file's place,
// and from waiting for the writer of a pipe.
const OpenSafely = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
