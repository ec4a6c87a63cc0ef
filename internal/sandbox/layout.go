package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work/sorted"
)

// layout collects the entries of a plan.
type layout struct {
	box      Box
	checkout string
	all      []Entry
	resolved map[string]target // what follow found, by path
	looked   map[string]node   // what readNode found, by path
}

// newLayout begins a plan. A layout looks at each path once, so it lives no longer than one plan, in
// which nothing is created.
func newLayout(b Box, dir string) *layout {
	l := &layout{box: b, resolved: map[string]target{}, looked: map[string]node{}}
	if dir != "" {
		l.checkout = l.real(dir)
	}
	return l
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
	links, at, err := l.follow(path)
	if err != nil || insideAny(at, l.reals(l.box.Kept)) || l.tooMuch(path, at) || !l.guardLinks(links, at) {
		return
	}
	l.links(links, why)
	l.put(at, how, why)
}

// ours lets in our own folders, which are inside Kept.
func (l *layout) ours() {
	for _, p := range l.reals(l.box.Ours) {
		if l.readNode(p).err == nil {
			l.put(p, Read, "git's objects, and what gh mergexo writes for agents")
		}
	}
}

func (l *layout) put(path string, how How, why string) {
	n := l.readNode(path)
	l.add(Entry{Path: path, How: how, Why: why, file: n.err == nil && !n.dir})
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
	for _, p := range l.reals(paths) {
		if n := l.readNode(p); n.err == nil && l.shown(p) {
			l.add(Entry{Path: p, How: Hidden, Why: why, file: !n.dir})
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
	var all []Entry
	for _, e := range l.sorted() {
		if around, ok := enclosing(all, e.Path); !ok || !l.needless(e, around) {
			all = append(all, e)
		}
	}
	return all
}

// sorted returns all entries, outer ones first.
func (l *layout) sorted() []Entry {
	sorted.By(l.all, func(x, y Entry) int {
		return slices.Compare(strings.Split(x.Path, "/"), strings.Split(y.Path, "/"))
	})
	return l.all
}

// writable returns the folders beside the checkout that an agent's own sandbox may let its commands
// write to: the caches and the config's writable folders, as far as the final layout mounts them
// writable. Of the rest of the private home nothing, because programs read their settings there.
func (l *layout) writable(all []Entry) (dirs []string) {
	may := func(path string) {
		if slices.Contains(dirs, path) || slices.ContainsFunc(all, func(e Entry) bool { return e.How == Link && inside(path, e.Path) }) {
			return
		}
		e, found := enclosing(all, path)
		if i := slices.IndexFunc(all, func(e Entry) bool { return e.Path == path }); i >= 0 {
			e, found = all[i], true
		}
		if found && (e.How == Write || e.How == Private) {
			dirs = append(dirs, path)
		}
	}
	for _, path := range placesIn(l.real(l.box.Home), Private) {
		may(path)
		may(l.real(path)) // behind a link of the machine
	}
	for _, path := range l.reals(l.box.Writable) {
		may(path)
	}
	return dirs
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

// target is what follow finds.
type target struct {
	links []Entry
	real  string
	err   error
}

// follow returns the symbolic links on a path, each with its real path, and the path at the end.
func (l *layout) follow(path string) (links []Entry, real string, err error) {
	t, known := l.resolved[path]
	if !known {
		t.links, t.real, t.err = l.resolve(path)
		l.resolved[path] = t
	}
	return slices.Clone(t.links), t.real, t.err
}

func (l *layout) resolve(path string) (links []Entry, real string, err error) {
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
		n := l.readNode(at)
		if n.err != nil {
			return links, "", n.err
		}
		if n.to == "" {
			real = at
			continue
		}
		if links = append(links, Entry{Path: at, How: Link, from: n.to}); len(links) > maxLinks {
			return links, "", errors.New("too many links")
		}
		if filepath.IsAbs(n.to) {
			real = "/"
		}
		rest = append(strings.Split(n.to, "/"), rest...)
	}
	return links, real, nil
}

// node is a file, a folder or a link.
type node struct {
	to  string // where a link leads
	dir bool
	err error
}

// readNode looks at a path whose parent has no link in it.
func (l *layout) readNode(path string) node {
	n, known := l.looked[path]
	if known {
		return n
	}
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		n.err = err
	case info.Mode()&fs.ModeSymlink != 0:
		n.to, n.err = os.Readlink(path)
	default:
		n.dir = info.IsDir()
	}
	l.looked[path] = n
	return n
}

// real resolves the links of a path as far as it exists.
func (l *layout) real(path string) string {
	if _, r, err := l.follow(path); err == nil {
		return r
	}
	path = filepath.Clean(path)
	up := filepath.Dir(path)
	if up == path {
		return path
	}
	return filepath.Join(l.real(up), filepath.Base(path))
}

func (l *layout) reals(paths []string) []string {
	var all []string
	for _, p := range paths {
		all = append(all, l.real(p))
	}
	return all
}
