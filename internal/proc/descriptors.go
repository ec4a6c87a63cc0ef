//go:build unix

package proc

import (
	"os"
	"strconv"
	"sync"
	"syscall"
)

// keepDescriptors marks, once, all descriptors that were open when this process began as
// close-on-exec, except the standard ones. gh, cron or a shell may have left a folder or a socket
// open, by which a program could get around every sandbox. Descriptors opened by this process are
// close-on-exec anyway.
var keepDescriptors = sync.OnceFunc(func() {
	if !closeOnExecFrom(firstDescriptor) {
		closeOnExecListed()
	}
})

const firstDescriptor = 3 // after standard input, output and error

// closeOnExecListed marks the descriptors that the system lists. If it lists none, nothing more can
// be done.
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
