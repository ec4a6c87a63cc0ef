package agent

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/files"
)

// The agent can write to its program's folder: it may hold circular links, pipes, and a million
// names. So session files are searched only in real folders with the right names, and the search is
// bounded.

// maxEntries is how many directory entries a search for a session's file reads.
const maxEntries = 50_000

// Sessions describes where a program keeps its sessions, each in a file named by its id.
type Sessions struct {
	Folder string                  // in the program's home
	Levels []func() *regexp.Regexp // name patterns of the folders below, one per level
	Begins string                  // file names are BEGINS…-SESSION.jsonl; empty: SESSION.jsonl
}

// SessionFile returns the path of a session's file; "" if it is missing.
func (s Spec) SessionFile(session string) string {
	homes := s.Adapter.Homes(s.Environ)
	if !IsSession(session) || len(homes) == 0 || s.Adapter.Sessions.Folder == "" {
		return ""
	}
	look, keeps := search{left: maxEntries}, s.Adapter.Sessions
	return look.in(filepath.Join(homes[0], keeps.Folder), keeps.Levels, func(dir string) string {
		if keeps.Begins != "" {
			return look.named(dir, keeps.Begins, "-"+session+".jsonl")
		}
		return files.Regular(filepath.Join(dir, session+".jsonl"))
	})
}

// search is a bounded search; left is how many entries it may still read.
type search struct{ left int }

// in searches the folders below dir, one level per name pattern, the last name of each level first:
// for dates that is the newest.
func (s *search) in(dir string, names []func() *regexp.Regexp, found func(dir string) string) string {
	if len(names) == 0 {
		return found(dir)
	}
	for _, e := range slices.Backward(s.list(dir)) {
		if !e.IsDir() || !names[0]().MatchString(e.Name()) {
			continue
		}
		if path := s.in(filepath.Join(dir, e.Name()), names[1:], found); path != "" {
			return path
		}
	}
	return ""
}

// named returns the last file of a folder whose name has this prefix and suffix.
func (s *search) named(dir, begins, ends string) string {
	for _, e := range slices.Backward(s.list(dir)) {
		if e.Type().IsRegular() && strings.HasPrefix(e.Name(), begins) && strings.HasSuffix(e.Name(), ends) {
			return filepath.Join(dir, e.Name())
		}
	}
	return ""
}

// list reads a folder, sorted, within the search's bound.
func (s *search) list(dir string) []fs.DirEntry {
	if s.left <= 0 {
		return nil
	}
	f, err := os.OpenFile(dir, os.O_RDONLY|files.OpenSafely, 0)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	all, _ := f.ReadDir(s.left) // entries that were read before an error count
	s.left -= len(all)
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return all
}
