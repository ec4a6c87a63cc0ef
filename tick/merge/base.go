package merge

import (
	"context"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/store"
)

// stopForOtherBase stops a merge that would include commits that were not part of the change when
// it was approved: the pull request got another base since, or the base was rewritten. It stores
// the new base, so a person's retry merges into it.
func stopForOtherBase(ctx context.Context, o round, j *job, tip string) (bool, error) {
	var box merging.Box
	err := o.Store.View(ctx, func(tx *store.Tx) (err error) {
		box, _, err = tx.GetBox(ctx, j.pull.ID)
		return err
	})
	if err != nil || box.Onto == "" || box.Head != j.a.Head {
		return false, err
	}
	brings, err := o.r.Git().AddsBaseCommits(ctx, box.Onto, tip, j.a.Head)
	if err != nil || !brings {
		return false, err
	}
	box.Onto = tip
	if err := o.recordTrouble(ctx, j, work.Reason{Kind: work.WhyMergeOtherBase, Branch: j.a.Base}); err != nil {
		return true, err
	}
	return true, o.Store.Update(ctx, func(tx *store.Tx) error { return tx.PutBox(ctx, j.pull.ID, box) })
}
