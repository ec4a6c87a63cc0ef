//go:build linux

package proc

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// memoryFiles returns the size of memory file systems that the processes see and we do not: a
// sandbox's, and those that they mounted.
func memoryFiles(pids []int) (sum int64) {
	looked := map[string]bool{} // namespaces
	known := map[string]bool{}  // devices
	for _, m := range inMemory("self") {
		known[m.device] = true
	}
	for _, pid := range pids {
		process := strconv.Itoa(pid)
		ns, err := os.Readlink("/proc/" + process + "/ns/mnt")
		if err != nil || looked[ns] {
			continue
		}
		looked[ns] = true
		for _, m := range inMemory(process) {
			if !known[m.device] {
				n, ok := m.used("/proc/" + process + "/root")
				known[m.device] = ok
				sum += n
			}
		}
	}
	return sum
}

type mount struct{ device, path string }

// used returns the size of what a file system holds below a root. Another one can be at its path:
// it is mounted over it, or has replaced it since the mounts were listed.
func (m mount) used(root string) (bytes int64, ok bool) {
	fd, err := unix.Open(root+m.path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, false
	}
	defer unix.Close(fd)
	var at unix.Stat_t
	var fs unix.Statfs_t
	if unix.Fstat(fd, &at) != nil || unix.Fstatfs(fd, &fs) != nil {
		return 0, false
	}
	if fmt.Sprintf("%d:%d", unix.Major(at.Dev), unix.Minor(at.Dev)) != m.device {
		return 0, false
	}
	return int64(fs.Blocks-fs.Bfree) * int64(fs.Bsize), true
}

// inMemory lists the memory file systems that a process sees, see proc_pid_mountinfo(5).
func inMemory(process string) (all []mount) {
	b, err := os.ReadFile("/proc/" + process + "/mountinfo")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(b)) {
		before, after, _ := strings.Cut(line, " - ")
		f := strings.Fields(before)
		kind, _, _ := strings.Cut(after, " ")
		if len(f) >= 5 && (kind == "tmpfs" || kind == "ramfs") {
			all = append(all, mount{device: f[2], path: unescape.Replace(f[4])})
		}
	}
	return all
}

// unescape decodes paths in mountinfo.
var unescape = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
