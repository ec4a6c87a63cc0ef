//go:build unix

package story

import (
	"os"
	"os/exec"
	"sync"
)

// canMount reports whether a process of ours can have a file system of its own: as
// root or in a user namespace, on Linux.
var canMount = sync.OnceValue(func() bool {
	dir, err := os.MkdirTemp("", "mount")
	if err != nil {
		return false
	}
	defer os.Remove(dir)
	args := []string{"-m", "mount", "-t", "tmpfs", "tmpfs", dir}
	if os.Geteuid() != 0 {
		args = append([]string{"-r"}, args...)
	}
	return exec.Command("unshare", args...).Run() == nil
})
