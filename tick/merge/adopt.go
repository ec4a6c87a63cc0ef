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

// How far back pull requests are looked at that were merged while nobody remembers by whom,
// and how many of them in one pass.
const (
	unknownFor     = 7 * 24 * time.Hour
	unknownPerPass = 10
)

// merges reports whether anything in a repository is merged by us.
func merges(r *env.Repo) bool {
	return slices.ContainsFunc(work.Flows(), func(f work.Flow) bool { return r.Settings.MergePolicy(f).Auto })
}

// adopt looks at pull requests that were merged and of which nothing says by whom, once
// each: what we merged is compared, also where it landed after it counted as off, or
// before a database was lost. Whatever people merged is theirs.
func (o round) adopt(ctx context.Context, pulls []work.PullRequest) {
	for _, p := range pulls {
		if o.off(ctx) {
			return
		}
		if err := o.adoptOne(ctx, p); err != nil && ctx.Err() == nil {
			o.Log.WarnContext(ctx, "it is not known who merged it", "repo_full_name", o.r.Name.FullName(), "pr_number", p.Number, "error", err)
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
		return err // of what is not over it is seen with its action
	}
	if j.a.ID == 0 {
		j.a = work.Action{
			Kind: work.ActionMerge, Token: work.MergeToken(o.r.Row.Key(), p.Number, p.HeadOID), RepoID: o.r.Row.ID, ItemID: p.ItemID,
			Number: p.Number, Head: p.HeadOID, Base: p.Base,
		}
	}
	byUs, err := ours(ctx, o, j)
	switch {
	case err != nil:
		return err
	case !byUs:
		return theirs(ctx, o, j, p.MergeCommit) // so that it is not asked again
	case j.row.ID == 0:
		j.row.At = o.Now()
		j.row = o.meant(j, merging.Intended)
	}
	return o.land(ctx, j, p.MergeCommit)
}

// ours reports whether a pull request was merged by our request. We know that we sent it;
// or its commit says so; or the mirror has kept the head, which it does before anything is
// sent, and GitHub says that one of our accounts merged it, or a queue: what a queue or a
// rebase makes says nothing of us.
func ours(ctx context.Context, o round, j *job) (bool, error) {
	if j.a.Kind == work.ActionMerge && j.a.State == work.ActionApplied {
		return true, nil
	}
	mirror := o.r.Git()
	if err := mirror.Fetch(ctx, j.pull.MergeCommit, j.pull.HeadOID); err != nil {
		return false, err
	}
	told, err := mirror.Tells(ctx, j.pull.MergeCommit, work.MergeToken(o.r.Row.Key(), j.pull.Number, j.pull.HeadOID))
	if err != nil || told {
		return told, err
	}
	meant, err := mirror.Merged(ctx, j.pull.Number, j.pull.HeadOID)
	if err != nil || !meant {
		return false, err
	}
	box, err := o.box(ctx, j)
	return err == nil && box.State == work.PullMerged && box.Head == j.pull.HeadOID && box.ByUs(o.Scope(o.r).Accounts), err
}

// theirs stores that somebody else merged a pull request: the row names their commit, and
// nobody asks again.
func theirs(ctx context.Context, o round, j *job, commit string) error {
	j.row.Commit = commit
	return o.write(ctx, j, merging.Void)
}
