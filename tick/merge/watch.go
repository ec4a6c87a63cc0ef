package merge

import (
	"context"
	"fmt"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/store"
)

// redChecks are checks that are red after a merge and not known to be red before it.
type redChecks struct {
	with    []string // green on the commit before the merge
	perhaps []string // not run, cancelled or still running on the commit before the merge
	runs    bool     // some of perhaps are still running on the commit before the merge
}

// turnedRed returns the red checks after a merge that were not red before it.
func turnedRed(after, before []merging.Check) (t redChecks) {
	for _, c := range after {
		if c.State != merging.Red {
			continue
		}
		i := slices.IndexFunc(before, func(b merging.Check) bool { return b.Name == c.Name })
		switch {
		case i < 0:
			t.perhaps = append(t.perhaps, c.Name)
		case before[i].State == merging.Green:
			t.with = append(t.with, c.Name)
		case before[i].State != merging.Red:
			t.perhaps = append(t.perhaps, c.Name)
			t.runs = t.runs || before[i].Ended.IsZero()
		}
	}
	slices.Sort(t.with)
	slices.Sort(t.perhaps)
	return t
}

// watch checks whether checks of the base turned red with a merge of ours. Checks that were red on
// the commit before the merge do not count. If a check still runs on that commit, watch waits for
// it during the first half of the watch time.
func (o round) watch(ctx context.Context, row merging.Merge) error {
	after, _, err := o.r.GitHub.CommitChecks(ctx, o.r.Row.Current, row.Commit)
	if err != nil || !slices.ContainsFunc(after, func(c merging.Check) bool { return c.State == merging.Red }) {
		return err
	}
	before, _, err := o.r.GitHub.CommitChecks(ctx, o.r.Row.Current, row.Parent)
	if err != nil {
		return err
	}
	t := turnedRed(after, before)
	early := o.Now().Before(row.LandedAt.Add(row.WatchUntil.Sub(row.LandedAt) / 2))
	if len(t.with)+len(t.perhaps) == 0 || len(t.with) == 0 && t.runs && early {
		return nil
	}
	return o.turnedRed(ctx, row, t)
}

// turnedRed plans a comment and, if a check was green before the merge, a revert.
func (o round) turnedRed(ctx context.Context, row merging.Merge, t redChecks) error {
	j := &job{row: row}
	policy, err := o.policy(ctx, j)
	if err != nil {
		return err
	}
	reverts := policy.Revert && len(t.with) > 0
	planned := []work.Action{o.comment(j, row.Number, "red "+row.Commit, redText(row, t, reverts))}
	if reverts {
		planned = append(planned, o.revert(row, t.with))
	}
	red := slices.Concat(t.with, t.perhaps)
	o.Log.WarnContext(ctx, "checks of the base failed after a merge", "repo_full_name", o.r.Name.FullName(), "work_item_id", row.ItemID, "pr_number", row.Number,
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

func redText(row merging.Merge, t redChecks, reverts bool) string {
	text := fmt.Sprintf("After this was merged as %s, ", row.Commit)
	if n := len(t.with); n > 0 {
		text += fmt.Sprintf("%s on `%s` that %s green on the commit before it: %s.", failed(n), row.Base, were(n), named(t.with, "other check"))
	}
	if n := len(t.perhaps); n > 0 {
		if len(t.with) > 0 {
			text += " Besides, "
		}
		text += fmt.Sprintf("%s on `%s` with no known result on the commit before it, where it may have failed, too: %s.", failed(n), row.Base, named(t.perhaps, "other check"))
	}
	if reverts {
		text += " A pull request that reverts it follows, for people to judge; if it cannot be opened, a comment says so."
	}
	return text
}

func were(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

func failed(n int) string {
	if n == 1 {
		return "a check failed"
	}
	return fmt.Sprintf("%d checks failed", n)
}

// revertBranch returns the branch of a merge's revert pull request.
func revertBranch(row merging.Merge) string {
	return fmt.Sprintf("agent/revert/%d-%s", row.Number, work.Short(row.Commit))
}

// revert returns the pull request that reverts a merge. It belongs to no work item; only people
// merge it.
func (o round) revert(row merging.Merge, red []string) work.Action {
	token := work.RevertToken(o.r.Row.Key(), row.Number, row.Commit)
	body := fmt.Sprintf("After #%d was merged into `%s` as %s, checks failed there: %s.\n\n"+
		"This reverts it, for people to judge: gh mergexo does not work on this pull request, and does not merge it.", row.Number, row.Base, row.Commit, named(red, "other check"))
	return work.Action{
		RepoID: o.r.Row.ID, ItemID: row.ItemID, Kind: work.ActionRevert, Need: work.NeedCosmetic, State: work.ActionPlanned, PlannedAt: o.Now(),
		Token: token, Number: row.Number, Target: revertBranch(row), Head: row.Commit, Base: row.Base, Extra: row.Parent,
		Title: fmt.Sprintf("Revert #%d", row.Number), Body: o.r.Mark(o.Secrets.Redact(body), work.Marks{Token: token}), Why: "checks of the base failed after the merge",
	}
}
