package sandbox

import (
	"path/filepath"
	"slices"
)

// agentsOwn returns the folders that an agent writes to and that persist: its homes, the config's
// writable paths and the checkout. The agent may have created their content, so links in them must
// not let in anything else.
func (l *layout) agentsOwn() []string {
	all := l.reals(slices.Concat(l.box.Homes, l.box.Writable))
	if l.checkout != "" {
		all = append(all, l.checkout)
	}
	return all
}

// guardLinks reports whether links may lead to a path. A link that an agent may have made may lead
// only into the same folder of agentsOwn. The link's parent is then read-only, so that the link
// cannot change.
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

// tooMuch refuses a path whose target is or contains the home. The config has the same rule; this
// one applies to links as they are now. The system's folders are let in by name; a home inside one
// is replaced anyway.
func (l *layout) tooMuch(path, at string) bool {
	if at == "/" {
		return true
	}
	return l.box.Home != "" && inside(l.real(l.box.Home), at) && !slices.Contains(systemPaths, path)
}

// pinned adds the folders between a writable folder and a read-only path in it, as mounts of their
// own. A mount point cannot be renamed, but the folder around it could be.
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

// emptied adds empty folders for entries of PATH that are missing in the home. Otherwise programs
// left there by an earlier command would be found.
func (l *layout) emptied() {
	home := l.real(l.box.Home)
	for _, dir := range filepath.SplitList(l.box.Path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		links, _, err := l.follow(dir)
		path := l.real(dir)
		if err == nil || !below(path, home) {
			continue
		}
		throughLink := slices.ContainsFunc(links, func(e Entry) bool { return below(e.Path, home) })
		if !throughLink && !insideAny(path, l.agentsOwn()) {
			l.add(Entry{Path: path, How: Hidden, Why: "on PATH, and not there on this machine"})
		}
	}
}

// below reports whether a path is inside a folder and not the folder itself.
func below(path, dir string) bool { return path != dir && inside(path, dir) }
