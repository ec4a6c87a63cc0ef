package machine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// GuardState rejects a state folder that another user could change or redirect: its content decides
// what is pushed and which programs run. A missing folder is fine. The folder itself may be a link
// of the user's own, for example to another disk, but nothing inside it may be a link.
func GuardState(dir string) error {
	link, err := os.Lstat(dir)
	if err != nil {
		return nil //nolint:nilerr // it is not there yet; whoever makes it says what is in the way
	}
	linked := link.Mode()&fs.ModeSymlink != 0
	if owner, ours := ownerOf(link); linked && !ours {
		return fmt.Errorf("the state folder %q is a symbolic link that belongs to user %d: set runtime.state_dir in the config to a folder of your own", dir, owner)
	}
	info, err := os.Stat(dir)
	if linked && errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the state folder %q is a symbolic link to a folder that does not exist: is its disk mounted?", dir)
	}
	if err != nil {
		return fmt.Errorf("look at the state folder: %w", err)
	}
	if owner, ours := ownerOf(info); !ours {
		return fmt.Errorf("the state folder %q belongs to user %d, and you are user %d: run gh mergexo as that user, or set runtime.state_dir in the config to a folder of your own", dir, owner, os.Geteuid())
	}
	if writableByOthers(info) {
		return fmt.Errorf("the state folder %q can be written to by other users: chmod go-w %q", dir, dir)
	}
	return guardEntries(dir)
}

// guardEntries checks the entries of the state folder.
func guardEntries(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("look into the state folder: %w", err)
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // the database's own files come and go
		}
		if err != nil {
			return fmt.Errorf("look into the state folder: %w", err)
		}
		owner, ours := ownerOf(info)
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			return fmt.Errorf("%q in the state folder is a symbolic link: replace it with its target, or set runtime.state_dir in the config to a folder on the other disk", path)
		case !ours:
			return fmt.Errorf("%q in the state folder belongs to user %d: sudo chown -R %d %q", path, owner, os.Geteuid(), dir)
		case writableByOthers(info):
			return fmt.Errorf("%q in the state folder can be written to by other users: chmod go-w %q", path, path)
		}
	}
	return nil
}
