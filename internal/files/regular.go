package files

import (
	"fmt"
	"io/fs"
	"os"
)

// Regular returns the path if a regular file is there, else "".
func Regular(path string) string {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return path
}

// OpenRegular opens a regular file in a place where somebody may have put something else.
func OpenRegular(path string) (*os.File, fs.FileInfo, error) {
	if Regular(path) == "" {
		return nil, nil, fmt.Errorf("open %s: not a regular file", path) // on Windows only this detects links
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
