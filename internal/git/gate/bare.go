package gate

import (
	"cmp"
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/git/mirror"
)

// paths are the paths of a tree and of its folders, in lower case.
type paths map[string]bool

// bare refuses a folder that git takes for a repository without a working
// tree: who stands in it and calls git has its configuration obeyed, programs
// that it names included. One that was there, a fixture, may get other
// objects, but no configuration and no hooks.
func (j *judge) bare(ctx context.Context) error {
	folders := map[string]string{} // what may have become one, by a path that changed
	for _, ch := range j.changes {
		parts := strings.Split(ch.path, "/")
		for i, name := range parts {
			if ch.newMode != modeNone && slices.Contains(repositoryNames, strings.ToLower(name)) {
				folders[path.Join(parts[:i]...)] = ch.path
			}
		}
	}
	if len(folders) == 0 {
		return nil
	}
	now, err := pathsOf(ctx, j.q, j.tree)
	if err != nil {
		return err
	}
	before := paths{}
	if len(j.Parents) > 0 {
		if before, err = pathsOf(ctx, j.q, j.Parents[0]); err != nil {
			return err
		}
	}
	for _, folder := range slices.Sorted(maps.Keys(folders)) {
		switch {
		case !now.bare(folder):
		case !before.bare(folder):
			j.refused.add("%q is a repository within the repository", cmp.Or(folder, "."))
		default:
			j.refuseSettings(folder)
		}
	}
	return nil
}

var repositoryNames = []string{"head", "objects", "refs", "commondir", "config", "config.worktree", "hooks"}

// refuseSettings refuses what git would obey.
func (j *judge) refuseSettings(folder string) {
	for _, ch := range j.changes {
		rest, ok := strings.CutPrefix(ch.path, folder+"/")
		first, _, _ := strings.Cut(strings.ToLower(rest), "/")
		if ok && ch.newMode != modeNone && slices.Contains([]string{"config", "config.worktree", "hooks", "commondir"}, first) {
			j.refused.add("%q is of a repository within the repository", ch.path)
		}
	}
}

func pathsOf(ctx context.Context, q *mirror.Quarantine, tree string) (paths, error) {
	found, err := treeChanges(ctx, q, mirror.EmptyTree, tree)
	if err != nil {
		return nil, err
	}
	out := paths{}
	for _, ch := range found {
		for at := strings.ToLower(ch.path); at != "." && !out[at]; at = path.Dir(at) {
			out[at] = true
		}
	}
	return out, nil
}

// bare reports whether git takes the folder for a repository: it has a HEAD,
// objects and refs, or says where they are.
func (p paths) bare(folder string) bool {
	has := func(name string) bool { return p[path.Join(strings.ToLower(folder), name)] }
	return has("head") && (has("objects") && has("refs") || has("commondir"))
}
