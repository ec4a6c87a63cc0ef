package git

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// ExpectedTree returns the tree that merging head into base must give with a method. clean is false
// if they conflict. For a rebase the head's commits are replayed in order without merges. If that
// conflicts or gives another tree than a merge, GitHub does not rebase, and clean is false, too.
func (m *Mirror) ExpectedTree(ctx context.Context, base, head, method string) (tree string, clean bool, err error) {
	err = m.withComparer("expect "+base+" "+head, func(b treeComparer) error {
		for _, oid := range []string{base, head} {
			if !m.Has(ctx, oid) {
				return &MissingError{OID: oid}
			}
		}
		tree, clean, err = b.merge(ctx, base, head)
		if err != nil || !clean {
			return err
		}
		switch method {
		case Squash, Merged:
			return nil
		case Rebase:
			clean, err = b.rebases(ctx, base, head, tree)
			return err
		}
		return fmt.Errorf("%q is no method of merging", method)
	})
	if err != nil || !clean {
		tree, clean = "", false
	}
	if err != nil {
		err = fmt.Errorf("look what merging gives: %w", err)
	}
	return tree, clean, err
}

// rebases reports whether a rebase of head onto base gives the same tree as a merge.
func (b treeComparer) rebases(ctx context.Context, base, head, tree string) (bool, error) {
	series, err := b.series(ctx, base, head)
	if err != nil || len(series) == 0 {
		return err == nil, err
	}
	before, err := b.q.mirror.treeOf(ctx, base)
	if err != nil {
		return false, err
	}
	steps, clean, err := b.replay(ctx, series, before)
	return clean && steps[len(steps)-1] == tree, err
}

// MergeBases returns the merge bases of head and the tip of a base, sorted and joined by "-". With
// the head they name the commits that a merge brings: those of the head's history that are not in
// theirs. "none": no common history.
func (m *Mirror) MergeBases(ctx context.Context, tip, head string) (string, error) {
	if _, onTip, err := m.objects.line(ctx, tip, head, commitsLookedAt); err != nil || onTip {
		return tip, err
	}
	c := m.command("merge-base", "--all", tip, head)
	c.Answers = []int{1}
	res, err := c.Run(ctx)
	if err != nil {
		return "", fmt.Errorf("look for what %s and %s share: %w", tip, head, err)
	}
	all := strings.Fields(string(res.Stdout))
	if len(all) == 0 {
		return "none", nil
	}
	slices.Sort(all)
	return strings.Join(all, "-"), nil
}

// BringsNoMore reports whether merging a head into tip brings no commit that it did not bring when
// its merge bases were these: tip has all of them. If one is not in the mirror, nobody can tell, and
// BringsNoMore returns false.
func (m *Mirror) BringsNoMore(ctx context.Context, mergeBases, tip string) (bool, error) {
	for one := range strings.SplitSeq(mergeBases, "-") {
		if !validOID(one) || !m.Has(ctx, one) {
			return false, nil
		}
		on, err := m.IsAncestor(ctx, one, tip)
		if err != nil || !on {
			return false, err
		}
	}
	return true, nil
}
