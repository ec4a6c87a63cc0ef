//go:build unix

package proc

import (
	"io/fs"
	"syscall"
)

// blocks returns a file's size on disk, its identity and whether it has several names.
func blocks(info fs.FileInfo) (n int64, id fileID, shared bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return info.Size(), fileID{}, false
	}
	return st.Blocks * 512, fileID{uint64(st.Dev), st.Ino}, st.Nlink > 1
}

// fileSystem returns a folder's file system and how many bytes of it are used.
func fileSystem(dir string) (id uint64, used int64, ok bool) {
	var at syscall.Stat_t
	var fs syscall.Statfs_t
	if syscall.Stat(dir, &at) != nil || syscall.Statfs(dir, &fs) != nil {
		return 0, 0, false
	}
	return uint64(at.Dev), int64(fs.Blocks-fs.Bfree) * int64(fs.Bsize), true
}
