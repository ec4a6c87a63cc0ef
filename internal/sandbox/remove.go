package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// maxReason limits an error's text in bytes: agents may make very long paths.
const maxReason = 300

// Remove removes a folder, including what Go's caches write-protect and nested folders too deep for
// any path.
func Remove(path string) error {
	err := os.RemoveAll(path)
	if err == nil {
		return nil
	}
	if err = flatten(path); err == nil {
		return nil
	}
	if text := err.Error(); len(text) > maxReason {
		return errors.New(text[:maxReason] + "…")
	}
	return err
}

// flatten removes a folder by moving deeper folders up into it, so that no path grows and few files
// are open at a time.
func flatten(root string) error {
	info, err := os.Lstat(root)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.IsDir():
		return os.Remove(root)
	}
	moved := 0
	for {
		dirs, err := removeFiles(root)
		if err != nil {
			return err
		}
		if len(dirs) == 0 {
			return os.Remove(root)
		}
		for _, dir := range dirs {
			if err := moveUp(dir, root, &moved); err != nil {
				return err
			}
		}
	}
}

// moveUp removes a folder and moves its subfolders to another one.
func moveUp(dir, to string, moved *int) error {
	deeper, err := removeFiles(dir)
	if err != nil {
		return err
	}
	for _, d := range deeper {
		if err := os.Chmod(d, 0o700); err != nil { // only a writable folder can be moved
			return err
		}
		free := ""
		for free == "" || exists(free) {
			*moved++
			free = filepath.Join(to, fmt.Sprintf("moved-%d", *moved))
		}
		if err := os.Rename(d, free); err != nil {
			return err
		}
	}
	return os.Remove(dir)
}

// removeFiles removes everything but folders and returns the folders.
func removeFiles(dir string) (dirs []string, err error) {
	if err := os.Chmod(dir, 0o700); err != nil {
		return nil, err
	}
	all, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range all {
		path := filepath.Join(dir, e.Name())
		if e.IsDir() {
			dirs = append(dirs, path)
		} else if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	return dirs, nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
