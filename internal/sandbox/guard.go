package sandbox

import (
	"path/filepath"
	"slices"
)

// agentsOwn are the folders that an agent writes to and that stay: its home, what
// the config lets it write to, the checkout. What lies in them may be its work, so
// no link there decides what else is let in.
func (l *layout) agentsOwn() []string {
	all := reals(slices.Concat(l.box.Homes, l.box.Writable))
	if l.checkout != "" {
		all = append(all, l.checkout)
	}
	return all
}

// guardLinks reports whether links may lead to a path. One that an agent could
// have made may only lead to what the agent sees anyway; the folder that it lies
// in is read-only then, so that it stays as it is.
func (l *layout) guardLinks(links []Entry, to string) bool {
	own := l.agentsOwn()
	for _, link := range links {
		for _, dir := range own {
			if !below(link.Path, dir) {
				continue
			}
			if !inside(to, dir) {
				return false
			}
			if parent := filepath.Dir(link.Path); parent != dir {
				l.put(parent, Read, "a program's link lies in it")
			}
		}
	}
	return true
}

// tooMuch refuses what a path leads to if that is or holds the home: the
// config's own rule, on links as they are now. The system's folders are
// let in by their names; a home in one of them is another one inside.
func (l *layout) tooMuch(path, at string) bool {
	if at == "/" {
		return true
	}
	return l.box.Home != "" && inside(real(l.box.Home), at) && !slices.Contains(systemPaths, path)
}

// pinned adds the folders between one that can be written to and what can only
// be read in it, as mounts of their own: a folder on which something is mounted
// cannot be renamed, but the one around it could be.
func (l *layout) pinned() {
	for _, e := range slices.Clone(l.all) {
		if e.How != Read {
			continue
		}
		around := ""
		for _, o := range l.all {
			if o.How == Write && !o.pin && below(e.Path, o.Path) && len(o.Path) > len(around) {
				around = o.Path
			}
		}
		if around == "" {
			continue
		}
		for dir := filepath.Dir(e.Path); dir != around; dir = filepath.Dir(dir) {
			if !slices.ContainsFunc(l.all, func(o Entry) bool { return o.Path == dir }) {
				l.all = append(l.all, Entry{Path: dir, How: Write, Why: "holds programs that can only be read", pin: true})
			}
		}
	}
}

// emptied puts empty folders in place of those on PATH that the home lacks. What
// an earlier command leaves there would be found as a program.
func (l *layout) emptied() {
	home := real(l.box.Home)
	for _, dir := range filepath.SplitList(l.box.Path) {
		links, _, err := follow(dir)
		rel, relErr := filepath.Rel(filepath.Clean(l.box.Home), filepath.Clean(dir))
		if err == nil || relErr != nil || !filepath.IsLocal(rel) || rel == "." {
			continue
		}
		path := filepath.Join(home, rel)
		throughLink := slices.ContainsFunc(links, func(e Entry) bool { return below(e.Path, home) })
		if !throughLink && !insideAny(path, l.agentsOwn()) {
			l.add(Entry{Path: path, How: Hidden, Why: "on PATH, and not there on this machine"})
		}
	}
}

// below reports whether a path lies in a folder and is not the folder.
func below(path, dir string) bool { return path != dir && inside(path, dir) }
