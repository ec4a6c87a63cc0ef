package merge

import (
	"context"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
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

// adopt looks at pull requests that were merged, once each: what we merged before a database
// was lost is compared like any other, and whatever people merged is theirs.
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
	j := &job{pull: p, a: work.Action{
		Kind: work.ActionMerge, Token: work.MergeToken(o.r.Row.Key(), p.Number, p.HeadOID), RepoID: o.r.Row.ID, ItemID: p.ItemID,
		Number: p.Number, Head: p.HeadOID, Base: p.Base,
	}}
	mirror := o.r.Git()
	if err := mirror.Fetch(ctx, p.MergeCommit); err != nil {
		return err
	}
	ours, err := mirror.Tells(ctx, p.MergeCommit, j.a.Token)
	if err != nil {
		return err
	}
	j.row.At = o.Now()
	if !ours {
		return o.store(ctx, j, merging.Void) // so that it is not asked again
	}
	j.row = o.meant(j, merging.Intended)
	return o.land(ctx, j, p.MergeCommit)
}
