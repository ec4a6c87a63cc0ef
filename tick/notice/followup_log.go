package notice

import (
	"context"
	"strconv"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// logRedirect logs that a redirect was seen on GitHub.
func (p *Notices) logRedirect(ctx context.Context, r *env.Repo, a work.Action) {
	if a.Target == "" || a.Token != work.RedirectToken(r.Row.Key(), a.Number, a.Target) {
		return
	}
	var pull work.PullRequest
	err := p.Store.View(ctx, func(tx *store.Tx) (err error) {
		pull, _, err = tx.FindPullOfItem(ctx, a.ItemID)
		return err
	})
	id, parseErr := strconv.ParseInt(a.Target, 10, 64)
	if err != nil || parseErr != nil {
		return
	}
	p.Log.InfoContext(ctx, "issue comment redirected", "repo_full_name", r.Name.FullName(), "work_item_id", a.ItemID, "issue_number", a.Number,
		"pr_number", pull.Number, "action_token", a.Token, "comment_id_from", id, "comment_id_to", id)
}
