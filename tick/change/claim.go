package change

import (
	"context"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/internal/work/reviewing"
)

// Claim begins a turn. It is store.ErrStale if another pass took its events or its item first.
type Claim struct {
	Item    work.Item
	Waiting []work.Event // that the turn is about
	Trigger work.Event   // another one, which is not stored yet; without a key: none
	Words

	Turn   work.Turn    // Apply gives it its id, and the next key if an earlier turn has this one
	Events []work.Event // Apply reads them with their texts
}

// Apply is part of Change.
func (c *Claim) Apply(ctx context.Context, tx *Tx) (err error) {
	if c.Turn.Key, err = unusedKey(ctx, tx, c.Turn.Key); err != nil {
		return err
	}
	if c.Turn.ID, err = tx.AddTurn(ctx, c.Turn); err != nil {
		return err
	}
	if c.Events, err = tx.WithTexts(ctx, c.Waiting); err != nil {
		return err
	}
	if e := c.Trigger; e.Key != "" {
		if e.ID, err = tx.AskAgain(ctx, e); err != nil {
			return err
		}
		c.Events = append(c.Events, e)
	}
	if err := tx.AssignEvents(ctx, c.Turn.ID, work.EventIDs(c.Events)); err != nil {
		return err
	}
	if err := c.startOver(ctx, tx); err != nil {
		return err
	}
	running := work.Move{Item: c.Item.ID, Cause: work.CauseClaimed, To: work.StateRunning}
	if err := tx.Show.Move(ctx, tx.Tx, running, tx.Now); err != nil {
		return err
	}
	return c.logFixes(ctx, tx)
}

// unusedKey gives a turn the next key while an earlier one about the same has ended and left
// its events: it was superseded or failed, and nothing moved since. A turn that is under way
// keeps its key, and its events.
func unusedKey(ctx context.Context, tx *Tx, key string) (string, error) {
	for {
		earlier, known, err := tx.FindTurn(ctx, key)
		if err != nil || !known || !earlier.Step.Ended() {
			return key, err
		}
		key = work.NextTurnKey(key)
	}
}

// startOver forgets the item's wait for answers if its label was set again.
func (c *Claim) startOver(ctx context.Context, tx *Tx) error {
	f, waits, err := tx.FindFollowup(ctx, c.Item.ID)
	if err != nil || !waits {
		return err
	}
	again := func(e work.Event) bool { return work.Begins(c.Item, e) && e.ID > f.EventCursor }
	if !slices.ContainsFunc(c.Waiting, again) {
		return nil
	}
	return tx.DropFollowup(ctx, c.Item.ID)
}

// logFixes logs that a fix for a reviewer begins.
func (c *Claim) logFixes(ctx context.Context, tx *Tx) error {
	for _, e := range c.Events {
		due, ok := review.FixDueOf(e)
		if !ok {
			continue
		}
		err := tx.logReview(ctx, c.Item.ID, c.Turn.Number, reviewing.Logged{
			Key: "review_fix_created:" + e.Key, What: "review_fix_created",
			Data: map[string]any{"reviewer": c.Turn.Reviewer, "review": due.ReviewID, "cycle": due.Cycle, "head": c.Turn.Head},
		})
		if err != nil {
			return err
		}
	}
	return nil
}
