//go:build unix

package story

import (
	"os"
	"os/exec"
	"path/filepath"
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

// canCron reports whether a cron daemon and a crontab can be had that are not the
// machine's own.
var canCron = sync.OnceValue(func() bool {
	lib, err := filepath.Glob("/usr/lib/*/faketime/libfaketime.so.1")
	if err != nil || len(lib) == 0 || os.Geteuid() != 0 {
		return false
	}
	for _, program := range []string{"/usr/sbin/cron", "/usr/bin/crontab"} {
		if _, err := os.Stat(program); err != nil {
			return false
		}
	}
	return canMount()
})
