package turn

import (
	"context"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// The state folder may be lost after a push and before what follows it: the
// pull request, or the replies. The answer is gone then, and the agent is asked
// again, but its commit stands on the branch and names the events that it was
// made for. No second commit is made for them.

// historyLimit bounds how many commits of a branch are looked at.
const historyLimit = 1000

// carried are the event keys that commits of ours on a branch name, down to
// where it left its base. Those of turns that this database saw to their end
// say nothing: what waits now came, or was opened again, after them.
func (p *restorer) carried(ctx context.Context, l *env.Lease, base, head string) (map[string]bool, error) {
	m := l.Repo.Git()
	from, _, err := m.MergeBase(ctx, base, head)
	if err != nil {
		return nil, err
	}
	commits, err := m.Log(ctx, from, head, historyLimit)
	if err != nil {
		return nil, err
	}
	keys := map[string]bool{}
	return keys, p.Store.View(ctx, func(tx *store.Tx) error {
		for _, c := range commits {
			if !c.Ours || c.Turn == "" {
				continue
			}
			t, known, err := tx.FindTurnOf(ctx, c.Turn)
			if err != nil {
				return err
			}
			if known && t.Step == work.StepDone {
				continue
			}
			for _, key := range c.Handled {
				keys[key] = true
			}
		}
		return nil
	})
}

// adoptBranch continues a start on the branch that a pass pushed whose state folder
// is gone: it has our commits for the same beginning, and never had a pull
// request.
func (p *restorer) adoptBranch(ctx context.Context, l *env.Lease, branch, head, base string) (bool, error) {
	if err := l.Repo.Git().Fetch(ctx, head); err != nil {
		return false, fmt.Errorf("fetch %s: %w", branch, err)
	}
	carried, err := p.carried(ctx, l, base, head)
	if err != nil || !l.BegunBy(carried) {
		return false, err
	}
	if l.Turn.Head != head {
		l.Turn.Request = nil // the prompt names the commit that it begins with
	}
	l.Turn.Branch, l.Turn.Base, l.Turn.Head, l.Adopted = branch, base, head, true
	return true, nil
}
