package work

import (
	"slices"
	"testing"
)

func TestIsLockFile(t *testing.T) {
	if !slices.IsSorted(lockFiles) {
		t.Error("the names are not sorted")
	}
	for path, want := range map[string]bool{"go.sum": true, "web/app/package-lock.json": true, "Cargo.lock": true, "package.json": false, "go.sum/x": false, "my-yarn.lock": false, "": false} {
		if got := IsLockFile(path); got != want {
			t.Errorf("%q: %v", path, got)
		}
	}
}
