//go:build linux

package proc

import (
	"bytes"
	"os"
	"strconv"
)

// held returns the memory of the family's processes that is not backed by files, resident or
// swapped out. Shared memory counts once per process.
func (f *family) held() (sum int64) {
	for _, pid := range f.pids() {
		sum += kilobytes(pid, "status", "RssAnon:", "RssShmem:", "VmSwap:")
	}
	return sum
}

// shares is held with shared memory divided among its processes. If the kernel does not report
// that, all of a process's memory counts.
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

// kilobytes sums fields of a /proc file of a process in bytes, see proc(5).
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
