//go:build linux

package sandbox

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/testhome"
)

// Nested folders deeper than the longest path and the limit of open files are removed.
func TestVeryDeepFoldersAreRemoved(t *testing.T) {
	testhome.OnlyLong(t)
	root := filepath.Join(t.TempDir(), "deep")
	if err := os.Mkdir(root, 0o700); err != nil {
		t.Fatal(err)
	}
	at, err := syscall.Open(root, syscall.O_DIRECTORY, 0)
	for range 6000 {
		if err != nil {
			t.Fatal(err)
		}
		if err = syscall.Mkdirat(at, "d", 0o700); err != nil {
			t.Fatal(err)
		}
		next, openErr := syscall.Openat(at, "d", syscall.O_DIRECTORY, 0)
		_ = syscall.Close(at)
		at, err = next, openErr
	}
	_ = syscall.Close(at)
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	few := before
	few.Cur = 256
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before) }()
	if err := Remove(root); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(root); !os.IsNotExist(err) {
		t.Errorf("still there: %v", err)
	}
}
