package change

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
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

// AfterTurn moves an item when its turn ends.
type AfterTurn struct {
	work.Move
	Reviews int64     // pull request whose reviews, if they are stopped, keep the item blocked; 0: none
	Heard   work.Move // the move instead, if people commented on the pull request and no turn has the comment; zero: none
	Since   time.Time // earlier comments do not count
	Words
}

// Apply is part of Change.
func (c AfterTurn) Apply(ctx context.Context, tx *Tx) error {
	m := c.Move
	if c.Reviews != 0 {
		stored, err := tx.GetReviews(ctx, c.Reviews)
		if err != nil {
			return err
		}
		if r := stored.Record; r.State.Stopped() && !r.Why.None() {
			m.Cause, m.To, m.Reason = work.CauseStopped, work.StateBlocked, r.Why
		}
	}
	if c.Heard.Item != 0 {
		said, err := tx.ListPendingComments(ctx, tx.Repo.ID, c.Item)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(said, func(e work.Event) bool { return e.Kind != work.EventSource && e.SeenAt.After(c.Since) }) {
			m = c.Heard
		}
	}
	return Move{Move: m}.Apply(ctx, tx)
}

// AwaitComment stores what a stopped start waits for.
type AwaitComment struct {
	work.Followup
	Words
}

// Apply is part of Change. The cursor stays below comments on the issue that no turn was given.
func (c AwaitComment) Apply(ctx context.Context, tx *Tx) error {
	f := c.Followup
	f.Since = tx.Now
	said, err := tx.ListPendingComments(ctx, tx.Repo.ID, f.ItemID)
	if err != nil {
		return err
	}
	for _, e := range said {
		if e.Kind == work.EventSource {
			f.EventCursor = min(f.EventCursor, e.ID-1)
		}
	}
	return tx.PutFollowup(ctx, f)
}

// OpenPull stores the pull request that a turn opened. Its item waits for no comment on the issue
// any more.
type OpenPull struct {
	Pull work.PullRequest
	Words
}

// Apply is part of Change.
func (c OpenPull) Apply(ctx context.Context, tx *Tx) error {
	if err := tx.DropFollowup(ctx, c.Pull.ItemID); err != nil {
		return err
	}
	_, err := tx.PutPull(ctx, c.Pull)
	return err
}

// Wait stores what an item waits for, and since when.
type Wait struct {
	Item  int64
	Below bool // its issue may be shown in the table of a roadmap
	work.Wait
	Words
}

// Apply is part of Change.
func (c Wait) Apply(ctx context.Context, tx *Tx) error {
	if err := tx.SetWait(ctx, c.Item, c.Wait); err != nil || !c.Below {
		return err
	}
	return tx.MarkTableAbove(ctx, c.Item)
}

// ItemResult stores what a turn leaves to later turns of its item.
type ItemResult struct {
	Item work.Item
	Words
}

// Apply is part of Change.
func (c ItemResult) Apply(ctx context.Context, tx *Tx) error { return tx.SetResult(ctx, c.Item) }

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

// Pause starts or ends a pause by a command. Its end ends the pauses of the issue and of the pull request. One that is
// open does not stand for it: people may have removed its label before the command.
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
		if err := tx.PutPause(ctx, work.Pause{RepoID: item.RepoID, Number: c.Number, Began: c.Began, By: c.By}); err != nil {
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
	explain.Acceptance
	Words
}

// Apply is part of Change.
func (c AcceptHead) Apply(ctx context.Context, tx *Tx) error {
	if err := tx.AcceptHead(ctx, c.Pull, c.Head); !errors.Is(err, store.ErrStale) {
		return err
	}
	return nil
}

// LostHead stores the commit that a rewritten branch lost.
type LostHead struct {
	Pull int64
	OID  string
	Words
}

// Apply is part of Change.
func (c LostHead) Apply(ctx context.Context, tx *Tx) error { return tx.SetLost(ctx, c.Pull, c.OID) }

// AllowAgents stores that a person lets GitHub's own agents fix a pull request beside ours.
type AllowAgents struct {
	Pull int64
	Words
}

// Apply is part of Change.
func (c AllowAgents) Apply(ctx context.Context, tx *Tx) error { return tx.AllowAgents(ctx, c.Pull) }

// RereadPull makes the next pass read a pull request that could not be read.
type RereadPull struct {
	Pull int64
	Words
}

// Apply is part of Change.
func (c RereadPull) Apply(ctx context.Context, tx *Tx) error { return tx.ReadSoon(ctx, c.Pull) }
