package turn

import (
	"context"
	"errors"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// Somebody else's pull request has no branch of ours, and its branch may be in another repository.

// find chooses the turn's commit among the fetched ones.
func (p *restorer) find(ctx context.Context, l *env.Lease) error {
	switch {
	case l.Item.Flow == work.FlowReview:
		return p.findForeignHead(ctx, l)
	case l.Turn.Kind.Start():
		return p.findBase(ctx, l)
	}
	return p.findHead(ctx, l)
}

// findForeignHead fetches the head of somebody else's pull request. The turn is only about the head
// for which the label was set.
func (p *restorer) findForeignHead(ctx context.Context, l *env.Lease) error {
	l.Turn.Branch = theirBranch(l.Turn.Number)
	oid, ok, err := l.Repo.Git().FetchPull(ctx, l.Turn.Number, l.Turn.Key)
	if err != nil {
		return err
	}
	if !ok || oid != l.Turn.Head {
		return p.headMoved(ctx, l, oid)
	}
	return nil
}

// theirBranch returns the branch name in the checkout. No other branch has this name: the pull
// request's own branch keeps its name on GitHub.
func theirBranch(number int) string { return fmt.Sprintf("pull/%d", number) }

// Guard makes the tree for the checkout of a review: files that agents obey come from the base, so
// that a change does not instruct who judges it. An author's turn restores its own commit again.
func (p *restorer) Guard(ctx context.Context, l *env.Lease) error {
	if l.Turn.Kind != work.KindReview && l.Item.Flow != work.FlowReview {
		return nil
	}
	m := l.Repo.Git()
	base, ok, err := m.Head(ctx, l.Turn.Base)
	if err == nil && !ok {
		err = errors.New("the branch is not there")
	}
	if err != nil {
		return fmt.Errorf("find the base %s: %w", l.Turn.Base, err)
	}
	l.Guarded, err = m.Guard(ctx, l.Turn.Head, base)
	return err
}

// takeCheckout takes the slot's checkout. Somebody else's code always gets a new path: it must not
// see ignored files of earlier turns, nor later turns its own.
func (p *restorer) takeCheckout(ctx context.Context, l *env.Lease) (folder.Checkout, error) {
	theirs := l.Item.Flow == work.FlowReview
	c, err := p.Dirs.TakeCheckout(l.Repo.Row, l.Slot.K, func(dir string) bool { return theirs || p.occupied(ctx, dir) })
	if theirs { // its mark stays, so that the next turn gets a new path
		c = folder.Checkout{Dir: c.Dir, Index: c.Index}
	}
	return c, err
}

// place restores the turn's commit in its checkout. Beside that of a review lies what the head
// changes.
func (p *restorer) place(ctx context.Context, l *env.Lease) error {
	if err := p.Guard(ctx, l); err != nil {
		return err
	}
	m := l.Repo.Git()
	var err error
	if l.Submodules, err = submodulesOf(ctx, l, l.Turn.Head); err != nil {
		return err
	}
	if l.Turn.Kind == work.KindReview {
		base, ok, err := m.MergeBase(ctx, l.Turn.Base, l.Turn.Head)
		if err == nil && ok {
			l.Change, err = p.briefs.changeOf(ctx, l, base)
		}
		if err != nil {
			return err
		}
	}
	return m.Restore(ctx, checkoutOf(l))
}

// submodulesOf fetches the submodules of a commit, and of the base, which is merged or set up. The
// base says from where.
func submodulesOf(ctx context.Context, l *env.Lease, commit string) ([]git.Submodule, error) {
	m := l.Repo.Git()
	tip, ok, err := m.Head(ctx, l.Turn.Base)
	if err != nil || !ok {
		return nil, err
	}
	return m.Submodules(ctx, tip, commit, tip)
}

// checkoutOf returns the turn's checkout before its agent runs.
func checkoutOf(l *env.Lease) git.Restore {
	return git.Restore{
		Dir: l.Checkout.Dir, Index: l.Checkout.Index, Commit: l.Turn.Head, Branch: l.Turn.Branch, Base: l.Turn.Base,
		Merge: l.Merge, Guarded: l.Guarded, Submodules: l.Submodules, Change: l.Change,
	}
}
