package testhome

import (
	"os"
	"testing"
)

// RunInMemory runs a package's tests with their temporary folders in memory where the machine has
// it, and gives the exit code. It is for the TestMain of packages that make many repositories, and
// test no syncing.
func RunInMemory(m *testing.M) int {
	dir, remove, err := memory()
	if err != nil {
		return 1
	}
	if dir == "" {
		return m.Run()
	}
	defer remove()
	if err := os.Setenv("TMPDIR", dir); err != nil {
		return 1
	}
	return m.Run()
}
