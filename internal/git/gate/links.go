package gate

import (
	"context"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/mergexo/gh-mergexo/internal/git/mirror"
)

// links are the symbolic links of a tree, by path, with their targets.
type links struct {
	targets map[string]string
	folded  map[string]string // the same by their paths in lower case
}

// links refuses that a link leads out of the tree through other links, which
// its text alone does not show: of a/up -> .. and a/l -> up/.. the second one
// does. One that was there and did so before is people's.
func (j *judge) links(ctx context.Context) error {
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
	var before []links
	for _, at := range slices.Sorted(maps.Keys(now.targets)) {
		if !now.escapes(at) || changed[at] && leaves(at, now.targets[at]) {
			continue // content has said the latter
		}
		for i := len(before); i < len(j.Parents) && !changed[at]; i++ {
			old, err := linksOf(ctx, j.q, j.Parents[i])
			if err != nil {
				return err
			}
			before = append(before, old)
		}
		if changed[at] || !slices.ContainsFunc(before, func(old links) bool { return old.escapes(at) }) {
			j.refused.add("the link %q leads out of the repository through another link", at)
		}
	}
	return nil
}

// linksOf reads all links of a tree.
func linksOf(ctx context.Context, q *mirror.Quarantine, tree string) (links, error) {
	out := links{targets: map[string]string{}, folded: map[string]string{}}
	all, err := treeChanges(ctx, q, mirror.EmptyTree, tree)
	if err != nil {
		return out, err
	}
	found := slices.DeleteFunc(all, func(ch change) bool { return ch.newMode != modeSymlink })
	blobs, err := sizes(ctx, q, found, newSide)
	if err != nil {
		return out, err
	}
	return out, eachBlob(ctx, q, blobs, func(b blob, content []byte) {
		out.targets[b.change.path] = string(content)
		out.folded[strings.ToLower(b.change.path)] = string(content)
	})
}

// target is what a path of the tree leads to, if it is a link. Some checkouts
// know no case.
func (l links) target(at string) (string, bool) {
	if to, ok := l.targets[at]; ok {
		return to, true
	}
	to, ok := l.folded[strings.ToLower(at)]
	return to, ok
}

// maxHops is after how many links a system gives up.
const maxHops = 40

// escapes follows the link at a path, step by step as a system does.
func (l links) escapes(at string) bool {
	to, ok := l.targets[at]
	if !ok {
		return false
	}
	here := path.Dir(at)
	todo, absolute := steps(to)
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
			return false // it leads nowhere
		}
		var more []string
		more, absolute = steps(next)
		todo = append(more, todo...)
	}
	return absolute
}

var driveLetter = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z]:`) })

// steps are the names in a link's target, those of Windows among them.
func steps(target string) (names []string, absolute bool) {
	target = strings.ReplaceAll(target, `\`, "/")
	for name := range strings.SplitSeq(target, "/") {
		if name != "" && name != "." {
			names = append(names, name)
		}
	}
	return names, path.IsAbs(target) || driveLetter().MatchString(target)
}

// leaves reports whether a link at a path, taken by its text, leads out of the
// tree or into .git.
func leaves(at, target string) bool {
	return links{targets: map[string]string{at: target}}.escapes(at)
}
