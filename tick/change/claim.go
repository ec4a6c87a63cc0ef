package change

import (
	"context"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
)

// Claim starts a turn. It returns store.ErrStale if another pass took its events or its item first.
type Claim struct {
	Item    work.Item
	Waiting []work.Event // its stored events
	Trigger work.Event   // one more, not stored yet; without a key: none
	Words

	Turn    work.Turn    // as planned
	Claimed work.Turn    // Apply sets it: Turn with its id, and with the next key if an earlier turn has this one
	Events  []work.Event // the turn's events; Apply loads them with their texts
}

// Apply is part of Change.
func (c *Claim) Apply(ctx context.Context, tx *Tx) (err error) {
	c.Claimed = c.Turn
	if c.Claimed.Key, err = unusedKey(ctx, tx, c.Turn.Key); err != nil {
		return err
	}
	if c.Claimed.ID, err = tx.AddTurn(ctx, c.Claimed); err != nil {
		return err
	}
	if c.Events, err = tx.LoadTexts(ctx, c.Waiting); err != nil {
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
	if err := c.startOver(ctx, tx); err != nil {
		return err
	}
	running := work.Move{Item: c.Item.ID, Cause: work.CauseClaimed, To: work.StateRunning}
	if err := tx.Show.Move(ctx, tx.Tx, running, tx.Now); err != nil {
		return err
	}
	return c.logFixes(ctx, tx)
}

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

// startOver drops the item's followup if its label was set again.
func (c *Claim) startOver(ctx context.Context, tx *Tx) error {
	f, waits, err := tx.FindFollowup(ctx, c.Item.ID)
	if err != nil || !waits {
		return err
	}
	again := func(e work.Event) bool { return work.StartsItem(c.Item, e) && e.ID > f.EventCursor }
	if !slices.ContainsFunc(c.Waiting, again) {
		return nil
	}
	return tx.DropFollowup(ctx, c.Item.ID)
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
