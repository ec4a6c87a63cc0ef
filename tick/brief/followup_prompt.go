package brief

import (
	"context"
	"fmt"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// resumeContext tells a start that resumes why the work waited, what is kept of
// it, and what people said since.
func (p *Briefs) resumeContext(ctx context.Context, l *env.Lease, c prompts.Context) (prompts.Context, error) {
	var f work.Followup
	var waited bool
	err := p.Store.View(ctx, func(tx *store.Tx) (err error) {
		f, waited, err = tx.FindFollowup(ctx, l.Item.ID)
		return err
	})
	if err != nil || !waited {
		return c, err
	}
	said := work.Fed(l.Events, f.EventCursor)
	c.NewEvents = newEvents(said)
	c.Task.Issue.Comments = slices.DeleteFunc(c.Task.Issue.Comments, func(told prompts.Comment) bool {
		return slices.ContainsFunc(said, func(e work.Event) bool { return work.CommentID(e) == told.ID })
	})
	c.Waited = explain.Reason(f.Reason, p.Here(l.Repo, l.Item, false)).Here()
	if f.Commit != "" && l.Repo.Git().Has(ctx, f.Commit) {
		c.Waited += fmt.Sprintf("\nYour work until then is kept as commit %s. `git diff %s^ %s` shows it, `git checkout %s -- PATH` takes a file over.",
			f.Commit, f.Commit, f.Commit, f.Commit)
	}
	return c, nil
}

// NewestComment is the newest of a conversation; 0: there is none.
func NewestComment(c prompts.Context) int64 {
	var newest int64
	for _, told := range c.Task.Issue.Comments {
		newest = max(newest, told.ID)
	}
	for _, e := range c.NewEvents {
		if e.Kind == work.EventSource {
			newest = max(newest, work.CommentID(work.Event{Source: e.ID}))
		}
	}
	return newest
}
