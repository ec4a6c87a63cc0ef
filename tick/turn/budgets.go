package turn

import (
	"context"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// MayRun finds out, before anything is done for a turn whose agent is to run,
// whether it may: whether it is new, or waited, or was left by a dead pass.
func (p *lastLook) MayRun(ctx context.Context, l *env.Lease) error {
	return p.Store.View(ctx, func(tx *store.Tx) error { return p.Affords(ctx, tx, l) })
}

// Affords looks at the turn's attempts and at every budget before a run. Runs of
// the same attempt repair what the one before left: they have numbers of their
// own, and only what they cost counts.
func (p *lastLook) Affords(ctx context.Context, tx *store.Tx, l *env.Lease) error {
	if !l.Attempted && l.Turn.Attempts >= work.MaxAttempts {
		return &work.BlockedError{Reason: unanswered(l.Turn)}
	}
	b, now := p.Config.Runtime.Budgets, p.Now()
	if spent := overLimit(l.Turn.Usage, b); !spent.None() {
		return &work.BlockedError{Reason: spent}
	}
	if l.Attempted {
		b.TurnsPerItem, b.FeedbackRounds, b.TurnsPerDay = 0, 0, 0
	}
	spent, err := tx.ListSpent(ctx, l.Item.ID)
	if err != nil {
		return err
	}
	if over := spending.Overspent(spentBefore(l.Turn, spent), l.Turn.Kind, b); !over.None() {
		return &work.BlockedError{Reason: over}
	}
	lately, err := tx.ListSpentSince(ctx, now.Add(-spending.Window))
	if err != nil {
		return err
	}
	lately = slices.DeleteFunc(lately, func(s work.Spent) bool { return s.Turn == l.Turn.ID && s.Run == 0 }) // it has not begun
	if d := spending.DayOf(lately, b, now); !d.Why.None() {
		return &work.WaitError{Until: d.Until, Reason: d.Why}
	}
	return nil
}

// unanswered is that a turn's agent was started as often as it may be, and that
// nobody saw how the last attempt ended.
func unanswered(t work.Turn) work.Reason {
	r := work.Reason{Kind: work.WhyNeverAnswered, Count: t.Attempts}
	if t.LastError != "" {
		r.Local = "what an earlier attempt failed with: " + t.LastError
	}
	return r
}

// spentBefore is what an item has spent before a run of one of its turns: what it
// is about to begin counts once it has begun.
func spentBefore(t work.Turn, spent []work.Spent) spending.Sum {
	s := spending.Of(spent)
	for _, own := range spent {
		if own.Turn != t.ID {
			continue
		}
		s.Turns -= own.Turns() - own.Attempts
		if own.Attempts == 0 {
			s.Begun--
		}
		if spending.AnswersPeople(t.Kind) {
			s.Rounds--
		}
	}
	return s
}
