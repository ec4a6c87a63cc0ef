package ingest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/store"
)

// The author of a comment that holds a pull request ends the hold by an edit that takes the command out.
// Nobody else's edit ends it, and no edit that leaves the command's words: a hold that is written wrongly
// is rather kept than lost.

// commandedHold is the hold of a pull request that a comment began.
type commandedHold struct {
	pull work.PullRequest
	held review.Held  // zero: nothing holds it
	said []work.Event // on the issue and the pull request, if it is held
	next review.Held  // what holds it without that comment: somebody else asked for the same; zero: nothing
	by   []int64      // ids of the events that began it
}

// loadHold reads the hold of the open pull request among the numbers of an item; nil: none is open.
func loadHold(ctx context.Context, tx *store.Tx, repoID int64, numbers []int) (*commandedHold, error) {
	var c *commandedHold
	for _, n := range numbers {
		pull, known, err := tx.GetPull(ctx, repoID, n)
		if err != nil {
			return nil, err
		}
		if known && pull.State == work.PullOpen {
			c = &commandedHold{pull: pull}
		}
	}
	if c == nil {
		return nil, nil
	}
	stored, err := tx.GetReviews(ctx, c.pull.ID)
	if err != nil || stored.Held == nil {
		return c, err
	}
	c.held = *stored.Held
	for _, n := range numbers {
		some, err := tx.ListEvents(ctx, repoID, n)
		if err != nil {
			return nil, err
		}
		c.said = append(c.said, some...)
	}
	return c, nil
}

// beganWith reports whether a comment began the hold, and notes who else asked for it since.
func (c *commandedHold) beganWith(e work.Event) (began bool) {
	for _, o := range c.said {
		at := work.StampOf(o)
		switch {
		case !isCommand(o, work.VerbHold, []int{o.Number}) || at.Before(c.held.At):
		case sameComment(o, e): // an edit ends it as an event if its answer is not seen yet
			if o.Author.Login == c.held.By && at.Equal(c.held.At) {
				began, c.by = true, append(c.by, o.ID)
			}
		case o.Outcome != "" && o.Outcome != work.OutcomeAnswered:
		case c.next == review.Held{} && !slices.ContainsFunc(c.said, func(v work.Event) bool { return v.ID > o.ID && sameComment(o, v) && !work.ByWord(v.Outcome) }):
			c.next = review.Held{By: o.Author.Login, At: at, Labelled: c.held.Labelled}
		}
	}
	return began
}

// sameComment reports whether two events are versions of one comment.
func sameComment(a, b work.Event) bool {
	return a.Number == b.Number && slices.Contains(versionKeys(b), [2]string{string(a.Kind), a.Source})
}

// storeTakenBack ends the holds whose authors took them back, and removes the label.
func (h *reading) storeTakenBack(ctx context.Context, tx *store.Tx, _ time.Time) error {
	for _, c := range h.judged.takenBack {
		hold, err := loadHold(ctx, tx, h.row.ID, c.holds)
		if err != nil {
			return err
		}
		if hold == nil || !hold.beganWith(c.event) { // a command or the label has ended it
			continue
		}
		if err := tx.TakeBack(ctx, hold.by); err != nil {
			return err
		}
		if hold.next != (review.Held{}) {
			err = tx.SetHold(ctx, hold.pull.ID, hold.next)
		} else {
			err = h.storeHeld(ctx, tx, hold.pull, hold.next, fmt.Sprintf("%s took the hold out of %s", c.event.Author.Login, c.event.URL))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// storeHeld stores that a command holds a pull request, or that nothing does, and sets or removes the label.
func (h *reading) storeHeld(ctx context.Context, tx *store.Tx, pull work.PullRequest, held review.Held, why string) error {
	if err := tx.SetHold(ctx, pull.ID, held); err != nil {
		return err
	}
	a := review.Item{Repo: h.row, ID: pull.ItemID, Pull: pull, Labels: h.repo.Settings.Labels}.HoldLabel(held != review.Held{})
	a.Why, a.PlannedAt = why, h.now()
	return tx.RepeatAction(ctx, a)
}

// storePutBack holds the pull requests again, and sets the label.
func (h *reading) storePutBack(ctx context.Context, tx *store.Tx, _ time.Time) error {
	for _, b := range h.judged.putBack {
		hold, err := loadHold(ctx, tx, h.row.ID, b.holds)
		if err != nil {
			return err
		}
		if hold == nil || hold.held != (review.Held{}) {
			continue
		}
		held := review.Held{By: b.event.Author.Login, At: work.StampOf(b.event)}
		if err := h.storeHeld(ctx, tx, hold.pull, held, fmt.Sprintf("%s put the hold back into %s", b.event.Author.Login, b.event.URL)); err != nil {
			return err
		}
	}
	return nil
}
