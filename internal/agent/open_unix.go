//go:build unix

package agent

import "syscall"

// openSafely keeps an open from following a link that was put in a file's place,
// and from waiting for the writer of a pipe.
const openSafely = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
