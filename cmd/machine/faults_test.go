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
