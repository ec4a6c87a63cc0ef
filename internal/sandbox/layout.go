package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// layout collects the entries of a plan.
type layout struct {
	box      Box
	checkout string
	all      []Entry
}

// add adds an entry and replaces a different one for the same path.
func (l *layout) add(e Entry) {
	if slices.ContainsFunc(l.all, func(o Entry) bool { return o.Path == e.Path && o.How == e.How && o.from == e.from }) {
		return
	}
	l.all = slices.DeleteFunc(l.all, func(o Entry) bool { return o.Path == e.Path })
	l.all = append(l.all, e)
}

// let lets a path in if it exists: the links on the way and their target. Paths in Kept are never
// let in.
func (l *layout) let(path string, how How, why string) {
	if !filepath.IsAbs(path) {
		return
	}
	links, at, err := follow(path)
	if err != nil || insideAny(at, reals(l.box.Kept)) || l.tooMuch(path, at) || !l.guardLinks(links, at) {
		return
	}
	l.links(links, why)
	l.put(at, how, why)
}

// ours lets in our own folders, which are inside Kept.
func (l *layout) ours() {
	for _, p := range reals(l.box.Ours) {
		if _, err := os.Stat(p); err == nil {
			l.put(p, Read, "git's objects, and what gh mergexo writes for agents")
		}
	}
}

func (l *layout) put(path string, how How, why string) {
	info, err := os.Stat(path)
	l.add(Entry{Path: path, How: how, Why: why, file: err == nil && !info.IsDir()})
}

func (l *layout) links(links []Entry, why string) {
	for _, e := range links {
		e.Why = why
		l.add(e)
	}
}

// cover hides paths inside entries so far, unless they have their own entry. Paths elsewhere are
// not visible anyway.
func (l *layout) cover(paths []string, why string) {
	for _, p := range reals(paths) {
		if info, err := os.Stat(p); err == nil && l.shown(p) {
			l.add(Entry{Path: p, How: Hidden, Why: why, file: !info.IsDir()})
		}
	}
}

// uncover removes Hidden entries within a path.
func (l *layout) uncover(path string) {
	l.all = slices.DeleteFunc(l.all, func(e Entry) bool { return e.How == Hidden && inside(e.Path, path) })
}

// shown reports whether a path is inside a readable or writable entry and has no such entry itself.
func (l *layout) shown(path string) bool {
	within := false
	for _, e := range l.all {
		if e.How == Read || e.How == Write {
			if e.Path == path {
				return false
			}
			within = within || inside(path, e.Path)
		}
	}
	return within
}

// entries returns the needed entries, outer ones first. An entry that changes nothing within
// another one is omitted.
func (l *layout) entries() []Entry {
	l.pinned()
	slices.SortStableFunc(l.all, func(x, y Entry) int {
		return slices.Compare(strings.Split(x.Path, "/"), strings.Split(y.Path, "/"))
	})
	var all []Entry
	for _, e := range l.all {
		if around, ok := enclosing(all, e.Path); !ok || !l.needless(e, around) {
			all = append(all, e)
		}
	}
	return all
}

// needless reports whether an entry changes nothing within the one around it.
func (l *layout) needless(e, around Entry) bool {
	switch around.How {
	case Hidden:
		return e.How == Hidden
	case Read, Write:
		return e.How == Link || e.How == around.How && !e.pin
	case Private, Link:
	}
	return false
}

// enclosing returns the innermost entry around a path. all must be sorted.
func enclosing(all []Entry, path string) (Entry, bool) {
	for _, e := range slices.Backward(all) {
		if e.Path != path && e.How != Link && inside(path, e.Path) {
			return e, true
		}
	}
	return Entry{}, false
}

// maxLinks is how many links a path may go through, as on Linux.
const maxLinks = 40

// follow returns the symbolic links on a path, each with its real path, and the path at the end.
func follow(path string) (links []Entry, real string, err error) {
	real = "/"
	rest := strings.Split(filepath.Clean(path), "/")
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			real = filepath.Dir(real)
			continue
		}
		at := filepath.Join(real, name)
		info, err := os.Lstat(at)
		if err != nil {
			return links, "", err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			real = at
			continue
		}
		to, err := os.Readlink(at)
		if err != nil {
			return links, "", err
		}
		if links = append(links, Entry{Path: at, How: Link, from: to}); len(links) > maxLinks {
			return links, "", errors.New("too many links")
		}
		if filepath.IsAbs(to) {
			real = "/"
		}
		rest = append(strings.Split(to, "/"), rest...)
	}
	return links, real, nil
}
