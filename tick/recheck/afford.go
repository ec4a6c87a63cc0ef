package recheck

import (
	"context"
	"fmt"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// SpentError says that a budget leaves nothing for one more run of a turn's
// agent, until a person gives it more. A comment is no way to.
type SpentError struct{ Reason string }

func (e *SpentError) Error() string { return e.Reason }

// UnansweredError says that a turn's agent was started as often as it may be, and
// that nobody saw how the last attempt ended.
type UnansweredError struct {
	Attempts int
	Failed   string // how an earlier attempt failed; empty: none was seen to
}

func (e *UnansweredError) Error() string {
	if e.Failed == "" {
		return e.Public()
	}
	return e.Public() + "; what an earlier attempt failed with: " + e.Failed
}

// Public is the reason as GitHub is told.
func (e *UnansweredError) Public() string {
	return fmt.Sprintf("its agent was started %d times and never answered: passes were ended while it worked, by a signal, a shutdown or for lack of memory", e.Attempts)
}

// Enduring is what a person can do about passes that are ended.
const Enduring = "see that a pass may run as long as `turn_timeout` in the config (a `timeout` in cron ends it earlier), then comment to have it tried again"

// MayRun finds out, before anything is done for a turn whose agent is to run,
// whether it may: whether it is new, or waited, or was left by a dead pass.
func (p *Looks) MayRun(ctx context.Context, l *env.Lease) error {
	return p.Store.View(ctx, func(tx *store.Tx) error { return p.Affords(ctx, tx, l) })
}

// Affords looks at the turn's attempts and at every budget before a run. Runs of
// the same attempt repair what the one before left: they have numbers of their
// own, and only what they cost counts.
func (p *Looks) Affords(ctx context.Context, tx *store.Tx, l *env.Lease) error {
	if !l.Attempted && l.Turn.Attempts >= work.MaxAttempts {
		return &UnansweredError{Attempts: l.Turn.Attempts, Failed: l.Turn.LastError}
	}
	b, now := p.Config.Runtime.Budgets, p.Now()
	if why := OverLimit(l.Turn.Usage, b); why != "" {
		return AtLimit("its agent is not run again", why)
	}
	if l.Attempted {
		b.TurnsPerItem, b.FeedbackRounds, b.TurnsPerDay = 0, 0, 0
	}
	spent, err := tx.ListSpent(ctx, l.Item.ID)
	if err != nil {
		return err
	}
	if why := spending.Overspent(SpentBefore(l.Turn, spent), l.Turn.Kind, b); why != "" {
		return &SpentError{why}
	}
	lately, err := tx.ListSpentSince(ctx, now.Add(-spending.Window))
	if err != nil {
		return err
	}
	lately = slices.DeleteFunc(lately, func(s work.Spent) bool { return s.Turn == l.Turn.ID && s.Run == 0 }) // it has not begun
	if d := spending.DayOf(lately, b, now); d.Why != "" {
		return &work.WaitError{Until: d.Until, Reason: d.String()}
	}
	return nil
}

// SpentBefore is what an item has spent before a run of one of its turns: what it
// is about to begin counts once it has begun.
func SpentBefore(t work.Turn, spent []work.Spent) spending.Sum {
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
