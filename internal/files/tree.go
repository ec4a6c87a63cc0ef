package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
)

// Bounds of CopyTree beside its bytes: a command of a stranger may have made what is copied.
const (
	maxTreeDepth = 100
	maxTreeFiles = 1_000_000
)

// CopyTree copies paths, relative and with slashes, from one folder to another: files with their
// permissions and times, folders, and symbolic links as they are. Each path replaces what is there.
// It leaves the two folders through no link. It leaves out sockets, pipes and devices, what skip is
// true for, and a path whose parent is no folder in the other folder. It returns how many bytes it
// copied; more than most are an error; 0: no limit.
func CopyTree(from, to string, paths []string, most int64, skip func(path string) bool) (int64, error) {
	in, err := os.OpenRoot(from)
	if err != nil {
		return 0, fmt.Errorf("copy a folder: %w", err)
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenRoot(to)
	if err != nil {
		return 0, fmt.Errorf("copy a folder: %w", err)
	}
	defer func() { _ = out.Close() }()
	c := treeCopy{from: in, to: out, most: most, skip: skip}
	for _, name := range paths {
		if dir := path.Dir(name); dir != "." && out.MkdirAll(dir, 0o755) != nil {
			continue
		}
		err := out.RemoveAll(name)
		if err == nil {
			err = c.copy(name, 0)
		}
		if err != nil {
			return 0, fmt.Errorf("copy %q: %w", name, err)
		}
	}
	return c.bytes, nil
}

type treeCopy struct {
	from, to *os.Root
	most     int64
	skip     func(path string) bool
	bytes    int64
	files    int
}

func (c *treeCopy) copy(name string, depth int) error {
	if c.skip(name) {
		return nil
	}
	info, err := c.from.Lstat(name)
	if err != nil {
		return err
	}
	if c.files++; depth > maxTreeDepth || c.files > maxTreeFiles {
		return fmt.Errorf("more than %d files, or folders more than %d deep", maxTreeFiles, maxTreeDepth)
	}
	switch {
	case info.IsDir():
		return c.copyFolder(name, info, depth)
	case info.Mode().IsRegular():
		if c.bytes += info.Size(); c.most > 0 && c.bytes > c.most { // before it is read: a sparse file takes no room, its copy does
			return fmt.Errorf("more than %d bytes", c.most)
		}
		return c.copyFile(name, info)
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := c.from.Readlink(name)
		if err != nil {
			return err
		}
		return c.to.Symlink(target, name)
	}
	return nil
}

func (c *treeCopy) copyFolder(name string, info fs.FileInfo, depth int) error {
	if err := c.to.Mkdir(name, 0o700); err != nil {
		return err
	}
	f, err := c.from.Open(name)
	if err != nil {
		return err
	}
	all, err := f.ReadDir(-1)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	for _, e := range all {
		if err := c.copy(path.Join(name, e.Name()), depth+1); err != nil {
			return err
		}
	}
	if err := c.to.Chtimes(name, info.ModTime(), info.ModTime()); err != nil {
		return err
	}
	return c.to.Chmod(name, info.Mode().Perm()) // last: it may forbid writing
}

// copyFile lets the system copy the content, which shares it where the file system can.
func (c *treeCopy) copyFile(name string, info fs.FileInfo) error {
	in, err := c.from.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := c.to.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, io.LimitReader(in, info.Size())) // not what is appended to it now
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	if err := c.to.Chtimes(name, info.ModTime(), info.ModTime()); err != nil {
		return err
	}
	return c.to.Chmod(name, info.Mode().Perm())
}
