package change

import (
	"context"
	"errors"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
	"github.com/mergexo/gh-mergexo/store"
)

// RoadmapNode moves a node of a roadmap. A move that another pass made impossible is ignored.
type RoadmapNode struct {
	roadmap.Move
	Words
}

// Apply is part of Change.
func (c RoadmapNode) Apply(ctx context.Context, tx *Tx) error {
	return unlessStale(tx.MoveChild(ctx, c.Before, c.After))
}

// Roadmap moves a roadmap to another state. When it ends, so does its work item.
type Roadmap struct {
	Before, After roadmap.Record
	Words
}

// Apply is part of Change.
func (c Roadmap) Apply(ctx context.Context, tx *Tx) error {
	if err := tx.MoveRoadmap(ctx, c.Before, c.After); err != nil {
		return unlessStale(err)
	}
	if c.After.State == roadmap.Ended {
		end := Move{Move: work.Move{Item: c.Before.ItemID, Cause: work.CauseFulfilled, To: work.StateCompleted}}
		if c.Before.State == roadmap.Cancelled {
			end.Reason = c.After.Why
		}
		if err := end.Apply(ctx, tx); err != nil {
			return err
		}
	}
	return tx.Show.ShowRoadmap(ctx, tx.Tx, c.After, tx.Now)
}

func unlessStale(err error) error {
	if errors.Is(err, store.ErrStale) {
		return nil
	}
	return err
}

// RoadmapDecided records that nothing more is to be decided about a roadmap until it changes.
type RoadmapDecided struct {
	Item    int64
	Changes int // that were counted when it was read
	Words
}

// Apply is part of Change.
func (c RoadmapDecided) Apply(ctx context.Context, tx *Tx) error {
	return tx.MarkRoadmapDecided(ctx, c.Item, c.Changes)
}

// ForgetNotice makes a planned action void that was not sent yet.
type ForgetNotice struct {
	Action int64
	Why    string
	Words
}

// Apply is part of Change.
func (c ForgetNotice) Apply(ctx context.Context, tx *Tx) error {
	return unlessStale(tx.VoidUnsent(ctx, c.Action, c.Why, tx.Now))
}

// RetryNotice plans an action again that was refused or given up.
type RetryNotice struct {
	work.Action
	Words
}

// Apply is part of Change.
func (c RetryNotice) Apply(ctx context.Context, tx *Tx) error {
	a := c.Action
	a.PlannedAt = tx.Now
	return tx.RepeatAction(ctx, a)
}

// Table makes the comment that shows a roadmap on its issue, and keeps which of its issues nobody works
// on.
type Table struct {
	Item   int64 // of the roadmap
	Action work.Action
	Idle   []roadmap.Neglected
	Next   time.Time // when it is made again, even if nothing changes; zero: never
	Words
}

// Apply is part of Change.
func (c Table) Apply(ctx context.Context, tx *Tx) error {
	a := c.Action
	a.PlannedAt = tx.Now
	if err := tx.RenewAction(ctx, a); err != nil {
		return err
	}
	if err := tx.SetIdle(ctx, c.Item, c.Idle); err != nil {
		return err
	}
	return tx.SetTableAt(ctx, c.Item, c.Next)
}
