package change

import (
	"context"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
)

// Notice plans an action on GitHub that belongs to no turn. Labels and statuses are planned again
// even if they were applied before, because a command may ask for them again.
type Notice struct {
	work.Action
	Words
}

// Apply is part of Change.
func (c Notice) Apply(ctx context.Context, tx *Tx) error {
	a := c.Action
	a.PlannedAt = tx.Now
	switch a.Kind { //nolint:exhaustive // the others are planned once
	case work.ActionLabels, work.ActionFlow:
		return tx.RepeatAction(ctx, a)
	case work.ActionStatus, work.ActionSticky:
		return tx.RenewAction(ctx, a)
	case work.ActionChild:
		known, _, err := tx.GetAction(ctx, a.Token)
		if err != nil {
			return err
		}
		if again := known.State == work.ActionVoid || known.State == work.ActionDropped; again && a.Followup() {
			return tx.RepeatAction(ctx, a) // a person asks again for what GitHub refused
		}
	}
	return tx.PlanAction(ctx, a)
}

// Merge plans that a pull request is merged, queued, dequeued, or updated from its base. It is
// checked again before it is sent. The plan queues or updates a head again only if a person asked
// or the base moved.
type Merge struct {
	Item   int64
	Number int
	Action work.Action
	Choice merging.Choice
	Words
}

// Apply is part of Change.
func (c Merge) Apply(ctx context.Context, tx *Tx) error {
	a := c.Action
	a.PlannedAt = tx.Now
	known, err := tx.PlanMerging(ctx, a)
	repeats := a.Kind == work.ActionEnqueue || a.Kind == work.ActionUpdateBranch
	if err == nil && repeats && known.State == work.ActionApplied {
		err = tx.RepeatAction(ctx, a)
	}
	if err != nil {
		return fmt.Errorf("%s of #%d: %w", a.Kind, c.Number, err)
	}
	return nil
}

// MergeApproval stores a person's approval to merge a head.
type MergeApproval struct {
	merging.MergeApproval
	Words
}

// Apply is part of Change.
func (c MergeApproval) Apply(ctx context.Context, tx *Tx) error {
	_, err := tx.AddMergeApproval(ctx, c.MergeApproval)
	return err
}

// ForgetMerge clears why earlier attempts to merge a pull request failed.
type ForgetMerge struct {
	Pull int64
	Words
}

// Apply is part of Change.
func (c ForgetMerge) Apply(ctx context.Context, tx *Tx) error {
	return tx.SetMergeTrouble(ctx, c.Pull, "", work.Reason{})
}

// MergeNow ends the wait of a merge that GitHub refused.
type MergeNow struct {
	Action int64
	Words
}

// Apply is part of Change.
func (c MergeNow) Apply(ctx context.Context, tx *Tx) error { return tx.HastenAction(ctx, c.Action) }
