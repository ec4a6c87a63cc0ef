package git

import (
	"cmp"
	"context"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// symlinks has the targets of a tree's symbolic links by path.
type symlinks struct {
	targets map[string]string
	folded  map[string]string // the same, keyed by path in lower case
}

// checkLinks refuses links that leave the tree through other links, which their own text does not
// show: with a/up -> .. and a/l -> up/.., the second one does. Links that left the tree before the
// change are allowed.
func (j *treeCheck) checkLinks(ctx context.Context) error {
	changed := map[string]bool{}
	for _, ch := range j.changes {
		if ch.newMode == modeSymlink || ch.oldMode == modeSymlink {
			changed[ch.path] = true
		}
	}
	if len(changed) == 0 {
		return nil
	}
	now, err := linksOf(ctx, j.q, j.tree)
	if err != nil {
		return err
	}
	var before []symlinks
	for _, at := range slices.Sorted(maps.Keys(now.targets)) {
		if !now.escapes(at) || changed[at] && leavesTree(at, now.targets[at]) {
			continue // content reported the latter
		}
		for i := len(before); i < len(j.Parents) && !changed[at]; i++ {
			old, err := linksOf(ctx, j.q, j.Parents[i])
			if err != nil {
				return err
			}
			before = append(before, old)
		}
		if changed[at] || !slices.ContainsFunc(before, func(old symlinks) bool { return old.escapes(at) }) {
			j.refused.add("the link %q leads out of the repository through another link", at)
		}
	}
	return nil
}

// linksOf reads all links of a tree.
func linksOf(ctx context.Context, q *quarantine, tree string) (symlinks, error) {
	out := symlinks{targets: map[string]string{}, folded: map[string]string{}}
	all, err := treeChanges(ctx, q, emptyTree, tree)
	if err != nil {
		return out, err
	}
	found := slices.DeleteFunc(all, func(ch pathChange) bool { return ch.newMode != modeSymlink })
	blobs, err := blobSizes(ctx, q, found, newSide)
	if err != nil {
		return out, err
	}
	return out, eachBlob(ctx, q, blobs, func(b changedBlob, content []byte) {
		out.targets[b.change.path] = string(content)
		out.folded[strings.ToLower(b.change.path)] = string(content)
	})
}

// target returns the target of the link at a path. Case is ignored as a fallback, because some file
// systems ignore it.
func (l symlinks) target(at string) (string, bool) {
	if to, ok := l.targets[at]; ok {
		return to, true
	}
	to, ok := l.folded[strings.ToLower(at)]
	return to, ok
}

// maxHops is the number of links after which a system gives up.
const maxHops = 40

// escapes follows the link at a path step by step, as a system does, and reports whether it leaves
// the tree.
func (l symlinks) escapes(at string) bool {
	to, ok := l.targets[at]
	if !ok {
		return false
	}
	here := path.Dir(at)
	todo, absolute := pathSteps(to)
	for hops := 0; !absolute && len(todo) > 0; {
		step := todo[0]
		todo = todo[1:]
		switch {
		case step == "..":
			if here == "." {
				return true
			}
			here = path.Dir(here)
			continue
		case nameTrouble(step) != "":
			return true
		}
		next, ok := l.target(path.Join(here, step))
		if !ok {
			here = path.Join(here, step)
			continue
		}
		if hops++; hops > maxHops {
			return false // the link resolves to nothing
		}
		var more []string
		more, absolute = pathSteps(next)
		todo = append(more, todo...)
	}
	return absolute
}

var driveLetter = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z]:`) })

// pathSteps splits a link's target into names; it also accepts Windows paths.
func pathSteps(target string) (names []string, absolute bool) {
	target = strings.ReplaceAll(target, `\`, "/")
	for name := range strings.SplitSeq(target, "/") {
		if name != "" && name != "." {
			names = append(names, name)
		}
	}
	return names, path.IsAbs(target) || driveLetter().MatchString(target)
}

// leavesTree reports whether a link, judged by its own text, leads out of the tree or into .git.
func leavesTree(at, target string) bool {
	return symlinks{targets: map[string]string{at: target}}.escapes(at)
}

// pathSet has the paths of a tree's files and folders, in lower case.
type pathSet map[string]bool

// checkBareRepositories refuses a folder that git takes for a bare repository: git called in it
// obeys its configuration, including programs that it names. An existing one, such as a fixture,
// may get new objects but no configuration and no hooks.
func (j *treeCheck) checkBareRepositories(ctx context.Context) error {
	folders := map[string]string{} // possible repositories, each with a changed path
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
	before := pathSet{}
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

// refuseSettings refuses changes to files of a nested repository that git obeys.
func (j *treeCheck) refuseSettings(folder string) {
	for _, ch := range j.changes {
		rest, ok := strings.CutPrefix(ch.path, folder+"/")
		first, _, _ := strings.Cut(strings.ToLower(rest), "/")
		if ok && ch.newMode != modeNone && slices.Contains([]string{"config", "config.worktree", "hooks", "commondir"}, first) {
			j.refused.add("%q is of a repository within the repository", ch.path)
		}
	}
}

func pathsOf(ctx context.Context, q *quarantine, tree string) (pathSet, error) {
	found, err := treeChanges(ctx, q, emptyTree, tree)
	if err != nil {
		return nil, err
	}
	out := pathSet{}
	for _, ch := range found {
		for at := strings.ToLower(ch.path); at != "." && !out[at]; at = path.Dir(at) {
			out[at] = true
		}
	}
	return out, nil
}

// bare reports whether git takes the folder for a repository: it has a HEAD and either objects and
// refs or a commondir file.
func (p pathSet) bare(folder string) bool {
	has := func(name string) bool { return p[path.Join(strings.ToLower(folder), name)] }
	return has("head") && (has("objects") && has("refs") || has("commondir"))
}
