//go:build unix

package machine

import "syscall"

// mayWrite checks without writing whether this process may write to a folder.
func mayWrite(dir string) error {
	const write = 2
	return syscall.Access(dir, write)
}

// mayReadWrite checks without writing whether this process may read and write a file or folder.
func mayReadWrite(path string) error {
	const read, write = 4, 2
	return syscall.Access(path, read|write)
}

// roomOn returns the free bytes and inodes of the file system that holds a folder; inodes is -1 on
// one that does not count them.
func roomOn(dir string) (free, inodes int64, known bool) {
	var fs syscall.Statfs_t
	if syscall.Statfs(dir, &fs) != nil {
		return 0, 0, false
	}
	inodes = -1
	if fs.Files > 0 {
		inodes = int64(fs.Ffree)
	}
	return int64(fs.Bavail) * int64(fs.Bsize), inodes, true
}
