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

// mayWrite finds out whether this process may write to a folder, without doing it.
func mayWrite(dir string) error {
	const write = 2
	return syscall.Access(dir, write)
}

// freeSpace is how many bytes there is room for where a folder is.
func freeSpace(dir string) (free int64, known bool) {
	var fs syscall.Statfs_t
	if syscall.Statfs(dir, &fs) != nil {
		return 0, false
	}
	return int64(fs.Bavail) * int64(fs.Bsize), true
}

func writableByOthers(info fs.FileInfo) bool { return info.Mode().Perm()&0o022 != 0 }
