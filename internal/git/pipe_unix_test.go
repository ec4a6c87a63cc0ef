//go:build unix

package git

import (
	"path/filepath"
	"syscall"
)

// pipe makes a named pipe in the checkout.
func (w *world) pipe(name string) {
	w.t.Helper()
	w.check(syscall.Mkfifo(filepath.Join(w.dir, name), 0o644))
}
