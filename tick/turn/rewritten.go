package turn

import (
	"context"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// requireNotRewritten blocks a turn whose branch was rewritten, unless a person accepted the new
// head.
func (p *lastLook) requireNotRewritten(ctx context.Context, l *env.Lease) error {
	if l.Turn.Kind.Start() || l.Item.Flow == work.FlowReview { // authors may rewrite their own branches
		return nil
	}
	var turns []work.Turn
	var pull work.PullRequest
	err := p.Store.View(ctx, func(tx *store.Tx) (err error) {
		if turns, err = tx.ListTurns(ctx, l.Item.ID); err != nil {
			return err
		}
		pull, _, err = tx.FindPullOfItem(ctx, l.Item.ID)
		return err
	})
	if err != nil {
		return err
	}
	base, _ := work.RequiredAncestor(turns, l.Turn.Branch, l.Turn.ID)
	for _, oid := range []string{base, work.AcceptedHead(pull, base)} {
		if kept, err := p.hasIn(ctx, l, oid); err != nil || kept {
			return err
		}
	}
	if base == "" {
		return nil
	}
	l.LostOID = base
	return &work.BlockedError{Reason: work.Reason{Kind: work.WhyRewritten, Branch: l.Turn.Branch, Commit: base, Head: l.Turn.Head}}
}

// hasIn reports whether a commit is in the history of the turn's head.
func (p *lastLook) hasIn(ctx context.Context, l *env.Lease, oid string) (bool, error) {
	m := l.Repo.Git()
	if oid == "" || !m.Has(ctx, oid) { // the head was fetched with its history
		return false, nil
	}
	return m.IsAncestor(ctx, oid, l.Turn.Head)
}
