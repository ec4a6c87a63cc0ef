//go:build unix

package proc

import (
	"os"
	"path/filepath"
	"testing"
)

// A file counts once, whatever names it has, with its size on disk, not its apparent size or a
// link's target.
func TestDiskUse(t *testing.T) {
	const mib = 1 << 20
	dir, elsewhere := t.TempDir(), t.TempDir()
	write := func(path string, size int) {
		t.Helper()
		if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(dir, "one"), 3*mib)
	write(filepath.Join(elsewhere, "other"), 30*mib)
	if err := os.Link(filepath.Join(dir, "one"), filepath.Join(dir, "two")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(dir, "sparse"), 0)
	if err := os.Truncate(filepath.Join(dir, "sparse"), 1<<40); err != nil {
		t.Fatal(err)
	}
	got, files, err := DiskUse(dir, filepath.Join(dir, "none"))
	if err != nil || got < 3*mib || got > 3*mib+200<<10 || files != 5 {
		t.Errorf("%d bytes, %d files, %v", got, files, err)
	}
}
