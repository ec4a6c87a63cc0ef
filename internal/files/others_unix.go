//go:build unix

package files

import (
	"io/fs"
	"os"
	"syscall"
)

// OwnerOf returns a file's owner and whether that is us. Root, too, trusts no other user's files:
// the owner could change them.
func OwnerOf(info fs.FileInfo) (uid int, ours bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return -1, false
	}
	return int(st.Uid), int(st.Uid) == os.Geteuid()
}

// WritableByOthers reports whether the group or everybody may write.
func WritableByOthers(info fs.FileInfo) bool { return info.Mode().Perm()&0o022 != 0 }

// readOnly reports whether a path is on a file system that is mounted read-only. That a write is not
// permitted says less: of another user's file it is said first.
func readOnly(path string) bool {
	const flag = 1 // ST_RDONLY of Linux, MNT_RDONLY of others
	var mounted syscall.Statfs_t
	return syscall.Statfs(path, &mounted) == nil && mounted.Flags&flag != 0
}

// OpenSafely are flags for an open that does not follow a link put in place of the file, and does
// not wait for the writer of a pipe.
const OpenSafely = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
