package files

import (
	"fmt"
	"io/fs"
	"os"
)

// Regular is a path at which a regular file is; else empty.
func Regular(path string) string {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return path
}

// OpenRegular opens a file that somebody may have put something else in place of.
func OpenRegular(path string) (*os.File, fs.FileInfo, error) {
	if Regular(path) == "" {
		return nil, nil, fmt.Errorf("open %s: not a regular file", path) // on Windows this alone finds links
	}
	f, err := os.OpenFile(path, os.O_RDONLY|OpenSafely, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("open %s: not a regular file", path)
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, info, nil
}
