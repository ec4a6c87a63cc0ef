package turn

import (
	"context"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// The state folder may be lost after a push and before the pull request or the replies. The answer
// is lost then and the agent runs again, but its commit is on the branch and names its events. No
// second commit is made for them.

// historyLimit is how many commits of a branch are read.
const historyLimit = 1000

// eventsOnBranch returns the event keys that the commits of turns on a branch name, back to the merge
// base. It does not compare authors: the config or git may name another author than before.
// Commits of turns that this database has as done do not count: events that wait now came, or were
// reopened, after them.
func (p *restorer) eventsOnBranch(ctx context.Context, l *env.Lease, base, head string) (map[string]bool, error) {
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
		clear(keys)
		for _, c := range commits {
			if c.Turn == "" {
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

// adoptBranch continues a start on a branch that a pass pushed before its state folder was lost.
// The branch must have our commits for the same events. earlierBranches skips those that had a pull
// request.
func (p *restorer) adoptBranch(ctx context.Context, l *env.Lease, branch, head, base string) (bool, error) {
	if err := l.Repo.Git().Fetch(ctx, head); err != nil {
		return false, fmt.Errorf("fetch %s: %w", branch, err)
	}
	carried, err := p.eventsOnBranch(ctx, l, base, head)
	if err != nil || !l.BegunBy(carried) {
		return false, err
	}
	if l.Turn.Head != head {
		l.Turn.Request = nil // the prompt names the commit that it begins with
	}
	l.Turn.Branch, l.Turn.Base, l.Turn.Head, l.Adopted = branch, base, head, true
	return true, nil
}
