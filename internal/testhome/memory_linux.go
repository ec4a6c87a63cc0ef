package testhome

import (
	"os"
	"syscall"
	"testing"
)

// room is what must be free in memory: containers often have 64 MB there.
const room = 4 << 30

// Memory gives a folder in memory that is removed after the test, and "" where the
// machine has none with enough room. What a test waits for most is a disk that
// syncs, and only a test of syncing needs one.
func Memory(t *testing.T) string {
	t.Helper()
	dir, remove, err := memory()
	if err != nil {
		t.Fatal(err)
	}
	if dir != "" {
		t.Cleanup(remove)
	}
	return dir
}

// memory makes the folder; remove is nil where there is none.
func memory() (dir string, remove func(), err error) {
	const shared = "/dev/shm"
	var fs syscall.Statfs_t
	if err := syscall.Statfs(shared, &fs); err != nil || fs.Bavail*uint64(fs.Bsize) < room { //nolint:gosec // a block has a size
		return "", nil, nil //nolint:nilerr // none that is large enough
	}
	dir, err = os.MkdirTemp(shared, "mergexo-")
	if err != nil {
		return "", nil, nil //nolint:nilerr // then not in memory
	}
	remove, err = remover(dir)
	return dir, remove, err
}
