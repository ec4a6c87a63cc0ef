package schedule

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/files"
)

// daemons are the names of processes that run crontabs.
var daemons = []string{"cron", "crond", "fcron", "bcron-sched"}

// CronSleeps reports that certainly nothing on the machine whose root folder this is runs crontabs: the
// processes can be seen, and none is a daemon of cron. On systems without /proc it is false: launchd
// starts macOS's cron when that is needed.
func CronSleeps(root string) bool {
	proc := filepath.Join(root, "proc")
	if _, err := os.ReadFile(filepath.Join(proc, "1", "comm")); err != nil {
		return false // those of others are hidden
	}
	if files.Exists(filepath.Join(root, "run", "systemd", "system")) && files.Exists(filepath.Join(root, "usr", "lib", "systemd", "system", "cron.target")) {
		return false // of systemd-cron, which makes timers from crontabs
	}
	names, _ := filepath.Glob(filepath.Join(proc, "[0-9]*", "comm"))
	for _, at := range names {
		name, _ := os.ReadFile(at) // the process may have ended
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(at), "cmdline"))
		if isDaemon(strings.TrimSpace(string(name)), line) {
			return false
		}
	}
	return true
}

// isDaemon reports whether a process runs crontabs, by its name and its arguments.
func isDaemon(name string, cmdline []byte) bool {
	argv := bytes.SplitN(cmdline, []byte{0}, 3)
	applet := name == "busybox" && len(argv) > 1 && slices.Contains(daemons, path.Base(string(argv[1])))
	return applet || slices.Contains(daemons, name)
}
