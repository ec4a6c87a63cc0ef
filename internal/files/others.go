package files

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ChangedByOthers returns why other users could change a file, and what to type; "" if only its owner
// and root can. What they could do: write to it, or replace it or a folder above it, also above what
// a link on the last step leads to. A read-only file system protects it.
func ChangedByOthers(file string) string {
	for _, path := range []string{file, Resolve(file)} {
		for p, above := path, ""; p != above; p, above = filepath.Dir(p), p {
			info, err := os.Lstat(p)
			if err != nil || info.Mode()&fs.ModeSymlink != 0 || readOnly(p) {
				continue // who opens it says what is wrong; a link's folder and its target count
			}
			owner, ours := OwnerOf(info)
			switch {
			case !ours && owner != 0:
				return fmt.Sprintf("%s belongs to user %d, who could change it: sudo chown %d %q", p, owner, os.Geteuid(), p)
			case info.IsDir() && info.Mode()&fs.ModeSticky != 0: // nobody replaces a file of somebody else there
			case WritableByOthers(info):
				return fmt.Sprintf("%s can be written to by other users: chmod go-w %q", p, p)
			}
		}
	}
	return ""
}
