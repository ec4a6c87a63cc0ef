package git

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/lazy"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// named has the paths that trusted agent files name, in lower case: programs load these with them.
// The value is false for a folder around such a path.
type named map[string]bool

// has reports whether a file or a folder around it is named. A file in the place of a folder around
// a named path counts too: as a link, it would put other files into the folder.
func (n named) has(file string) bool {
	file = strings.ToLower(file)
	if _, around := n[file]; around {
		return true
	}
	for p := path.Dir(file); p != "."; p = path.Dir(p) {
		if n[p] {
			return true
		}
	}
	return false
}

// namesOf collects the paths that agent files name.
type namesOf struct {
	named  named
	theirs map[string]treeEntry // trusted files
	files  map[string]bool      // files of both commits
	links  map[string]bool      // links of both commits
	todo   []treeEntry          // trusted files to look into
	seen   map[string]bool
}

// namedByAgentFiles returns the paths that trusted agent files name, directly or through one
// another.
func (m *Mirror) namedByAgentFiles(ctx context.Context, own, theirs []treeEntry) (named, error) {
	n := namesOf{named: named{}, theirs: map[string]treeEntry{}, files: map[string]bool{}, links: map[string]bool{}, seen: map[string]bool{}}
	for _, e := range slices.Concat(own, theirs) {
		n.files[e.Path], n.links[e.Path] = true, n.links[e.Path] || e.Mode == modeSymlink
	}
	for _, e := range theirs {
		n.theirs[e.Path] = e
		if work.IsAgentFile(e.Path) {
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
	return n.named, nil
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
			n.add(to)
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

// addFile adds a name, as written in a folder's file, if there is such a file.
func (n *namesOf) addFile(dir, name string) {
	if p := path.Join(dir, name); name != "" && !path.IsAbs(name) && n.reaches(p) {
		n.add(p)
	}
}

// reaches reports whether there is a file of that path, or a link on the way to it, through which
// the commit would put a file there that neither commit has by that path.
func (n *namesOf) reaches(p string) bool {
	if n.files[p] {
		return true
	}
	for dir := path.Dir(p); dir != "." && dir != "/"; dir = path.Dir(dir) {
		if n.links[dir] {
			return true
		}
	}
	return false
}

// add adds a path. Of a path behind a trusted link, it also adds the link, whose target is added
// when the link is read.
func (n *namesOf) add(p string) {
	key := strings.ToLower(p)
	if n.named[key] {
		return
	}
	n.named[key] = true
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		if e, ok := n.theirs[dir]; ok && e.Mode == modeSymlink {
			n.add(dir)
		} else if around := strings.ToLower(dir); !n.named[around] {
			n.named[around] = false
		}
	}
	for file, e := range n.theirs { // the path is a file's, or a folder's
		if file == p || strings.HasPrefix(file, p+"/") {
			n.look(e)
		}
	}
}

// linkTarget returns where a link leads; ok is false for a link out of the repository, or to all of
// it.
func linkTarget(link, target string) (to string, ok bool) {
	to = path.Join(path.Dir(link), target)
	return to, !path.IsAbs(target) && to != "." && to != ".." && !strings.HasPrefix(to, "../")
}
