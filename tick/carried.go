package tick

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
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
func (p *Restorer) carried(ctx context.Context, l *lease, base, head string) (map[string]bool, error) {
	m := l.remote.mirror()
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

// uncommitted are the events of the turn for which no commit stands on the
// branch yet.
func (l *lease) uncommitted() []string {
	return slices.DeleteFunc(slices.Clone(l.turn.EventKeys), func(key string) bool { return l.carried[key] })
}

// committed reports whether the branch has the commit for all of the turn.
func (l *lease) committed() bool {
	return len(l.turn.EventKeys) > 0 && len(l.uncommitted()) == 0
}

// begunBy reports whether commits that name these events began the turn's work:
// they were made for what asks for it, as a labelling does, or else for one of
// its events.
func (l *lease) begunBy(carried map[string]bool) bool {
	for _, e := range l.events {
		if work.Begins(l.item, e) {
			return carried[e.Key]
		}
	}
	return slices.ContainsFunc(l.turn.EventKeys, func(key string) bool { return carried[key] })
}

// before tells the agent what earlier attempts left, and why the answer of the
// last one was not used.
func (l *lease) before(unused string) string {
	var told []string
	switch {
	case l.committed():
		told = append(told, "You have done this work already: its commit is on the branch. Only your answer was lost. Look at the commit, and answer as if you had just made it; no further change of files will be committed now.")
	case len(l.carried) > 0 && len(l.uncommitted()) < len(l.turn.EventKeys):
		told = append(told, "You have done a part of this already: its commit is on the branch. Your answer was lost. Look at the branch before you change anything.")
	}
	if unused != "" {
		told = append(told, "Your last answer to this could not be used, and nothing of it was sent: "+unused)
	}
	if l.turn.LastError != "" {
		told = append(told, l.turn.LastError)
	}
	return strings.Join(told, "\n\n")
}

// adoptBranch continues a start on the branch that a pass pushed whose state folder
// is gone: it has our commits for the same beginning, and never had a pull
// request.
func (p *Restorer) adoptBranch(ctx context.Context, l *lease, branch, head, base string) (bool, error) {
	if err := l.remote.mirror().Fetch(ctx, head); err != nil {
		return false, fmt.Errorf("fetch %s: %w", branch, err)
	}
	carried, err := p.carried(ctx, l, base, head)
	if err != nil || !l.begunBy(carried) {
		return false, err
	}
	if l.turn.Head != head {
		l.turn.Request = nil // the prompt names the commit that it begins with
	}
	l.turn.Branch, l.turn.Base, l.turn.Head, l.adopted = branch, base, head, true
	return true, nil
}
