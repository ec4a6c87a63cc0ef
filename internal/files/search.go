package files

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work/sorted"
)

// Search is a bounded search; Left is how many directory entries it may still read. Folders that
// other programs fill may hold circular links, pipes and a million names: only real folders with the
// right names are read.
type Search struct{ Left int }

// In searches the folders below dir, one level per name pattern, the last name of each level first:
// for dates that is the newest.
func (s *Search) In(dir string, names []func() *regexp.Regexp, found func(dir string) string) string {
	if len(names) == 0 {
		return found(dir)
	}
	for _, e := range slices.Backward(s.list(dir)) {
		if !e.IsDir() || !names[0]().MatchString(e.Name()) {
			continue
		}
		if path := s.In(filepath.Join(dir, e.Name()), names[1:], found); path != "" {
			return path
		}
	}
	return ""
}

// Last returns the last file of a folder whose name has this prefix and suffix.
func (s *Search) Last(dir, begins, ends string) string {
	for _, e := range slices.Backward(s.list(dir)) {
		if e.Type().IsRegular() && strings.HasPrefix(e.Name(), begins) && strings.HasSuffix(e.Name(), ends) {
			return filepath.Join(dir, e.Name())
		}
	}
	return ""
}

// list reads a folder, sorted, within the search's bound.
func (s *Search) list(dir string) []fs.DirEntry {
	if s.Left <= 0 {
		return nil
	}
	f, err := os.OpenFile(dir, os.O_RDONLY|OpenSafely, 0)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	all, _ := f.ReadDir(s.Left) // entries that were read before an error count
	s.Left -= len(all)
	sorted.By(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return all
}
