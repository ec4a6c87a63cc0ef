//go:build unix

package machine

import (
	"io/fs"
	"os"
	"syscall"
)

// ownerOf is whose a file is, and whether it is ours. Root, too, uses nobody
// else's: they could change it.
func ownerOf(info fs.FileInfo) (uid int, ours bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return -1, false
	}
	return int(st.Uid), int(st.Uid) == os.Geteuid()
}

func writableByOthers(info fs.FileInfo) bool { return info.Mode().Perm()&0o022 != 0 }
