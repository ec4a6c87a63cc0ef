package turn

import (
	"context"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// commitLost takes a turn back to where its agent has not answered: the mirror
// was deleted or damaged, and the commit with it. A push that was sent may have
// arrived, so it is looked for first, and given time. Should it arrive later
// still, the lease lets one of the two through, and the trailer tells whose.
func (p *Turns) commitLost(ctx context.Context, l *env.Lease, push work.Action) error {
	lost := fmt.Sprintf("the commit %s is gone from the mirror", work.Short(l.Turn.Commit))
	now := p.Now()
	if push.Sends > 0 {
		seen, err := p.Effects().Look(ctx, p.Scope(l.Repo), push)
		if err != nil || seen {
			return err
		}
		if until := push.SentAt.Add(p.Config.Runtime.SettleAfter); until.After(now) {
			return &work.WaitError{Until: until, Reason: work.Reason{Kind: work.WhyCommitLost, Text: lost + ", and it is unclear whether it was pushed"}}
		}
	}
	l.Turn.Commit, l.Turn.Answer = "", nil
	err := p.Store.Update(ctx, func(tx *store.Tx) error {
		if err := tx.SaveTurn(ctx, l.Turn); err != nil {
			return err
		}
		if err := tx.MarkUnsent(ctx, push.ID); err != nil {
			return err
		}
		if err := tx.VoidTurnActions(ctx, l.Turn.ID, lost, now); err != nil {
			return err
		}
		return tx.AdvanceTurn(ctx, l.Turn.ID, work.StepAnswered, work.StepClaimed, now)
	})
	if err != nil {
		return fmt.Errorf("take turn %s back: %w", l.Turn.Key, err)
	}
	l.Turn.Step = work.StepClaimed
	return &work.WaitError{Until: now, Reason: work.Reason{Kind: work.WhyCommitLost, Text: lost + "; the agent works again"}}
}
