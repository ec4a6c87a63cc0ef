//go:build linux

package proc

import (
	"os"
	"strconv"
	"syscall"
)

// openRemoved returns the size of deleted files on the folders' file systems that processes hold
// open.
func openRemoved(pids []int, dirs []string) (sum int64) {
	devices, seen := map[uint64]bool{}, map[fileID]bool{}
	for _, dir := range dirs {
		if id, _, ok := fileSystem(dir); ok {
			devices[id] = true
		}
	}
	for _, pid := range pids {
		dir := "/proc/" + strconv.Itoa(pid) + "/fd/"
		open, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, fd := range open {
			info, err := os.Stat(dir + fd.Name())
			if err != nil {
				continue
			}
			n, id, _ := blocks(info)
			st, ok := info.Sys().(*syscall.Stat_t)
			if ok && st.Nlink == 0 && devices[id.device] && !seen[id] {
				seen[id] = true
				sum += n
			}
		}
	}
	return sum
}
