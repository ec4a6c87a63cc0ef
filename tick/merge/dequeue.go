package merge

import (
	"context"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// recordDequeue stores that we removed a pull request from its base's merge queue. Its merge is
// void without a reason, so that it is queued again once all gates are open.
func recordDequeue(ctx context.Context, o round, j *job) error {
	o.report(j, env.MergeLeft, work.Reason{})
	return o.Store.Update(context.WithoutCancel(ctx), func(tx *store.Tx) error {
		row, meant, err := tx.FindMerge(ctx, j.pull.ID, j.a.Head)
		if err == nil && meant && (row.Stage == merging.Queued || row.Stage == merging.Intended) {
			row.Stage = merging.Void
			_, err = tx.PutMerge(ctx, row)
		}
		if err != nil {
			return err
		}
		box, read, err := tx.GetBox(ctx, j.pull.ID)
		if err != nil || !read || box.Head != j.a.Head {
			return err
		}
		box.Queue = merging.Queue{Required: box.Queue.Required}
		return tx.PutBox(ctx, j.pull.ID, box)
	})
}

// wasDequeuedByUs reports whether we removed the pull request that action put has queued.
func wasDequeuedByUs(ctx context.Context, o round, put work.Action) (out bool, err error) {
	err = o.Store.View(ctx, func(tx *store.Tx) error {
		a, known, err := tx.GetAction(ctx, work.DequeueToken(o.r.Row.Key(), put.Number, put.Head, put.Renewals))
		out = known && (a.State == work.ActionApplied || a.State == work.ActionSent)
		return err
	})
	return out, err
}
