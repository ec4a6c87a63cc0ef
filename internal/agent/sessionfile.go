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

// The folder of an agent's program is the agent's to write: it may hold links that
// lead round and round, pipes, and a million names. So session files are looked
// for in real folders with the right names alone, and not without an end.

// maxEntries is how many names are read in a search for a session's file.
const maxEntries = 50_000

// Sessions is where a program keeps its sessions, each in a file that is named by it.
type Sessions struct {
	Folder string                  // in the program's home
	Levels []func() *regexp.Regexp // the names of the folders below that, a level each
	Begins string                  // a file is named BEGINS…-SESSION.jsonl; empty: SESSION.jsonl
}

// SessionFile is where an adapter's program keeps a session; empty when it is not
// there.
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

// search is a search that ends.
type search struct{ left int }

// in looks in the folders below dir, as deep as there are names, the last of each
// level first: of folders named by dates that is the newest.
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
	f, err := os.OpenFile(dir, os.O_RDONLY|files.OpenSafely, 0)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	all, _ := f.ReadDir(s.left) // what was read before an error counts
	s.left -= len(all)
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return all
}
