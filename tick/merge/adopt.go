package merge

import (
	"context"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// adopt looks at pull requests merged within unknownFor, at most unknownPerPass per pass.
const (
	unknownFor     = 7 * 24 * time.Hour
	unknownPerPass = 10
)

// merges reports whether auto merge is on for any flow of a repository.
func merges(r *env.Repo) bool {
	return slices.ContainsFunc(work.Flows(), func(f work.Flow) bool { return r.Settings.MergePolicy(f).Auto })
}

// adopt looks once at each merged pull request for which no row names who merged it. Merges of ours
// are compared with the approved head, even if they landed after their action was void or before a
// database was lost. Merges by people are not.
func (o round) adopt(ctx context.Context, pulls []work.PullRequest) {
	for _, p := range pulls {
		if o.mustNotSend(ctx) {
			return
		}
		if err := o.adoptOne(ctx, p); err != nil && ctx.Err() == nil {
			o.tellUnread(ctx, p.Number, "who merged it", err)
		}
	}
}

func (o round) adoptOne(ctx context.Context, p work.PullRequest) error {
	j := &job{pull: p}
	err := o.Store.View(ctx, func(tx *store.Tx) (err error) {
		if j.row, _, err = tx.FindMerge(ctx, p.ID, p.HeadOID); err != nil {
			return err
		}
		j.a, err = sentFor(ctx, tx, o.r, p.Number, p.HeadOID)
		return err
	})
	if err != nil || j.a.ID != 0 && !j.a.State.Settled() {
		return err // an unsettled action's own job looks at it
	}
	if j.found = j.a.ID == 0; j.found {
		j.a = work.Action{
			Kind: work.ActionMerge, Token: work.MergeToken(o.r.Row.Key(), p.Number, p.HeadOID), RepoID: o.r.Row.ID, ItemID: p.ItemID,
			Number: p.Number, Head: p.HeadOID, Base: p.Base,
		}
	}
	byUs, err := mergedByUs(ctx, o, j)
	switch {
	case err != nil:
		return err
	case !byUs:
		return recordMergedByOthers(ctx, o, j, p.MergeCommit) // stored, so that it is not asked again
	case j.row.ID == 0:
		j.row.At = o.Now()
		j.row = o.mergeRow(j, merging.Intended)
	}
	return o.land(ctx, j, p.MergeCommit)
}

// mergedByUs reports whether our request merged a pull request. Any of these proves it: our applied
// merge action; our token in the merge commit; or the head kept in the mirror, which happens before
// a send, if GitHub names one of our accounts or a merge queue as the merger. Commits made by a
// queue or a rebase have no token of ours.
func mergedByUs(ctx context.Context, o round, j *job) (bool, error) {
	if j.a.Kind == work.ActionMerge && j.a.State == work.ActionApplied {
		return true, nil
	}
	mirror := o.r.Git()
	if err := mirror.Fetch(ctx, j.pull.Base, j.pull.MergeCommit, j.pull.HeadOID); err != nil {
		return false, err
	}
	told, err := mirror.HasToken(ctx, j.pull.MergeCommit, work.MergeToken(o.r.Row.Key(), j.pull.Number, j.pull.HeadOID))
	if err != nil || told {
		return told, err
	}
	meant, err := mirror.HasMerged(ctx, j.pull.Number, j.pull.HeadOID)
	if err != nil || !meant {
		return false, err
	}
	box, err := o.box(ctx, j)
	return err == nil && box.State == work.PullMerged && box.Head == j.pull.HeadOID && box.ByUs(o.Scope(o.r).Accounts), err
}

// recordMergedByOthers stores that somebody else merged a pull request: a void row with their
// commit, so that no pass asks again.
func recordMergedByOthers(ctx context.Context, o round, j *job, commit string) error {
	j.row.Commit = commit
	return o.writeStage(ctx, j, merging.Void)
}
