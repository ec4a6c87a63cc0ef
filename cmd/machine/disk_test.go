//go:build unix

package machine

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"github.com/mergexo/gh-mergexo/store"
)

func TestDiskTroubles(t *testing.T) {
	on := func(path string, err error) error {
		return fmt.Errorf("open the log: %w", &fs.PathError{Op: "open", Path: path, Err: err})
	}
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"a full disk", on("/s/logs/x", syscall.ENOSPC), "/s/logs/x: it cannot be written, the disk is full; make room and make a pass again: nothing is lost"},
		{"twice", errors.Join(on("/s/logs/x", syscall.ENOSPC), on("/s/logs/y", syscall.ENOSPC)), "/s/logs/x: it cannot be written, the disk is full; make room and make a pass again: nothing is lost"},
		{"a quota", on("/s/logs/x", syscall.EDQUOT), "/s/logs/x: it cannot be written, the disk is full; make room and make a pass again: nothing is lost"},
		{"the database", fmt.Errorf("commit: %w", &store.DiskError{Words: "database or disk\nis full (13)", Err: errors.New("migrate")}), "/s/state.db: it cannot be written, the disk may be full; make room and run a pass again: nothing is lost (database or disk is full (13))"},
		{"read-only", on("/s/locks/tick.lock", syscall.EROFS), "/s/locks/tick.lock: it cannot be written, the file system is read-only; mount it for writing, or set runtime.state_dir in the config to a folder that you may write to"},
		{"somebody else's", on("/s/locks/tick.lock", syscall.EACCES), "/s/locks/tick.lock: you may not use it (permission denied); give the folder /s to the user who runs gh mergexo, or set runtime.state_dir in the config to a folder that you may write to"},
		{"another place's", on("/etc/x", syscall.EACCES), ""},
		{"no disk's", errors.New("unknown command"), ""},
		{"none", nil, ""},
	} {
		if got := DiskTrouble(c.err, "/s"); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
