//go:build unix

package machine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mergexo/gh-mergexo/store"
)

// A state folder on a disk that is not mounted is not taken for none.
func TestStateFolderThatLeadsNowhere(t *testing.T) {
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink("/nowhere/at/all", link); err != nil {
		t.Fatal(err)
	}
	if err := GuardState(link); err == nil || !strings.Contains(err.Error(), "mount its disk") {
		t.Errorf("got %v", err)
	}
}

func TestStateFolderWithAWrongKindOfFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "state.db"), 0o700); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		file: `file" is no folder; set runtime.state_dir in the config to a folder that you may write to`,
		dir:  `state.db" is a folder, and the database belongs there; mv "`,
	} {
		if err := GuardState(path); !strings.Contains(DiskTrouble(err, path), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A state folder of somebody else's is refused, also when we are root.
func TestStateFolderOfSomebodyElse(t *testing.T) {
	if err := GuardState(filepath.Join(t.TempDir(), "none")); err != nil {
		t.Errorf("none yet: %v", err)
	}
	dir := filepath.Join(t.TempDir(), "state")
	inside := filepath.Join(dir, "state.db")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(inside, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := GuardState(dir); err != nil {
		t.Errorf("our own: %v", err)
	}
	if os.Geteuid() != 0 {
		if err := GuardState("/usr"); err == nil || !strings.Contains(err.Error(), "belongs to user 0") {
			t.Errorf("root's: %v", err)
		}
		t.Skip("only root can give files away")
	}
	const nobody = 65534
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path, look, want string
	}{
		{inside, dir, `state.db" in the state folder belongs to user 65534; sudo chown -R 0 `},
		{dir, dir, `belongs to user 65534, and you are user 0; run gh mergexo as that user`},
		{link, link, `is a symbolic link that belongs to user 65534`},
	} {
		if err := os.Lchown(c.path, nobody, nobody); err != nil {
			t.Fatal(err)
		}
		if err := GuardState(c.look); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.path, err, c.want)
		}
		if err := os.Lchown(c.path, 0, 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := GuardState(link); err != nil {
		t.Errorf("our own again, by a link: %v", err)
	}
}

func TestDiskTroubles(t *testing.T) {
	on := func(path string, err error) error {
		return fmt.Errorf("open the log: %w", &fs.PathError{Op: "open", Path: path, Err: err})
	}
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"a full disk", on("/s/logs/x", syscall.ENOSPC), "/s/logs/x: it cannot be written, the disk is full; make room and run a pass again: nothing is lost"},
		{"twice", errors.Join(on("/s/logs/x", syscall.ENOSPC), on("/s/logs/y", syscall.ENOSPC)), "/s/logs/x: it cannot be written, the disk is full; make room and run a pass again: nothing is lost"},
		{"a quota", on("/s/logs/x", syscall.EDQUOT), "/s/logs/x: it cannot be written, the disk is full; make room and run a pass again: nothing is lost"},
		{"the database", fmt.Errorf("commit: %w", &store.DiskError{Words: "database or disk\nis full (13)", Err: errors.New("migrate")}), "/s/state.db: it cannot be written, the disk may be full; make room and run a pass again: nothing is lost (database or disk is full (13))"},
		{"read-only", on("/s/locks/tick.lock", syscall.EROFS), "/s/locks/tick.lock: it cannot be written, the file system is read-only; mount it for writing, or set runtime.state_dir in the config to a folder that you may write to"},
		{"somebody else's", on("/s/locks/tick.lock", syscall.EACCES), "/s/locks/tick.lock: you may not use it (permission denied); give the folder /s to the user who runs gh mergexo, or set runtime.state_dir in the config to a folder that you may write to"},
		{"another place's", on("/etc/x", syscall.EACCES), ""},
		{"a file for a folder", on("/s/logs/x", syscall.ENOTDIR), "/s/logs/x: not a directory; set runtime.state_dir in the config to a folder that you may write to"},
		{"another place's file for a folder", on("/etc/x/config.toml", syscall.ENOTDIR), ""},
		{"no disk's", errors.New("unknown command"), ""},
		{"none", nil, ""},
	} {
		if got := DiskTrouble(c.err, "/s"); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
