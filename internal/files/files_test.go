package files

import (
	"os"
	"path/filepath"
	"testing"
)

func TestPublish(t *testing.T) {
	dir := t.TempDir()
	file, device := filepath.Join(dir, "a.prom"), filepath.Join(dir, "device")
	for _, text := range []string{"1\n", "2\n"} {
		if err := Publish(file, text); err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(file); err != nil || string(b) != text {
			t.Errorf("%q, %v", b, err)
		}
	}
	if err := os.Symlink(os.DevNull, device); err != nil {
		t.Skip(err)
	}
	if err := Publish(device, "text"); err == nil {
		t.Error("a device was put away")
	}
	if all, err := os.ReadDir(dir); err != nil || len(all) != 2 {
		t.Errorf("left in the folder: %v, %v", all, err)
	}
}
