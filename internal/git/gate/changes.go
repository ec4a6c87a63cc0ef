package gate

import (
	"context"
	"fmt"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/git/mirror"
	"github.com/mergexo/gh-mergexo/internal/git/objects"
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
	var trees [2]string
	for i, of := range []string{from, tree} { // a commit, or a tree
		found, err := q.Objects().Look(ctx, of+"^{tree}")
		if err != nil {
			return nil, err
		}
		if trees[i] = found[0].OID; !found[0].Found() {
			return nil, fmt.Errorf("read changes: %q is missing", of)
		}
	}
	changes, err := q.Objects().Changes(ctx, trees[0], trees[1])
	out := make([]change, len(changes))
	for i, c := range changes {
		out[i] = change{oldMode: c.Old.Mode, newMode: c.New.Mode, oldOID: c.Old.OID, newOID: c.New.OID, path: c.Path}
	}
	return out, err
}

// The modes of a path that is no file.
const (
	modeGitlink = objects.ModeGitlink
	modeSymlink = objects.ModeSymlink
	modeNone    = objects.ModeNone
)
