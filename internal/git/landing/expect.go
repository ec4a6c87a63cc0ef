package landing

import (
	"context"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/git/mirror"
)

// Expect is the tree that merging head into base must give by a method; not clean where
// they do not merge without a person. Of a rebase the head's commits are replayed one
// after the other, merges left out; where that conflicts, or gives another tree than a
// merge, GitHub rebases nothing, and it is not clean either.
func (l Landings) Expect(ctx context.Context, base, head, method string) (tree string, clean bool, err error) {
	err = l.aside("expect "+base+" "+head, func(b bench) error {
		for _, oid := range []string{base, head} {
			if !l.mirror.Has(ctx, oid) {
				return &mirror.MissingError{OID: oid}
			}
		}
		tree, clean, err = b.merge(ctx, base, head)
		if err != nil || !clean {
			return err
		}
		switch method {
		case Squash, Merge:
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

// rebases reports whether a rebase of head onto base gives the tree that a merge gives.
func (b bench) rebases(ctx context.Context, base, head, tree string) (bool, error) {
	series, err := b.series(ctx, base, head)
	if err != nil || len(series) == 0 {
		return err == nil, err
	}
	before, err := b.q.Mirror().Tree(ctx, base)
	if err != nil {
		return false, err
	}
	steps, clean, err := b.replay(ctx, series, before)
	return clean && steps[len(steps)-1] == tree, err
}
