package merge

import (
	"context"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// settingsOf returns today's merge config for a pull request, and the issue of its work item.
func (o round) settingsOf(ctx context.Context, j *job) (p merging.Policy, issue int, err error) {
	err = o.store.View(ctx, func(tx *store.Tx) error {
		id := j.row.ItemID
		if id == 0 {
			id = j.pull.ItemID
		}
		item, err := tx.GetItem(ctx, id)
		p, issue = o.r.Settings.MergePolicy(item.Flow), item.Number
		return err
	})
	return p, issue, err
}

// comment returns an action for a comment that is found again by its token.
func (o round) comment(j *job, number int, about, text string) work.Action {
	token := work.NoticeToken(o.r.Row.Key(), number, about)
	return work.Action{
		RepoID: o.r.Row.ID, ItemID: j.row.ItemID, Kind: work.ActionComment, Need: work.NeedRequired, State: work.ActionPlanned, PlannedAt: o.now(),
		Token: token, Number: number, Body: o.r.Mark(o.secrets.Redact(text), work.Marks{Token: token}), Why: about,
	}
}

func (o round) differsText(j *job, halted bool) string {
	when := "If the next merge differs, too, merging stops in this repository until"
	if halted {
		when = "That was the second merge in a row: merging is stopped in this repository until"
	}
	return fmt.Sprintf("**The landed commit differs from the approved one.** %s was approved, and %s landed on `%s`: %s.\n\n"+
		"Look at both commits, and find out why they differ. %s somebody runs `gh mergexo resume --merging %s` on the machine that runs gh mergexo.",
		j.row.Head, j.row.Commit, j.row.Base, j.row.Differs, when, o.r.Name)
}

// checkFollowUps checks whether GitHub closed the issues of merges.
func (o round) checkFollowUps(ctx context.Context, d due) {
	for _, row := range d.open {
		if o.mustNotSend(ctx) {
			return
		}
		if err := o.checkIssue(ctx, row); err != nil && ctx.Err() == nil {
			o.tellUnread(ctx, row.Number, "whether its issue was closed", err)
		}
	}
}

// tellUnread logs what of a merge was not read, and has status show it until the next pass tries again.
func (o round) tellUnread(ctx context.Context, number int, what string, err error) {
	o.log.WarnContext(ctx, "what follows a merge was not read", "repo_full_name", o.r.Name.FullName(), "pr_number", number, "what", what, "error", err)
	said := fmt.Sprintf("read of merged #%d %s: %v", number, what, err)
	if err := o.store.Update(context.WithoutCancel(ctx), func(tx *store.Tx) error { return tx.AddRepoError(ctx, o.r.Row.ID, said) }); err != nil {
		o.log.ErrorContext(ctx, "could not record what was not read", "repo_full_name", o.r.Name.FullName(), "error", err)
	}
}

// issueFor is how long after a merge its issue may be checked.
const issueFor = 7 * 24 * time.Hour

// issueToken is the token of the comment that an issue stayed open. Its row also records that the
// issue was checked.
func issueToken(r work.Repo, issue int, row merging.Merge) string {
	return work.NoticeToken(r.Key(), issue, "merged "+row.Commit)
}

// uncheckedIssues returns the merges whose issue was not checked yet.
func (m *Merging) uncheckedIssues(ctx context.Context, tx *store.Tx, r *env.Repo) (all []merging.Merge, err error) {
	now := tx.Moment(m.now)
	rows, err := tx.ListMerges(ctx, r.Row.ID, now.Add(-issueFor))
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if row.Stage != merging.Landed || row.LandedAt.Add(m.config.Runtime.SettleAfter).After(now) || row.ItemID == 0 {
			continue
		}
		item, err := tx.GetItem(ctx, row.ItemID)
		if err != nil {
			return nil, err
		}
		_, known, err := tx.GetAction(ctx, issueToken(r.Row, item.Number, row))
		if err != nil {
			return nil, err
		}
		if !known && !item.Flow.Document() {
			all = append(all, row)
		}
	}
	return all, nil
}
