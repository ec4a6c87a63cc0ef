package git

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/lazy"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// obeyed has the paths that agents obey: those of work.AgentFiles, and those that a trusted commit's
// files among these name, in lower case. Nil: no file names any.
type obeyed map[string]nameKind

// nameKind is how a path is named; each kind includes the ones before.
type nameKind int

// A link in the place of a folder around a named path would put other files into the folder, and a
// folder in the place of a named file would leave no room for it.
const (
	aroundNamed nameKind = iota + 1 // a file there counts
	namedPath                       // the same: a program loads it, if it is a file
	namedTree                       // all below it, too: the target of a link, or a file of the trusted commit
)

// has reports whether agents obey a file.
func (o obeyed) has(file string) bool {
	if work.IsAgentFile(file) {
		return true
	}
	file = strings.ToLower(file)
	if o[file] > 0 {
		return true
	}
	for p := path.Dir(file); p != "."; p = path.Dir(p) {
		if o[p] == namedTree {
			return true
		}
	}
	return false
}

// Obeyed returns those of paths that agents obey once they are on the trusted commit's branch. A
// submodule counts, as it may bring such files.
func (m *Mirror) Obeyed(ctx context.Context, trusted string, paths []string) (some []string, err error) {
	o, err := m.obeyedBy(ctx, trusted)
	if err != nil {
		return nil, fmt.Errorf("find what agents obey by the files of %s: %w", trusted, err)
	}
	modules, err := m.moduleURLs(ctx, trusted)
	if _, broken := errors.AsType[*CheckoutError](err); err != nil && !broken {
		return nil, fmt.Errorf("find the submodules of %s: %w", trusted, err)
	}
	for _, p := range paths {
		if o.has(p) || modules[p] != "" {
			some = append(some, p)
		}
	}
	return some, nil
}

// obeyedBy finds what agents obey by a trusted commit's files, once for each commit.
func (m *Mirror) obeyedBy(ctx context.Context, trusted string) (obeyed, error) {
	if known, ok := m.obeyed.Load(trusted); ok {
		return known.(obeyed), nil
	}
	entries, err := m.entries(ctx, trusted)
	if err != nil {
		return nil, err
	}
	n := namesOf{named: obeyed{}, files: map[string]treeEntry{}, seen: map[string]bool{}}
	for _, e := range entries {
		if n.files[e.Path] = e; work.IsAgentFile(e.Path) {
			n.look(e)
		}
	}
	for len(n.todo) > 0 {
		todo := n.todo
		n.todo = nil
		blobs := make([]object, len(todo))
		for i, e := range todo {
			blobs[i] = object{OID: e.OID, Kind: "blob"}
		}
		err := m.objects.Read(ctx, blobs, func(i int, content []byte) error {
			n.read(todo[i], string(content))
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	m.obeyed.Store(trusted, n.named)
	return n.named, nil
}

// namesOf collects the paths that a trusted commit's agent files name, directly or through one
// another. Whether there is a file by that path does not count: a change may bring it, or an earlier
// turn have left it.
type namesOf struct {
	named obeyed
	files map[string]treeEntry // of the trusted commit
	todo  []treeEntry          // those to look into
	seen  map[string]bool
}

// look has a trusted file read, if it can name others.
func (n *namesOf) look(e treeEntry) {
	if n.seen[e.Path] || e.Mode == modeGitlink || e.Mode != modeSymlink && !isProse(e.Path) && !isSettings(e.Path) {
		return
	}
	n.seen[e.Path] = true
	n.todo = append(n.todo, e)
}

// isProse reports whether programs expand imports in a file: "@docs/rules.md".
func isProse(file string) bool {
	return slices.Contains([]string{".md", ".mdc", ".markdown", ".txt", ""}, ext(file))
}

// isSettings reports whether a file is one in which programs find names of files.
func isSettings(file string) bool {
	return slices.Contains([]string{".json", ".jsonc", ".toml", ".yaml", ".yml"}, ext(file))
}

// ext is the extension of a file. That of .goosehints is empty.
func ext(file string) string {
	return strings.ToLower(path.Ext(strings.TrimPrefix(path.Base(file), ".")))
}

var (
	importedPath = lazy.Regexp(`(?:^|[\s(])@((?:\\ |\S)+)`) // a blank in a name is escaped
	settingsPath = lazy.Regexp(`\$\w+|[\pL\pN_./@+-]+`)
)

// read adds what a trusted file names.
func (n *namesOf) read(e treeEntry, content string) {
	switch {
	case e.Mode == modeSymlink:
		if to, ok := linkTarget(e.Path, content); ok {
			n.add(to, namedTree)
		}
	case isProse(e.Path):
		for _, m := range importedPath().FindAllStringSubmatch(content, -1) {
			name := strings.ReplaceAll(m[1], `\ `, " ")
			file, _, _ := strings.Cut(name, "#") // behind which is a heading
			for _, one := range []string{name, strings.TrimRight(name, ".,;:!?)\"'`"), file} {
				n.addFile(path.Dir(e.Path), one)
			}
		}
	default:
		for _, word := range settingsPath().FindAllString(content, -1) {
			if !strings.HasPrefix(word, "$") && strings.ContainsAny(word, "./") {
				n.addFile(path.Dir(e.Path), word)
				n.addFile(".", strings.TrimPrefix(word, "/")) // behind a variable for the folder
			}
		}
	}
}

// addFile adds a name, as written in a folder's file.
func (n *namesOf) addFile(dir, name string) {
	if p := path.Join(dir, name); name != "" && !path.IsAbs(name) && p != "." && p != ".." && !strings.HasPrefix(p, "../") {
		n.add(p, namedPath)
	}
}

// add adds a path. Of a path behind a trusted link, it also adds the link, whose target is added
// when the link is read.
func (n *namesOf) add(p string, kind nameKind) {
	e, isFile := n.files[p]
	if isFile {
		kind = namedTree
	}
	key := strings.ToLower(p)
	if n.named[key] >= kind {
		return
	}
	n.named[key] = kind
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		if link, ok := n.files[dir]; ok && link.Mode == modeSymlink {
			n.add(dir, namedTree)
		} else if around := strings.ToLower(dir); n.named[around] == 0 {
			n.named[around] = aroundNamed
		}
	}
	switch {
	case isFile:
		n.look(e)
	case kind == namedTree:
		for file, e := range n.files {
			if strings.HasPrefix(file, p+"/") {
				n.look(e)
			}
		}
	}
}

// linkTarget returns where a link leads; ok is false for a link out of the repository, or to all of
// it.
func linkTarget(link, target string) (to string, ok bool) {
	to = path.Join(path.Dir(link), target)
	return to, !path.IsAbs(target) && to != "." && to != ".." && !strings.HasPrefix(to, "../")
}
