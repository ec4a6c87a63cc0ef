package brief

import (
	"context"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// beginMerge merges the base into the head, in the mirror: the agent finds that
// merge in progress. One that is clean needs neither it nor a commit: GitHub
// has not seen yet that the two merge.
func (p *Briefs) beginMerge(ctx context.Context, l *env.Lease) error {
	m := l.Repo.Git()
	base, ok, err := m.Head(ctx, l.Turn.Base) // as it was fetched right before
	if err != nil {
		return fmt.Errorf("find the head of %s: %w", l.Turn.Base, err)
	}
	if !ok {
		return &work.BlockedError{Reason: work.Reason{Kind: work.WhyBaseGone, Branch: l.Turn.Base}}
	}
	merge, err := m.Merge(ctx, l.Turn.Head, base)
	if err != nil {
		return err
	}
	if merge.Clean() {
		if l.About(work.EventCheck) {
			return nil
		}
		return &work.CancelledError{Reason: fmt.Sprintf("it merges cleanly into %s by now", l.Turn.Base)}
	}
	l.Merge = &merge
	if env.ToldBase(l.Turn.Request) != base {
		l.Turn.Request = nil // the prompt names another one
	}
	return nil
}
