package gate

import (
	"context"
	"fmt"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/mergexo/gh-mergexo/internal/git/mirror"
)

// Tree judges the tree that would be committed, and lists the paths that differ from
// every parent. index holds that tree.
func (g Gate) Tree(ctx context.Context, q *mirror.Quarantine, tree, index string) ([]string, error) {
	changes, err := changesOf(ctx, q, g.Parents, tree)
	if err != nil {
		return nil, err
	}
	j := judge{Gate: g, q: q, tree: tree, index: index, changes: changes}
	if err := j.judge(ctx); err != nil {
		return nil, err
	}
	if err := g.takenBack(ctx, q, tree); err != nil {
		return nil, err
	}
	var paths []string
	for _, ch := range changes {
		paths = append(paths, ch.path)
	}
	return paths, nil
}

// judge looks at one tree, and collects what is to be refused.
type judge struct {
	Gate
	q       *mirror.Quarantine
	tree    string
	index   string // that holds the tree
	changes []change
	refused refusals
}

func (j *judge) judge(ctx context.Context) error {
	l := j.Limits
	if l.MaxFiles > 0 && len(j.changes) > l.MaxFiles {
		j.refused.add("%d files are changed, %d are allowed", len(j.changes), l.MaxFiles)
		return j.refused.err()
	}
	for _, ch := range j.changes {
		if err := gatePath(ch, l, &j.refused); err != nil {
			return err
		}
	}
	if err := j.kind(); err != nil {
		return err
	}
	if err := j.bare(ctx); err != nil {
		return err
	}
	if err := j.links(ctx); err != nil {
		return err
	}
	if err := j.contents(ctx); err != nil {
		return err
	}
	return j.refused.err()
}

// takenBack refuses that a merge leaves a protected path otherwise than git
// merged it: to take back what one side changed there looks like no change
// against the other.
func (g Gate) takenBack(ctx context.Context, q *mirror.Quarantine, tree string) error {
	if g.From == "" {
		return nil
	}
	changes, err := treeChanges(ctx, q, g.From, tree)
	if err != nil {
		return err
	}
	var refused refusals
	for _, ch := range changes {
		if err := gatePath(ch, g.Limits, &refused); err != nil {
			return err
		}
	}
	return refused.err()
}

// gatePath judges by path and mode alone.
func gatePath(ch change, l Limits, refused *refusals) error {
	switch {
	case ch.oldMode == modeGitlink && ch.newMode == modeNone:
		refused.add("submodule %q is removed", ch.path)
	case ch.oldMode == modeGitlink:
		refused.add("submodule %q is changed", ch.path)
	case ch.newMode == modeGitlink:
		refused.add("%q is a repository within the repository", ch.path)
	}
	if trouble := nameTrouble(ch.path); trouble != "" && ch.newMode != modeNone {
		refused.add("%s", trouble)
	}
	glob, ok, err := protected(ch, l.Protected)
	if ok {
		refused.add("%q is protected (%s)", ch.path, glob)
		refused.protected = true
	}
	return err
}

// protected finds the glob that a change is against, without regard to case:
// some checkouts have none. A link in the place of a folder that leads to
// protected paths is one, too: what the link shows would stand there.
func protected(ch change, globs []string) (glob string, ok bool, err error) {
	at := strings.ToLower(ch.path)
	for _, glob := range globs {
		pattern := strings.ToLower(glob)
		ok, err := doublestar.Match(pattern, at)
		if err != nil {
			return "", false, fmt.Errorf("protected path %q: %w", glob, err)
		}
		if fixed, _ := doublestar.SplitPattern(pattern); ch.newMode == modeSymlink && (fixed == at || strings.HasPrefix(fixed, at+"/")) {
			ok = true
		}
		if ok {
			return glob, true, nil
		}
	}
	return "", false, nil
}

// kind refuses a change that keeps to paths of one kind: an implementation
// that consists of documents.
func (j *judge) kind() error {
	if len(j.Limits.NotOnly) == 0 || len(j.changes) == 0 {
		return nil
	}
	for _, ch := range j.changes {
		within := false
		for _, glob := range j.Limits.NotOnly {
			ok, err := doublestar.Match(glob, ch.path)
			if err != nil {
				return fmt.Errorf("path %q: %w", glob, err)
			}
			within = within || ok
		}
		if !within {
			return nil
		}
	}
	j.refused.add("nothing but documents is changed: %q and such", j.changes[0].path)
	return nil
}
