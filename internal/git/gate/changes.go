package gate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/git/mirror"
)

// change is a path that differs from every parent.
type change struct {
	oldMode, newMode, oldOID, newOID, path string

	others []change // the same path against the other parents
}

// changesOf lists what a tree changes, against the first parent, leaving out
// what it has from another parent.
func changesOf(ctx context.Context, q *mirror.Quarantine, parents []string, tree string) ([]change, error) {
	if len(parents) == 0 {
		return treeChanges(ctx, q, mirror.EmptyTree, tree)
	}
	all, err := treeChanges(ctx, q, parents[0], tree)
	if err != nil {
		return nil, err
	}
	for _, p := range parents[1:] {
		more, err := treeChanges(ctx, q, p, tree)
		if err != nil {
			return nil, err
		}
		differs := map[string]change{}
		for _, ch := range more {
			differs[ch.path] = ch
		}
		all = slices.DeleteFunc(all, func(ch change) bool { return differs[ch.path].path == "" })
		for i := range all {
			all[i].others = append(all[i].others, differs[all[i].path])
		}
	}
	return all, nil
}

func treeChanges(ctx context.Context, q *mirror.Quarantine, from, tree string) ([]change, error) {
	parts, err := q.Call("diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", "--ignore-submodules=none", from, tree).Fields(ctx)
	if err != nil {
		return nil, err
	}
	var out []change
	for i := 0; i+1 < len(parts); i += 2 {
		f := strings.Fields(strings.TrimPrefix(parts[i], ":"))
		if len(f) < 5 {
			return nil, fmt.Errorf("read changes: %q", parts[i])
		}
		out = append(out, change{oldMode: f[0], newMode: f[1], oldOID: f[2], newOID: f[3], path: parts[i+1]})
	}
	return out, nil
}

// The modes of a path that is no file.
const (
	modeGitlink = "160000"
	modeSymlink = "120000"
	modeNone    = "000000"
)
