package git

import (
	"context"
	"fmt"
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

// AddsBaseCommits reports whether merging head into tip adds commits that head shares with onto and
// tip lacks. onto is the base for which head was approved; its own commits were not part of the
// approved change. If onto is missing, nobody can tell, and AddsBaseCommits returns true.
func (m *Mirror) AddsBaseCommits(ctx context.Context, onto, tip, head string) (bool, error) {
	if onto == tip {
		return false, nil
	}
	if !m.Has(ctx, onto) {
		return true, nil
	}
	c := m.command("merge-base", "--all", onto, head)
	c.Answers = []int{1}
	res, err := c.Run(ctx)
	if err != nil {
		return false, fmt.Errorf("look for what %s and %s share: %w", onto, head, err)
	}
	for shared := range strings.FieldsSeq(string(res.Stdout)) {
		on, err := m.IsAncestor(ctx, shared, tip)
		if err != nil || !on {
			return err == nil, err
		}
	}
	return false, nil
}
