package machine

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/mergexo/gh-mergexo/tick/folder"
)

// Turns begin side by side, also those of two passes, and each tries the state folder before.
func TestTrialsOfTheStateFolderDoNotMeet(t *testing.T) {
	dirs := folder.Dirs{State: t.TempDir()}
	locks := filepath.Join(dirs.State, "locks")
	if err := os.Mkdir(locks, 0o700); err != nil {
		t.Fatal(err)
	}
	m := &Machine{dirs: dirs}
	var trials sync.WaitGroup
	for range 8 {
		trials.Go(func() {
			for range 50 {
				if fault := m.TryState(); fault != nil {
					t.Error(fault)
					return
				}
			}
		})
	}
	trials.Wait()
	if left, err := os.ReadDir(locks); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestRoom(t *testing.T) {
	for name, c := range map[string]struct {
		free, inodes int64
		left         string
		little, full bool
	}{
		"room":              {5 << 30, 2000, "5 GiB", false, false},
		"inodes uncounted":  {5 << 30, -1, "5 GiB", false, false},
		"little":            {500 << 20, -1, "500 MiB", true, false},
		"full":              {1 << 20, -1, "", true, true},
		"hardly any inodes": {5 << 30, 10, "", true, true},
	} {
		left, little, err := judgeRoom("/s", c.free, c.inodes)
		if left != c.left || little != c.little || (err != nil) != c.full {
			t.Errorf("%s: %q, %v, %v", name, left, little, err)
		}
	}
}
