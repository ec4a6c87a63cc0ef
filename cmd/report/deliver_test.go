package report

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// What is no file is never put away for a report, and what a link leads to stays as it is.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	device := filepath.Join(dir, "device")
	if err := os.Symlink(os.DevNull, device); err != nil {
		t.Skip(err)
	}
	if err := write(device, "text"); err != nil {
		t.Error(err)
	}
	if info, err := os.Lstat(device); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the way to a device became %v, %v", info, err)
	}
	if err := write(dir, "text"); err == nil {
		t.Error("a folder took the text")
	}
	other, link := filepath.Join(dir, "other"), filepath.Join(dir, "link")
	if err := os.WriteFile(other, []byte("theirs"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, link); err != nil {
		t.Fatal(err)
	}
	if err := write(link, "text"); err != nil {
		t.Error(err)
	}
	if b, err := os.ReadFile(other); err != nil || string(b) != "theirs" {
		t.Errorf("the file behind a link says %q, %v", b, err)
	}
}
