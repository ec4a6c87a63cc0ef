//go:build linux

package proc

import (
	"os"
	"strconv"
	"strings"
	"syscall"
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
			var fs syscall.Statfs_t
			if !known[m.device] && syscall.Statfs("/proc/"+process+"/root"+m.path, &fs) == nil {
				known[m.device] = true
				sum += int64(fs.Blocks-fs.Bfree) * int64(fs.Bsize)
			}
		}
	}
	return sum
}

type mount struct{ device, path string }

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
