package git

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/git/files"
)

// ignorable are the code points that HFS+ leaves out when it compares names
// (git's utf8.c, next_hfs_char).
const ignorable = "\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u206a\u206b\u206c\u206d\u206e\u206f\ufeff"

// isDotGit reports whether a file system of the kind may take the name for
// .git. Case is never told apart: no tree can hold such a name anyway.
func isDotGit(name, system string) bool {
	switch system {
	case "darwin", "ios":
		name = withoutIgnorable(name)
	case "windows":
		name, _, _ = strings.Cut(name, ":") // a stream of the same file
		name = strings.TrimRight(name, " .")
		if strings.EqualFold(name, "git~1") {
			return true
		}
	}
	return strings.EqualFold(name, ".git")
}

func withoutIgnorable(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(ignorable, r) {
			return -1
		}
		return r
	}, name)
}

// findRepositories walks the checkout by itself, without git, and lists every
// .git below root, as slashed paths of what they stand in ("." for root's
// own). It follows no link, and makes folders readable that are not.
func findRepositories(root string) ([]string, error) {
	var found []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if path != root && isDotGit(d.Name(), runtime.GOOS) {
			rel, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			found = append(found, filepath.ToSlash(rel))
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			return files.OpenFolder(path, d)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for repositories in the checkout: %w", tooLong(err))
	}
	return found, nil
}

// findIrregular lists what no tree can hold: pipes, sockets, devices.
func findIrregular(root string) ([]string, error) {
	var found []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Type()&irregular != 0 {
			rel, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			found = append(found, filepath.ToSlash(rel))
		}
		if d.IsDir() {
			return files.OpenFolder(path, d)
		}
		return nil
	})
	return found, tooLong(err)
}

// sweep removes every .git in the checkout, root's own too.
func sweep(root string) error {
	found, err := findRepositories(root)
	if err != nil {
		return err
	}
	odd, err := findIrregular(root)
	if err != nil {
		return err
	}
	for _, rel := range append(found, odd...) {
		if err := files.Remove(filepath.Join(root, filepath.FromSlash(rel))); err != nil {
			return err
		}
	}
	return nil
}
