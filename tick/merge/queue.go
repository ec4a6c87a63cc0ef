package merge

import (
	"context"
	"errors"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
)

// leftQueue sees to a pull request that was put into its base's merge queue, and that was
// not there when its box was last read: it was merged, or it fell out.
func (o round) leftQueue(ctx context.Context, j *job) error {
	box, err := o.box(ctx, j)
	if err != nil {
		return err
	}
	switch {
	case box.State == work.PullMerged && box.Head == j.row.Head:
		return o.land(ctx, j, box.MergeCommit)
	case box.State != work.PullOpen, box.Head != j.row.Head:
		return o.put(ctx, j, merging.Void)
	case box.Queue.In:
		return nil // again, or the box that was read lagged
	}
	return o.fellOut(ctx, j)
}

// fellOut is for a pull request that its queue let go of without merging it, before any
// pass saw it there: it is not queued at this head again. Otherwise that is news, which
// is read with the merge boxes.
func (o round) fellOut(ctx context.Context, j *job) error {
	if out, err := o.wasTakenOut(ctx, j.a); err != nil || out {
		return errors.Join(err, o.put(ctx, j, merging.Void))
	}
	if j.a.SeenAt.Add(o.Config.Runtime.SettleAfter).After(o.Now()) {
		return nil // GitHub may not show it yet
	}
	if err := o.put(ctx, j, merging.Void); err != nil {
		return err
	}
	return o.trouble(ctx, j, work.Reason{Kind: work.WhyMergeQueueOut})
}
