package merge

import (
	"context"
	"fmt"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/store"
)

// watch looks whether checks of the base turned red with a merge of ours. Those that were
// red on the commit before it are not its doing.
func (o round) watch(ctx context.Context, row merging.Merge) error {
	red, err := o.red(ctx, row.Commit)
	if err != nil || len(red) == 0 {
		return err
	}
	before, err := o.red(ctx, row.Parent)
	if err != nil {
		return err
	}
	red = slices.DeleteFunc(red, func(name string) bool { return slices.Contains(before, name) })
	if len(red) == 0 {
		return nil
	}
	j := &job{row: row}
	policy, err := o.policy(ctx, j)
	if err != nil {
		return err
	}
	planned := []work.Action{o.comment(j, row.Number, "red "+row.Commit, o.redText(row, red, policy.Revert))}
	if policy.Revert {
		planned = append(planned, o.revert(row, red))
	}
	o.Log.WarnContext(ctx, "checks of the base turned red after a merge", "repo_full_name", o.r.Name.FullName(), "work_item_id", row.ItemID, "pr_number", row.Number,
		"commit", row.Commit, "checks", red)
	return o.Store.Update(ctx, func(tx *store.Tx) error {
		first, err := tx.SetMergeRed(ctx, row.ID, red)
		if err != nil || !first {
			return err
		}
		for _, a := range planned {
			if _, err := tx.AddAction(ctx, a); err != nil {
				return err
			}
		}
		return nil
	})
}

// red are the names of a commit's checks that failed.
func (o round) red(ctx context.Context, commit string) (names []string, err error) {
	checks, _, err := o.r.GitHub.CommitChecks(ctx, o.r.Row.Current, commit)
	for _, c := range checks {
		if c.State == merging.Red && !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
		}
	}
	slices.Sort(names)
	return names, err
}

func (o round) redText(row merging.Merge, red []string, reverts bool) string {
	text := fmt.Sprintf("After this was merged as %s, %s on `%s`, and %s not on the commit before it: %s.",
		row.Commit, failed(len(red)), row.Base, map[bool]string{true: "was", false: "were"}[len(red) == 1], named(red, "other check"))
	if reverts {
		text += " A pull request that takes it back is opened for people to judge, unless it was taken back by then or later commits stand in the way."
	}
	return text
}

func failed(n int) string {
	if n == 1 {
		return "a check failed"
	}
	return fmt.Sprintf("%d checks failed", n)
}

// revertBranch is the branch of the pull request that takes a merge back.
func revertBranch(row merging.Merge) string {
	return fmt.Sprintf("agent/revert/%d-%s", row.Number, work.Short(row.Commit))
}

// revert is the pull request that takes a merge back. It is nobody's work item, and people
// alone merge it.
func (o round) revert(row merging.Merge, red []string) work.Action {
	token := work.RevertToken(o.r.Row.Key(), row.Number, row.Commit)
	body := fmt.Sprintf("After #%d was merged into `%s` as %s, checks failed there: %s.\n\n"+
		"This takes it back, for people to judge: gh mergexo does not work on this pull request, and does not merge it.", row.Number, row.Base, row.Commit, named(red, "other check"))
	return work.Action{
		RepoID: o.r.Row.ID, ItemID: row.ItemID, Kind: work.ActionRevert, Need: work.NeedCosmetic, State: work.ActionPlanned, PlannedAt: o.Now(),
		Token: token, Number: row.Number, Target: revertBranch(row), Head: row.Commit, Base: row.Base, Extra: row.Parent,
		Title: fmt.Sprintf("Revert #%d", row.Number), Body: work.Mark(o.Secrets.Redact(body), work.Marks{Token: token}), Why: "checks of the base failed after the merge",
	}
}
