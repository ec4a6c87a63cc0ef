package git

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"strings"
)

// Guarded is a commit's tree with the files that agents obey taken from a trusted commit, so that
// the commit's author cannot instruct agents.
type Guarded struct {
	Tree  string
	Paths []string // paths that differ from the commit's own; empty if its tree is unchanged

	obeyed obeyed // what agents obey by the trusted commit's files
}

// Guard makes a Guarded tree. Agents obey what work.AgentFiles names and what the trusted files
// among these name: a link its target, a text the files that it imports, settings the files in
// them. A trusted file is left out if another file of the commit is in its place, or if it is a
// link out of the repository.
func (m *Mirror) Guard(ctx context.Context, commit, trusted string) (Guarded, error) {
	own, err := m.entries(ctx, commit)
	if err != nil {
		return Guarded{}, fmt.Errorf("guard %s: %w", commit, err)
	}
	theirs, err := m.entries(ctx, trusted)
	if err != nil {
		return Guarded{}, fmt.Errorf("guard %s: %w", commit, err)
	}
	g := guard{mirror: m, kept: map[string]bool{}}
	if g.obeyed, err = m.obeyedBy(ctx, trusted); err != nil {
		return Guarded{}, fmt.Errorf("guard %s: %w", commit, err)
	}
	if err := g.compare(ctx, own, theirs); err != nil {
		return Guarded{}, fmt.Errorf("guard %s: %w", commit, err)
	}
	tree, err := g.write(ctx, commit)
	if err != nil {
		return Guarded{}, fmt.Errorf("guard %s: %w", commit, err)
	}
	return Guarded{Tree: tree, Paths: g.paths, obeyed: g.obeyed}, nil
}

// indexLine formats an entry for update-index.
func indexLine(e treeEntry) string { return e.Mode + " " + e.OID + "\t" + e.Path + "\x00" }

func (m *Mirror) entries(ctx context.Context, commit string) ([]treeEntry, error) {
	tree, err := m.treeOf(ctx, commit)
	if err != nil {
		return nil, err
	}
	return m.objects.list(ctx, tree)
}

// guard is the state of one call of Guard.
type guard struct {
	mirror *Mirror
	obeyed obeyed
	kept   map[string]bool // the commit's remaining files and their folders (with a trailing slash)
	lines  strings.Builder // input of update-index: removals, then additions
	paths  []string
}

// compare records the removals and the additions.
func (g *guard) compare(ctx context.Context, own, theirs []treeEntry) error {
	before := map[string]treeEntry{}
	for _, e := range own {
		if g.obeyed.has(e.Path) {
			before[e.Path] = e
			continue
		}
		g.keep(e.Path)
	}
	come := map[string]treeEntry{}
	for _, e := range theirs {
		usable, err := g.usable(ctx, e)
		if err != nil {
			return err
		}
		if usable {
			come[e.Path] = e
		}
	}
	for _, e := range own {
		if _, guarded := before[e.Path]; guarded && come[e.Path] != e {
			g.paths = append(g.paths, e.Path)
			fmt.Fprintf(&g.lines, "0 %s\t%s\x00", strings.Repeat("0", len(e.OID)), e.Path)
		}
	}
	for _, e := range theirs {
		if _, usable := come[e.Path]; !usable || before[e.Path] == e {
			continue
		}
		if _, known := before[e.Path]; !known {
			g.paths = append(g.paths, e.Path)
		}
		g.lines.WriteString(indexLine(e))
	}
	return nil
}

// keep records a remaining file and its folders.
func (g *guard) keep(name string) {
	g.kept[name] = true
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		g.kept[dir+"/"] = true
	}
}

// usable reports whether a trusted file can be added: no remaining file is in its place, and it is
// no link to a path that is not guarded.
func (g *guard) usable(ctx context.Context, e treeEntry) (bool, error) {
	if !g.obeyed.has(e.Path) || g.kept[e.Path+"/"] {
		return false, nil
	}
	for dir := path.Dir(e.Path); dir != "."; dir = path.Dir(dir) {
		if g.kept[dir] {
			return false, nil
		}
	}
	if e.Mode != modeSymlink {
		return true, nil
	}
	content, err := g.mirror.objects.content(ctx, object{OID: e.OID, Kind: "blob"})
	to, ok := linkTarget(e.Path, string(content))
	return err == nil && ok && g.obeyed.has(to), err
}

func (g *guard) write(ctx context.Context, commit string) (tree string, err error) {
	if g.lines.Len() == 0 {
		return g.mirror.treeOf(ctx, commit)
	}
	err = g.mirror.inQuarantine(ctx, "guard "+commit, func(q *quarantine) error {
		index := filepath.Join(q.Dir, "index")
		calls := []struct {
			args []string
			in   string
		}{{[]string{"read-tree", commit}, ""}, {[]string{"update-index", "-z", "--index-info"}, g.lines.String()}, {[]string{"write-tree"}, ""}}
		for _, step := range calls {
			c := q.command(step.args...)
			c.Index, c.Stdin = index, []byte(step.in)
			if tree, err = c.text(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	return tree, err
}
