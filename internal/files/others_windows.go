package files

import (
	"io/fs"
)

// OwnerOf returns us: Windows keeps permissions elsewhere, and the folders of a profile belong to its
// user.
func OwnerOf(fs.FileInfo) (uid int, ours bool) { return 0, true }

// WritableByOthers returns false, see OwnerOf.
func WritableByOthers(fs.FileInfo) bool { return false }

func readOnly(string) bool { return false }

// OpenSafely is 0 on Windows: an open that creates nothing does not wait.
const OpenSafely = 0
