package turn

import (
	"context"
	"errors"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// Somebody else's pull request has no branch of ours, and may have none in the repository
// at all. Its checkout is its exact head, but for what agents obey: that is the base's.

// find chooses the commit that the turn works on, among what was fetched.
func (p *restorer) find(ctx context.Context, l *env.Lease) error {
	switch {
	case l.Item.Flow == work.FlowReview:
		return p.FindTheirs(ctx, l)
	case l.Turn.Kind.Start():
		return p.FindBase(ctx, l)
	}
	return p.FindHead(ctx, l)
}

// FindTheirs fetches the head of somebody else's pull request. The turn is about the head
// that the label stands for, and no other.
func (p *restorer) FindTheirs(ctx context.Context, l *env.Lease) error {
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

// theirBranch is the branch on which the agent finds itself. Nobody else has one of the
// name, whatever the pull request's own is called.
func theirBranch(number int) string { return fmt.Sprintf("pull/%d", number) }

// Guard makes the tree that somebody else's pull request has in its checkout: what agents
// obey is the base's.
func (p *restorer) Guard(ctx context.Context, l *env.Lease) error {
	if l.Item.Flow != work.FlowReview {
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
	l.Guarded, err = m.Guard(ctx, l.Turn.Head, base, prompts.Obeyed)
	return err
}

// takeCheckout takes the slot's checkout. Somebody else's code gets a path of its own: what
// earlier turns left in ignored files is not its business, and what it leaves is nobody's.
func (p *restorer) takeCheckout(ctx context.Context, l *env.Lease) (folder.Checkout, error) {
	theirs := l.Item.Flow == work.FlowReview
	c, err := p.Dirs.TakeCheckout(l.Repo.Row, l.Slot.K, func(dir string) bool { return theirs || p.Occupied(ctx, dir) })
	if theirs { // its mark stays when it is left, so that the next turn gets a new path
		c = folder.Checkout{Dir: c.Dir, Index: c.Index}
	}
	return c, err
}

// place is the checkout that the turn needs.
func (p *restorer) place(ctx context.Context, l *env.Lease) error {
	if err := p.Guard(ctx, l); err != nil {
		return err
	}
	return l.Repo.Git().Restore(ctx, git.Restore{
		Dir: l.Checkout.Dir, Index: l.Checkout.Index, Commit: l.Turn.Head, Branch: l.Turn.Branch, Base: l.Turn.Base,
		Ignored: ignored(l.Repo.Settings), Merge: l.Merge, Tree: l.Guarded.Tree,
	})
}
