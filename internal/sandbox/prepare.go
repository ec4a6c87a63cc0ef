package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Around returns the folder, beside the checkout, of what replaces home and temporary folders for
// the checkout's commands. It is removed with the checkout.
func Around(dir string) string { return dir + ".box" }

func (b Box) around(j work.Job) string { return cmp.Or(b.Own, Around(j.Dir)) }

// folders returns the folders that replace others for a job's command. Tests get an unused home,
// because the content of caches influences their results.
func (b Box) folders(j work.Job) private {
	own := private{home: filepath.Join(b.around(j), "home"), temp: filepath.Join(b.around(j), "tmp")}
	if b.Items != "" && j.Item > 0 && j.For == work.RunsAgent {
		own.home = filepath.Join(b.Items, strconv.Itoa(j.Item), part(j.Role), b.Agent)
	}
	return own
}

// part returns the folder of a reviewer's homes within an item's; "" for the author. An author who
// could leave programs in a reviewer's home could control the review. No agent's name begins with a
// dot, so they cannot collide.
func part(role string) string {
	if role == "" {
		return ""
	}
	return filepath.Join(".reviewers", role)
}

// prepare creates the folders of a plan and removes an earlier command's temporary files.
func (b Box) prepare(j work.Job, own private) error {
	around := b.around(j)
	if err := Remove(around); err != nil {
		// If the leftovers cannot be removed, they are moved aside, so that they do not block later
		// commands.
		aside := around + ".left"
		for n := 1; exists(aside); n++ {
			aside = fmt.Sprintf("%s.left-%d", around, n)
		}
		if os.Rename(around, aside) != nil {
			return fmt.Errorf("empty the folder %s: %w", around, err)
		}
	}
	for _, dir := range []string{around, own.temp, filepath.Dir(own.home)} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("make a folder for the sandbox: %w", err)
		}
	}
	if err := b.emptyHome(own.home); err != nil {
		return err
	}
	if err := realFolder(own.home); err != nil { // never through a link: in the past an item's home was the folder around it
		return fmt.Errorf("make a folder for the sandbox: %w", err)
	}
	if err := os.WriteFile(b.emptyFile(j), nil, 0o400); err != nil {
		return fmt.Errorf("make a file for the sandbox: %w", err)
	}
	if j.For == work.RunsTests {
		return nil
	}
	if err := makeCaches(own.home); err != nil {
		return err
	}
	l := newLayout(b, j.Dir)
	for _, p := range slices.Concat(b.Homes, b.Writable) {
		links, _, err := l.follow(p)
		byAgent := slices.ContainsFunc(links, func(e Entry) bool {
			return slices.ContainsFunc(l.agentsOwn(), func(dir string) bool { return below(e.Path, dir) })
		})
		if errors.Is(err, fs.ErrNotExist) && !byAgent && filepath.Ext(p) != ".json" { // claude has a .json file beside its folder
			_ = os.MkdirAll(p, 0o700) // a missing folder is not let in
		}
	}
	return nil
}

// emptyFile returns the path of the empty file that replaces hidden files.
func (b Box) emptyFile(j work.Job) string { return filepath.Join(b.around(j), "empty") }

// mountPoints creates the mount points within private folders, and the folders of the private home
// that are mounted elsewhere. bubblewrap would follow a link that an agent left there, and create
// folders at its target.
func mountPoints(all []Entry, home string) error {
	seen := folders{}
	for i, e := range all {
		if e.How == Private && below(e.from, home) {
			if err := seen.mountPoint(home, e.from, Entry{How: Write}); err != nil {
				return fmt.Errorf("make %s for the sandbox: %w", e.from, err)
			}
		}
		around, ok := enclosing(all[:i], e.Path)
		if !ok || around.How != Private {
			continue
		}
		at := filepath.Join(around.from, strings.TrimPrefix(e.Path, around.Path))
		if err := seen.mountPoint(around.from, at, e); err != nil {
			return fmt.Errorf("make %s for the sandbox: %w", at, err)
		}
	}
	return nil
}

// folders are the paths in a private folder that realFolder has made folders. No other process writes
// there until the sandbox starts.
type folders map[string]bool

// real makes the path a folder, as realFolder does, but looks at it once.
func (s folders) real(dir string) error {
	if s[dir] {
		return nil
	}
	err := realFolder(dir)
	s[dir] = err == nil
	return err
}

func (s folders) mountPoint(root, at string, e Entry) error {
	rel, err := filepath.Rel(root, at)
	if err != nil {
		return err
	}
	dir := root
	for name := range strings.SplitSeq(filepath.Dir(rel), "/") {
		dir = filepath.Join(dir, name)
		if err := s.real(dir); err != nil {
			return err
		}
	}
	if e.How == Link || e.file {
		clear(s) // what is not this is removed
	}
	switch {
	case e.How == Link:
		if to, err := os.Readlink(at); err == nil && to == e.from {
			return nil
		}
		if err := Remove(at); err != nil {
			return err
		}
		return os.Symlink(e.from, at)
	case e.file:
		return realFile(at)
	}
	return s.real(at)
}

// realFolder makes the path a folder; a file or a link there is removed.
func realFolder(dir string) error {
	info, err := os.Lstat(dir)
	if err == nil && info.IsDir() {
		return nil
	}
	if err == nil {
		err = os.Remove(dir)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Mkdir(dir, 0o700)
}

func realFile(path string) error {
	info, err := os.Lstat(path)
	if err == nil && info.Mode().IsRegular() {
		return nil
	}
	if err == nil {
		err = Remove(path)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.WriteFile(path, nil, 0o600)
}

// makeCaches creates the cache folders in a private home: an agent's own sandbox lets its commands
// write only to folders that exist when it starts. An agent may have left links there; none is
// followed.
func makeCaches(home string) error {
	seen := folders{}
	for _, dir := range placesIn(home, Private) {
		if err := seen.mountPoint(home, dir, Entry{How: Write}); err != nil {
			return fmt.Errorf("make a cache folder for the sandbox: %w", err)
		}
	}
	return nil
}
