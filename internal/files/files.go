// Package files handles paths where somebody else may have put anything: unreadable folders, links,
// leftovers of a power cut.
package files

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Exists reports whether anything is at the path, including a dangling link.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// IsFolder reports whether a path is a folder, or a link to one.
func IsFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Resolve follows the symbolic links of a path as far as it exists. The rest, and a link that leads
// nowhere, stay as they are.
func Resolve(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	path = filepath.Clean(path)
	up := filepath.Dir(path)
	if up == path {
		return path
	}
	return filepath.Join(Resolve(up), filepath.Base(path))
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
	lookErr := filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		return OpenFolder(p, d)
	})
	if lookErr != nil && !errors.Is(lookErr, fs.ErrNotExist) {
		return fmt.Errorf("remove %q: %w", path, lookErr)
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

// Sum returns the SHA-256 of a file's content in hexadecimal.
func Sum(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// SumTree returns the SHA-256 of a folder in hexadecimal: of the paths, the permissions and the
// contents of everything in it. Symbolic links are not followed.
func SumTree(dir string) (string, error) {
	h := sha256.New()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content := ""
		switch {
		case info.Mode().IsRegular():
			content, err = Sum(path)
		case info.Mode()&fs.ModeSymlink != 0:
			content, err = os.Readlink(path)
		}
		fmt.Fprintf(h, "%q %s %q\n", path[len(dir):], info.Mode(), content)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("read the folder %s: %w", dir, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

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

// Publish atomically writes a file for other users to read; its folder must exist. It does not
// replace anything but a regular file, such as a device.
func Publish(path, text string) (err error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("write %s: something is there that is no file", path)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
			err = fmt.Errorf("write %s: %w", path, err)
		}
	}()
	_, err = f.WriteString(text)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Chmod(f.Name(), 0o644)
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	return err
}

// Replace atomically and durably writes a file, because others may be reading it and the machine
// may stop. An existing file keeps its permissions.
func Replace(path, text string) error {
	if old, err := os.ReadFile(path); err == nil && string(old) == text {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if info, there := os.Stat(path); err == nil && there == nil {
		err = f.Chmod(info.Mode().Perm())
	}
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// SyncAll syncs files in parallel: the file system then commits them together instead of waiting
// for the disk once per file.
func SyncAll(files []string) error {
	const atOnce = 16
	var wg sync.WaitGroup
	errs := make([]error, atOnce)
	for n := range atOnce {
		wg.Go(func() {
			for i := n; i < len(files) && errs[n] == nil; i += atOnce {
				errs[n] = syncFile(files[i])
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// syncFile opens the file for reading, because git's objects are read-only.
func syncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// SyncFolder syncs a folder's entries, if the system supports it.
func SyncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if err := f.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrInvalid) && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}
