package turn

import (
	"errors"
	"syscall"

	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/store"
)

// noRoom reports whether the machine's disk takes nothing more. That is no fault of
// a turn, and uses none of its attempts: it waits.
func noRoom(err error) bool {
	if _, db := errors.AsType[*store.DiskError](err); db {
		return true
	}
	if command, ok := errors.AsType[*git.CommandError](err); ok && command.NoRoom() {
		return true
	}
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EROFS)
}
