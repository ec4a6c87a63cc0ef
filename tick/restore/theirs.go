package restore

import (
	"context"
	"errors"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// Somebody else's pull request has no branch of ours, and may have none in the repository
// at all. Its checkout is its exact head, but for what agents obey: that is the base's.

// FindTheirs fetches the head of somebody else's pull request. The turn is about the head
// that the label stands for, and no other.
func (p *Restorer) FindTheirs(ctx context.Context, l *env.Lease) error {
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

// guard makes the tree in which what agents obey is the base's.
func (p *Restorer) guard(ctx context.Context, l *env.Lease) error {
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

// place is the checkout that the turn needs.
func (p *Restorer) place(ctx context.Context, l *env.Lease) error {
	if l.Item.Flow == work.FlowReview {
		if err := p.guard(ctx, l); err != nil {
			return err
		}
	}
	return l.Repo.Git().Restore(ctx, git.Restore{
		Dir: l.Checkout.Dir, Index: l.Checkout.Index, Commit: l.Turn.Head, Branch: l.Turn.Branch, Base: l.Turn.Base,
		Ignored: Ignored(l.Repo.Settings), Merge: l.Merge, Tree: l.Guarded.Tree,
	})
}
