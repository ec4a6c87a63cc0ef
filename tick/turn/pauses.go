package turn

import (
	"context"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// RequireNotPaused supersedes a turn before its first effect if its item is paused; its events
// wait. While everything is paused, the turn waits unchanged. After its first effect a turn runs to
// its end.
func (p *lastLook) RequireNotPaused(ctx context.Context, l *env.Lease) error {
	s, err := p.stored(ctx, l)
	if err != nil {
		return err
	}
	return p.notPaused(ctx, l, s)
}

func (p *lastLook) notPaused(ctx context.Context, l *env.Lease, s stored) error {
	h, halted := p.HaltedBy(ctx, func() (store.Fleet, error) { return s.fleet, nil })
	switch {
	case l.Turn.Begun(s.planned):
		return nil
	case halted:
		return &folder.HaltedError{Halt: h}
	case s.paused:
		return &work.SupersededError{Reason: explain.What(s.pause.Reason(), explain.Place{})}
	}
	return nil
}

// requireNotHeld supersedes a review, or the fix of one, whose agent is about to be asked while a person holds
// the reviews: it was interrupted before. An answer that was paid for is used.
func (p *lastLook) requireNotHeld(ctx context.Context, l *env.Lease) error {
	reviews := l.Turn.Kind == work.KindReview || l.Turn.Kind == work.KindFix && l.Turn.Reviewer != "" // a conflict is resolved during a hold, too
	if !reviews || l.Turn.Step != work.StepClaimed {
		return nil
	}
	r, err := store.Read(ctx, p.Store, func(tx *store.Tx) (r store.Reviews, err error) {
		pull, found, err := tx.FindPullOfItem(ctx, l.Item.ID)
		if err != nil || !found {
			return r, err
		}
		return tx.GetReviews(ctx, pull.ID)
	})
	if err != nil || r.Held == nil {
		return err
	}
	held := work.Reason{Kind: work.WhyReviewHeld, Who: r.Held.By, At: r.Held.At.UnixMilli()}
	return &work.SupersededError{Reason: explain.What(held, explain.Place{})}
}

// checkIgnoreLabel checks GitHub's current labels for the ignore label, because ingest may have
// been long ago. The timeline shows since when it is set and by whom.
func (p *lastLook) checkIgnoreLabel(ctx context.Context, l *env.Lease, number int, labels []string, updated time.Time) error {
	ignore := l.Repo.Settings.Labels.Ignore
	if !work.HasLabel(labels, ignore) {
		return nil
	}
	timeline, err := l.Repo.GitHub.TimelineOf(ctx, l.Repo.Row.Current, number)
	if err != nil {
		return err
	}
	seen := env.TakeoverOf(number, timeline, ignore, true, updated)
	err = p.Store.Update(ctx, func(tx *store.Tx) error { return seen.Store(ctx, tx, l.Turn.RepoID, number) })
	if err != nil {
		return fmt.Errorf("store the pauses: %w", err)
	}
	return p.RequireNotPaused(ctx, l)
}
