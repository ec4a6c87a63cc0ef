package tick

import (
	"context"
	"strconv"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// logComments logs what became of comments on the issue of a turn; of none,
// nothing.
func (p *Turns) logComments(ctx context.Context, l *lease, what string, comments []work.Event) {
	if len(comments) > 0 {
		from, to := idRange(comments)
		p.logRange(ctx, l, what, from, to)
	}
}

func (p *Turns) logRange(ctx context.Context, l *lease, what string, from, to int64, more ...any) {
	attrs := append(p.turnAttrs(l, "comment_id_from", from, "comment_id_to", to), more...)
	p.Log.InfoContext(ctx, what, attrs...) //nolint:sloglint // one of the fixed names of the followups' events
}

func idRange(comments []work.Event) (from, to int64) {
	for _, e := range comments {
		id := work.CommentID(e)
		if from == 0 || id < from {
			from = id
		}
		to = max(to, id)
	}
	return from, to
}

// logQueued logs, for each work item without a pull request, the comments on
// its issue that this harvest found.
func (h *Comments) logQueued(ctx context.Context, what string) {
	opened := map[int64]bool{}
	for _, pull := range h.open {
		opened[pull.ItemID] = true
	}
	found := map[int64][]work.Event{}
	for _, e := range sourceEvents(h.events) {
		if e.ItemID != 0 && !opened[e.ItemID] {
			found[e.ItemID] = append(found[e.ItemID], e)
		}
	}
	for item, comments := range found {
		from, to := idRange(comments)
		h.p.Log.InfoContext(ctx, what, //nolint:sloglint // one of the fixed names of the followups' events
			"repo_full_name", h.r.Name.FullName(), "work_item_id", item, "issue_number", comments[0].Number, "comment_id_from", from, "comment_id_to", to)
	}
}

// logRedirect logs that a redirect was seen on GitHub.
func (p *Notices) logRedirect(ctx context.Context, r *remote, a work.Action) {
	if a.Target == "" || a.Token != work.RedirectToken(r.repo.Key(), a.Number, a.Target) {
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
