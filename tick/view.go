package tick

import (
	"context"
	"fmt"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// route plans for every repository that is ready. A repository whose ingest is
// late or failed is planned for with what it has: what is known still counts.
func (p *Pass) route(ctx context.Context, ready []*remote) ([]Plan, error) {
	var plans []Plan
	for _, r := range ready {
		v, err := p.view(ctx, r)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", r.Name.FullName(), err)
		}
		plans = append(plans, planRepo(v))
	}
	return plans, nil
}

// view reads from the database what routing one repository may depend on.
func (p *Pass) view(ctx context.Context, r *remote) (View, error) {
	v := View{
		Repo: r.repo, Now: p.Now(), Pulls: map[int64]work.PullRequest{}, Settled: map[int64]bool{},
		Notices: map[string]work.ActionState{},
		Policy: Policy{
			QuietPeriod: p.Config.Runtime.QuietPeriod, FeedbackLoop: p.Config.Runtime.EnableFeedbackLoop,
			IssueComments: p.Config.Runtime.EnableIssueCommentRouting, MaxEvents: p.Config.Runtime.MaxEventsPerTurn,
		},
	}
	for _, h := range p.held {
		v.Held = append(v.Held, h)
	}
	return v, p.Store.View(ctx, func(tx *store.Tx) error { return p.fill(ctx, tx, r, &v) })
}

func (p *Pass) fill(ctx context.Context, tx *store.Tx, r *remote, v *View) error {
	pending, err := tx.ListPendingEvents(ctx, r.repo.ID)
	if err != nil {
		return err
	}
	for _, e := range pending {
		if e.TurnID == 0 {
			v.Events = append(v.Events, e)
		}
	}
	if v.Turns, err = tx.ListUnfinishedTurns(ctx); err != nil {
		return err
	}
	v.Turns = slices.DeleteFunc(v.Turns, func(t work.Turn) bool { return t.RepoID != r.repo.ID })
	if err := fillItems(ctx, tx, v); err != nil {
		return err
	}
	return fillNotices(ctx, tx, r, v)
}

// fillItems reads the items that routing has anything to decide about: those
// with pending events. The state of a pull request changes with an event.
func fillItems(ctx context.Context, tx *store.Tx, v *View) error {
	seen := map[int64]bool{}
	for _, e := range v.Events {
		if e.ItemID == 0 || seen[e.ItemID] {
			continue
		}
		seen[e.ItemID] = true
		item, err := tx.GetItem(ctx, e.ItemID)
		if err != nil {
			return err
		}
		v.Items = append(v.Items, item)
		pull, ok, err := tx.FindPullOfItem(ctx, item.ID)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		v.Pulls[item.ID] = pull
		threads, err := tx.ListThreads(ctx, pull.ID)
		if err != nil {
			return err
		}
		for _, t := range threads {
			v.Settled[t.Top] = t.Resolved
		}
	}
	return nil
}

// fillNotices reads which notices about the pending events exist already.
func fillNotices(ctx context.Context, tx *store.Tx, r *remote, v *View) error {
	for _, e := range v.Events {
		if !e.Kind.Said() {
			continue
		}
		for _, token := range []string{
			work.ReactionToken(r.repo.Name, e.Kind, e.Source),
			work.RedirectToken(r.repo.Name, e.Number, e.Source),
		} {
			a, ok, err := tx.GetAction(ctx, token)
			if err != nil {
				return err
			}
			if ok {
				v.Notices[token] = a.State
			}
		}
	}
	return nil
}
