package agent

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// The folder of an agent's program is the agent's to write: it may hold links that
// lead round and round, pipes, and a million names. So session files are looked
// for in real folders with the right names alone, and not without an end.

// maxEntries is how many names are read in a search for a session's file.
const maxEntries = 50_000

// The names of the folders in which codex and claude keep their sessions.
var (
	yearName = regexp.MustCompile(`^[0-9]{4}$`)
	dayName  = regexp.MustCompile(`^[0-9]{2}$`)
	anyName  = regexp.MustCompile(``)
)

// sessionFile is where an adapter's program keeps a session; empty when it is not
// there.
func (s Spec) sessionFile(session string) string {
	homes := Homes(s.Adapter, s.Environ)
	if !uuid.MatchString(session) || len(homes) == 0 {
		return ""
	}
	look := search{left: maxEntries}
	switch s.Adapter {
	case AdapterCodex:
		return look.in(filepath.Join(homes[0], "sessions"), []*regexp.Regexp{yearName, dayName, dayName}, func(dir string) string {
			return look.named(dir, "rollout-", "-"+session+".jsonl")
		})
	case AdapterClaude:
		return look.in(filepath.Join(homes[0], "projects"), []*regexp.Regexp{anyName}, func(dir string) string {
			return regular(filepath.Join(dir, session+".jsonl"))
		})
	}
	return ""
}

// search is a search that ends.
type search struct{ left int }

// in looks in the folders below dir, as deep as there are names, the last of each
// level first: of folders named by dates that is the newest.
func (s *search) in(dir string, names []*regexp.Regexp, found func(dir string) string) string {
	if len(names) == 0 {
		return found(dir)
	}
	for _, e := range slices.Backward(s.list(dir)) {
		if !e.IsDir() || !names[0].MatchString(e.Name()) {
			continue
		}
		if path := s.in(filepath.Join(dir, e.Name()), names[1:], found); path != "" {
			return path
		}
	}
	return ""
}

// named is the last file of a folder whose name begins and ends so.
func (s *search) named(dir, begins, ends string) string {
	for _, e := range slices.Backward(s.list(dir)) {
		if e.Type().IsRegular() && strings.HasPrefix(e.Name(), begins) && strings.HasSuffix(e.Name(), ends) {
			return filepath.Join(dir, e.Name())
		}
	}
	return ""
}

// list reads a folder, sorted, as far as the search still may.
func (s *search) list(dir string) []fs.DirEntry {
	if s.left <= 0 {
		return nil
	}
	f, err := os.OpenFile(dir, os.O_RDONLY|openSafely, 0)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	all, _ := f.ReadDir(s.left) // what was read before an error counts
	s.left -= len(all)
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return all
}

// regular is a path at which a regular file is; else empty.
func regular(path string) string {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return path
}

// openRegular opens a file that an agent may have put something else in place of.
func openRegular(path string) (*os.File, fs.FileInfo, error) {
	if regular(path) == "" {
		return nil, nil, fmt.Errorf("open %s: not a regular file", path) // on Windows this alone finds links
	}
	f, err := os.OpenFile(path, os.O_RDONLY|openSafely, 0)
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
