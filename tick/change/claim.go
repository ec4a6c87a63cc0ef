package change

import (
	"context"
	"fmt"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
	"github.com/mergexo/gh-mergexo/store"
)

// Claim starts a turn. It returns store.ErrStale if another pass took its events or its item first,
// and a SpentError if the day's budgets are spent.
type Claim struct {
	Item    work.Item
	Waiting []work.Event // its stored events
	Trigger work.Event   // one more, not stored yet; without a key: none
	Words

	Turn    work.Turn                          // as planned
	Limits  func(work.RepoName) roadmap.Limits // of the roadmaps in a repository; checked again, as the next
	Budgets work.Budgets                       // those of a day are checked again: another machine may have claimed a turn since the plan
	Claimed work.Turn                          // Apply sets it: Turn with its id, and with the next key if an earlier turn has this one
	Events  []work.Event                       // the turn's events; Apply loads them with their texts
}

// Apply is part of Change.
func (c *Claim) Apply(ctx context.Context, tx *Tx) (err error) {
	if err := c.reserve(ctx, tx); err != nil {
		return err
	}
	c.Claimed = c.Turn
	if c.Events, err = tx.LoadTexts(ctx, c.Waiting); err != nil {
		return err
	}
	followup, waits, err := tx.FindFollowup(ctx, c.Item.ID)
	if err != nil {
		return err
	}
	if c.Claimed.Key, err = unusedKey(ctx, tx, c.Turn.Key); err != nil {
		return err
	}
	if c.Claimed.ID, err = tx.AddTurn(ctx, c.Claimed); err != nil {
		return err
	}
	if e := c.Trigger; e.Key != "" {
		if e.ID, err = tx.AddOrReopenEvent(ctx, e); err != nil {
			return err
		}
		c.Events = append(c.Events, e)
	}
	if err := tx.AssignEvents(ctx, c.Claimed.ID, work.EventIDs(c.Events)); err != nil {
		return err
	}
	if waits && c.startsOver(followup) {
		if err := tx.DropFollowup(ctx, c.Item.ID); err != nil {
			return err
		}
	}
	running := work.Move{Item: c.Item.ID, Cause: work.CauseClaimed, To: work.StateRunning}
	if err := tx.Show.Move(ctx, tx.Tx, running, tx.Now); err != nil {
		return err
	}
	return c.logFixes(ctx, tx)
}

// reserve checks that the day's budgets leave a turn. The turn's row takes it: the transaction that
// adds the row has read all others.
func (c *Claim) reserve(ctx context.Context, tx *Tx) error {
	if err := c.seat(ctx, tx); err != nil {
		return err
	}
	if c.Budgets.TurnsPerDay == 0 && c.Budgets.CostPerDay == 0 {
		return nil
	}
	spent, err := tx.ListSpentSince(ctx, tx.Now.Add(-spending.Window))
	if err != nil {
		return err
	}
	if d := spending.DayOf(spent, c.Budgets, tx.Now); d.Left == 0 {
		return &SpentError{d}
	}
	return nil
}

// seat checks that the roadmaps above the item's issue still leave room for it: a pass that plans
// another repository may have begun something below them.
func (c *Claim) seat(ctx context.Context, tx *Tx) error {
	if !c.Turn.Kind.Start() || c.Item.SubIssueOf == "" {
		return nil
	}
	above, err := tx.RoadmapsAbove(ctx, c.Item.SubIssueOf, c.Limits)
	if err != nil {
		return err
	}
	issue := work.Dependency{Repo: tx.Repo.Name, Number: c.Item.Number}.String()
	if why := roadmap.Brake(issue, above); !why.None() {
		return fmt.Errorf("%s: %w", why, store.ErrStale)
	}
	return nil
}

// SpentError means that another pass took the last turn that the day's budgets left.
type SpentError struct{ Day spending.Day }

func (e *SpentError) Error() string { return explain.What(e.Day.Why, explain.Place{Spending: true}) }

// unusedKey returns the next key as long as an earlier turn with the key has ended and released its
// events: it was superseded or failed, and nothing changed since. A turn in progress keeps its key
// and events.
func unusedKey(ctx context.Context, tx *Tx, key string) (string, error) {
	for {
		earlier, known, err := tx.FindTurn(ctx, key)
		if err != nil || !known || !earlier.Step.Ended() {
			return key, err
		}
		key = work.NextTurnKey(key)
	}
}

// startsOver reports whether the item's label was set again since it waits for a comment.
func (c *Claim) startsOver(f work.Followup) bool {
	return slices.ContainsFunc(c.Waiting, func(e work.Event) bool { return work.StartsItem(c.Item, e) && e.ID > f.EventCursor })
}

// logFixes logs that a fix for a reviewer starts.
func (c *Claim) logFixes(ctx context.Context, tx *Tx) error {
	for _, e := range c.Events {
		due, ok := review.FixDueOf(e)
		if !ok {
			continue
		}
		err := tx.logReview(ctx, c.Item.ID, c.Turn.Number, review.LogEntry{
			Key: "review_fix_created:" + e.Key, What: "review_fix_created",
			Data: map[string]any{"reviewer": c.Turn.Reviewer, "review": due.ReviewID, "cycle": due.Cycle, "head": c.Turn.Head},
		})
		if err != nil {
			return err
		}
	}
	return nil
}
