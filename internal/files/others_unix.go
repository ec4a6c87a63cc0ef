//go:build unix

package files

import (
	"errors"
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

// readOnly reports whether a path is on a file system that nobody can write to here.
func readOnly(path string) bool {
	const write = 2
	return errors.Is(syscall.Access(path, write), syscall.EROFS)
}
