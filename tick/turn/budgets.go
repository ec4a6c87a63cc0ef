package turn

import (
	"context"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// MayRun checks attempts and budgets before any work for a turn whose agent must run, be it new,
// waiting or left by a killed pass.
func (p *lastLook) MayRun(ctx context.Context, l *env.Lease) error {
	return p.Store.View(ctx, func(tx *store.Tx) error { return p.affords(ctx, tx, l) })
}

// affords checks the turn's attempts and every budget before a run. Repair runs of the same attempt
// are not counted as turns or rounds; only their cost counts.
func (p *lastLook) affords(ctx context.Context, tx *store.Tx, l *env.Lease) error {
	if !l.Attempted && l.Turn.Attempts >= work.MaxAttempts {
		return &work.BlockedError{Reason: unanswered(l.Turn)}
	}
	b, now := p.Config.Runtime.Budgets, tx.Moment(p.Now)
	if spent := overLimit(l.Turn.Used.Usage, b); !spent.None() {
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
	lately = slices.DeleteFunc(lately, func(s work.Spent) bool { return s.Turn == l.Turn.ID && s.Run == 0 }) // this turn's run has not begun
	if d := spending.DayOf(lately, b, now); !d.Why.None() {
		return &work.WaitError{Until: d.Until, Reason: d.Why}
	}
	return nil
}

// unanswered is the reason of a turn whose agent was started as often as allowed, without a pass
// that saw how the last attempt ended.
func unanswered(t work.Turn) work.Reason {
	r := work.Reason{Kind: work.WhyNeverAnswered, Count: t.Attempts}
	if t.LastError != "" {
		r.Local = "what an earlier attempt failed with: " + t.LastError
	}
	return r
}

// spentBefore returns what an item had spent before this run of its turn t. The run counts once it
// has begun.
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
