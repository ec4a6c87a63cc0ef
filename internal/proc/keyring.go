//go:build linux

package proc

import (
	"errors"
	"fmt"
	"syscall"
)

// keyctlJoinSessionKeyring is KEYCTL_JOIN_SESSION_KEYRING of keyctl(2).
const keyctlJoinSessionKeyring = 1

// joinNewKeyring gives the calling thread, and programs that it starts, a new unnamed session
// keyring. If the system denies keyctl to us, it denies it to the program, too.
func joinNewKeyring() error {
	_, _, errno := syscall.RawSyscall(syscall.SYS_KEYCTL, keyctlJoinSessionKeyring, 0, 0)
	switch {
	case errno == 0, errors.Is(errno, syscall.ENOSYS), errors.Is(errno, syscall.EPERM), errors.Is(errno, syscall.EACCES):
		return nil
	}
	return fmt.Errorf("make a session keyring: %w", errno)
}
