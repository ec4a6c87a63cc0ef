// Package files handles paths where somebody else may have put anything: unreadable folders, links,
// leftovers of a power cut.
package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Exists reports whether anything is at the path, including a dangling link.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// OpenFolder gives the owner access to a folder. Call it before the walk reads the folder.
func OpenFolder(path string, d fs.DirEntry) error {
	info, err := d.Info()
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o700 == 0o700 {
		return nil
	}
	return os.Chmod(path, info.Mode().Perm()|0o700)
}

// Remove removes everything at the path, including folders without permissions. It follows no link.
func Remove(path string) error {
	err := os.RemoveAll(path)
	if err == nil {
		return nil
	}
	walkErr := filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		return OpenFolder(p, d)
	})
	if walkErr != nil && !errors.Is(walkErr, fs.ErrNotExist) {
		return fmt.Errorf("remove %q: %w", path, walkErr)
	}
	if err := os.RemoveAll(path); err != nil {
		return fmt.Errorf("remove %q: %w", path, err)
	}
	return nil
}

// RealFolder makes the path a folder; a file or a link there is removed.
func RealFolder(path string) error {
	info, err := os.Lstat(path)
	if err == nil && info.IsDir() {
		return nil
	}
	if err == nil {
		err = os.Remove(path)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("make folder %q: %w", path, err)
	}
	if err := os.MkdirAll(path, 0o755); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	return nil
}

// Empty removes the content of a folder; other paths stay.
func Empty(path string) error {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		return nil //nolint:nilerr // nothing there is empty enough
	}
	names, err := os.ReadDir(path)
	if err != nil {
		return fmt.Errorf("empty folder: %w", err)
	}
	for _, n := range names {
		if err := Remove(filepath.Join(path, n.Name())); err != nil {
			return err
		}
	}
	return nil
}

// Copy copies a regular file with its modification time: git compares that time of its index with
// those of files to find changes within the same second.
func Copy(from, to string, mode os.FileMode) error {
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%q is no regular file", from)
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		_ = out.Close()
		return err
	}
	if err := out.Close(); err != nil {
		return err
	}
	return os.Chtimes(to, time.Time{}, info.ModTime())
}
