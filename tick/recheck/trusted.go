package recheck

import (
	"context"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// LookTrusted ends a turn before its first effect when somebody for whom it is made
// may ask for nothing any more. What the others wrote makes a new one.
func (p *Looks) LookTrusted(ctx context.Context, l *env.Lease) error {
	lost, begun, err := p.reader.Lost(ctx, l.Repo, l.Events)
	if err != nil || len(lost) == 0 {
		return err
	}
	if begun, err := p.FirstEffect(ctx, l); err != nil || begun {
		return err
	}
	if err := p.finishLost(ctx, lost); err != nil {
		return fmt.Errorf("end what %s asked for: %w", work.Authors(lost), err)
	}
	return noLonger(l, lost, begun)
}

func (p *Looks) finishLost(ctx context.Context, lost []work.Event) error {
	return p.Store.Update(ctx, func(tx *store.Tx) error {
		for _, e := range lost {
			outcome := work.OutcomeNoPermission
			if e.Kind == work.EventLabelled {
				outcome = work.OutcomeNoLabeller
			}
			if err := tx.FinishEvents(ctx, []int64{e.ID}, outcome, p.Now()); err != nil {
				return err
			}
		}
		return nil
	})
}

// noLonger says what a turn comes to whose askers may not ask any more.
func noLonger(l *env.Lease, lost []work.Event, begun string) error {
	if begun != "" {
		return &work.BlockedError{Reason: work.Reason{Kind: work.WhyIssueEdited, Text: begun}}
	}
	reason := fmt.Sprintf("%s may not write to the repository any more", work.Authors(lost))
	if len(lost) < len(l.Events) {
		return &work.SupersededError{Reason: reason}
	}
	return &work.CancelledError{Reason: reason}
}
