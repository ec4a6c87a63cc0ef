//go:build unix

package proc

import (
	"os"
	"strconv"
	"sync"
	"syscall"
)

// keepDescriptors sees to it, once, that no program that this package starts
// gets what was open when this process began, the standard ones excepted: gh,
// cron or a shell may have left a folder or a socket open, which leads past
// every wall. What this process opens itself is closed on exec from the
// beginning.
var keepDescriptors = sync.OnceFunc(func() {
	if !closeOnExecFrom(firstDescriptor) {
		closeOnExecListed()
	}
})

const firstDescriptor = 3 // after standard input, output and error

// closeOnExecListed goes through the descriptors that the system lists. Where it
// lists none there is nothing more to do.
func closeOnExecListed() {
	for _, dir := range []string{"/proc/self/fd", "/dev/fd"} {
		names, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, n := range names {
			if fd, err := strconv.Atoi(n.Name()); err == nil && fd >= firstDescriptor {
				syscall.CloseOnExec(fd)
			}
		}
		return
	}
}
