package change

import (
	"context"
	"errors"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/rewritten"
	"github.com/mergexo/gh-mergexo/store"
)

// Move moves an item to another state. A move that another pass made impossible is ignored.
type Move struct {
	work.Move
	Words
}

// Apply is part of Change.
func (c Move) Apply(ctx context.Context, tx *Tx) error {
	if err := tx.Show.Move(ctx, tx.Tx, c.Move, tx.Now); err != nil && !errors.Is(err, store.ErrStale) {
		return fmt.Errorf("item %d to %q: %w", c.Item, c.To, err)
	}
	if c.To == work.StateCompleted {
		return tx.DropSessions(ctx, c.Item)
	}
	return nil
}

// Takeover updates a stop comment when a pause begins or ends.
type Takeover struct {
	work.PauseBanner
	Words
}

// Apply is part of Change.
func (c Takeover) Apply(ctx context.Context, tx *Tx) error {
	if err := tx.Show.ShowTakeover(ctx, tx.Tx, c.PauseBanner, tx.Now); err != nil {
		return fmt.Errorf("item %d: %w", c.Stop.ItemID, err)
	}
	return nil
}

// Pause starts or ends a pause by a command. A pause is stored for the issue; its end also ends the
// pauses of the pull request.
type Pause struct {
	work.PauseChange
	Words
}

// Apply is part of Change.
func (c Pause) Apply(ctx context.Context, tx *Tx) error {
	item, err := tx.GetItem(ctx, c.Item)
	if err != nil {
		return err
	}
	if !c.Began.IsZero() {
		if err := tx.BeginPause(ctx, work.Pause{RepoID: item.RepoID, Number: item.Number, Began: c.Began, By: c.By}); err != nil {
			return err
		}
	}
	if c.Ended.IsZero() {
		return nil
	}
	if err := tx.EndPauses(ctx, item.RepoID, item.Number, store.PausesAll, c.Ended); err != nil {
		return err
	}
	pull, ok, err := tx.FindPullOfItem(ctx, item.ID)
	if err != nil || !ok {
		return err
	}
	return tx.EndPauses(ctx, item.RepoID, pull.Number, store.PausesAll, c.Ended)
}

// RenewBudget resets the budgets of an item.
type RenewBudget struct {
	Item int64
	Words
}

// Apply is part of Change.
func (c RenewBudget) Apply(ctx context.Context, tx *Tx) error { return tx.RenewAllowance(ctx, c.Item) }

// AcceptHead stores that a person accepted a rewritten head. If the head has moved, it stores
// nothing: the person must look again.
type AcceptHead struct {
	rewritten.Acceptance
	Words
}

// Apply is part of Change.
func (c AcceptHead) Apply(ctx context.Context, tx *Tx) error {
	if err := tx.AcceptHead(ctx, c.Pull, c.Head); !errors.Is(err, store.ErrStale) {
		return err
	}
	return nil
}

// RereadPull makes the next pass read a pull request that could not be read.
type RereadPull struct {
	Pull int64
	Words
}

// Apply is part of Change.
func (c RereadPull) Apply(ctx context.Context, tx *Tx) error { return tx.RereadPull(ctx, c.Pull) }
