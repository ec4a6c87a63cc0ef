package merge

import (
	"context"
	"errors"
	"time"

	"github.com/mergexo/gh-mergexo/actions"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/store"
)

// leftQueue handles a queued pull request that was not in the queue when its box was last read: it
// was merged or it fell out.
func (o round) leftQueue(ctx context.Context, j *job) error {
	box, err := o.box(ctx, j)
	if err != nil {
		return err
	}
	merged := box.State == work.PullMerged
	switch {
	case box.Head != j.row.Head:
		return o.storeStage(ctx, j, merging.Void)
	case merged && box.ByUs(o.scope(o.r).Accounts):
		return o.land(ctx, j, box.MergeCommit)
	case merged:
		return recordMergedByOthers(ctx, o, j, box.MergeCommit)
	case box.Queue.In:
		return nil // queued again, or the earlier box lagged
	}
	commit, err := o.r.OnBase(ctx, j.a.Number, j.row.Head, j.row.Base)
	switch {
	case err != nil:
		return err
	case box.State == work.PullOpen:
		return o.handleQueueExit(ctx, j, box, commit)
	case commit != "": // the base has it, and somebody closed the pull request
		return o.land(ctx, j, commit)
	}
	return o.storeStage(ctx, j, merging.Void)
}

// handleQueueExit handles a pull request that left its queue without being merged. It is not queued
// again at this head. GitHub shows the same state for a moment between leaving the queue and
// merging, and a commit on the base may keep the pull request open, so handleQueueExit waits for
// settle_after and looks again.
func (o round) handleQueueExit(ctx context.Context, j *job, box merging.Box, commit string) error {
	if out, err := wasDequeuedByUs(ctx, o, j.a); err != nil || out {
		return errors.Join(err, o.storeStage(ctx, j, merging.Void))
	}
	since, err := outOfQueueSince(ctx, o, j, box)
	switch {
	case err != nil:
		return err
	case since.Add(o.config.Runtime.SettleAfter).After(o.now()):
		return nil
	case commit != "":
		return o.recordHalfMerge(ctx, j, &actions.HalfMergedError{Commit: commit, Branch: j.row.Base})
	}
	if err := o.storeStage(ctx, j, merging.Void); err != nil {
		return err
	}
	return o.recordTrouble(ctx, j, work.Reason{Kind: work.WhyMergeQueueOut})
}

// outOfQueueSince returns since when the pull request is seen outside the queue into which it was
// last put.
func outOfQueueSince(ctx context.Context, o round, j *job, box merging.Box) (since time.Time, err error) {
	err = o.store.Update(ctx, func(tx *store.Tx) error {
		was, ok, err := tx.GetBox(ctx, j.pull.ID)
		if err != nil {
			return err
		}
		if !ok || was.Head != box.Head {
			was = box
		}
		if was.Queue.Left.Before(j.a.SeenAt) {
			was.Queue.In, was.Queue.Left = false, o.now()
		}
		since = was.Queue.Left
		return tx.PutBox(ctx, j.pull.ID, was)
	})
	return since, err
}

// recordMergedByOthers stores that somebody else merged a pull request: a void row with their
// commit, so that no pass asks again.
func recordMergedByOthers(ctx context.Context, o round, j *job, commit string) error {
	j.row.Commit = commit
	return o.writeStage(ctx, j, merging.Void)
}
