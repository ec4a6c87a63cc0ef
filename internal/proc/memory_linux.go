//go:build linux

package proc

import (
	"bytes"
	"os"
	"strconv"
)

// held is what the family's processes hold, what they share each time: memory
// that no file stands behind, in use or swapped out.
func (f *family) held() (sum int64) {
	for _, pid := range f.pids() {
		sum += kilobytes(pid, "status", "RssAnon:", "RssShmem:", "VmSwap:")
	}
	return sum
}

// shares is the same with each process's share of what it shares. A kernel that
// does not tell leaves what the process holds.
func (f *family) shares() (sum int64) {
	for _, pid := range f.pids() {
		n := kilobytes(pid, "smaps_rollup", "Pss_Anon:", "Pss_Shmem:", "SwapPss:")
		if n == 0 {
			n = kilobytes(pid, "status", "RssAnon:", "RssShmem:", "VmSwap:")
		}
		sum += n
	}
	return sum
}

// kilobytes adds up fields of a file about a process; see proc(5).
func kilobytes(pid int, file string, fields ...string) (sum int64) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/" + file)
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(b) {
		words := bytes.Fields(line)
		for _, field := range fields {
			if len(words) >= 2 && string(words[0]) == field {
				n, _ := strconv.ParseInt(string(words[1]), 10, 64)
				sum += n << 10
			}
		}
	}
	return sum
}
