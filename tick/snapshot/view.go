package snapshot

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/prompts/public"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/plan"
)

// ReadDay reads what is left of the day's budgets.
func (p *Loader) ReadDay(ctx context.Context) error {
	now := p.Now()
	return p.Store.View(ctx, func(tx *store.Tx) error {
		spent, err := tx.ListSpentSince(ctx, now.Add(-spending.Window))
		p.Day = spending.DayOf(spent, p.Config.Runtime.Budgets, now)
		return err
	})
}

// View reads from the database what routing one repository may depend on.
func (p *Loader) View(ctx context.Context, r *env.Repo) (plan.Snapshot, error) {
	v := p.EmptyView(r)
	if err := p.Store.View(ctx, func(tx *store.Tx) error { return p.Fill(ctx, tx, r, &v) }); err != nil {
		return v, err
	}
	return v, p.fillFiles(ctx, r, &v)
}

// EmptyView is what is known without the database.
func (p *Loader) EmptyView(r *env.Repo) plan.Snapshot {
	v := plan.Snapshot{
		Repo: r.Row, Now: p.Now(), Pulls: map[int64]work.PullRequest{}, Settled: map[int64]bool{},
		Notices: map[string]work.ActionState{},
		Policy: plan.Policy{
			QuietPeriod: p.Config.Runtime.QuietPeriod, FeedbackLoop: p.Config.Runtime.EnableFeedbackLoop,
			IssueComments: p.Config.Runtime.EnableIssueCommentRouting, MaxEvents: p.Config.Runtime.MaxEventsPerTurn,
			Weights: p.Config.Schedule, Checks: r.Settings.Checks, Budgets: p.Config.Runtime.Budgets, Labels: r.Settings.Labels,
			Spending: r.Settings.Voice.Spending, Clean: public.Behind, Mark: prompts.MarkBody, Match: env.Matches,
		},
		Day: p.Day, Ignored: r.Ignored,
	}
	for _, h := range p.Held {
		v.Held = append(v.Held, h)
	}
	v.Free = max(0, p.Config.Runtime.Workers-len(p.Held))
	return v
}

// fillFiles reads the files of the base branch, as they were last fetched,
// where implementations have to be weighed against others. Only then does a
// pass ask git before it claims, and what git does not know is no obstacle:
// the touch paths are then compared as they stand.
func (p *Loader) fillFiles(ctx context.Context, r *env.Repo, v *plan.Snapshot) error {
	ready := slices.ContainsFunc(v.Items, func(i work.Item) bool { return i.State == work.StateReady })
	if !ready || len(v.Active) == 0 || p.Preflight == nil {
		return nil
	}
	if err := p.Preflight(ctx); err != nil {
		return nil //nolint:nilerr // without git nothing is claimed either, and that says so
	}
	head, ok, err := r.Git().Head(ctx, r.Row.DefaultBranch)
	if err == nil && ok {
		v.Files, err = r.Git().ListFiles(ctx, head)
	}
	if err != nil {
		p.Log.DebugContext(ctx, "the base branch's files are not known", "repo_full_name", r.Name.FullName(), "error", err)
	}
	return ctx.Err()
}

// fillActive reads the implementations under way, and what those that are to
// begin wait for.
func fillActive(ctx context.Context, tx *store.Tx, r *env.Repo, v *plan.Snapshot) error {
	v.Depends = map[int64]map[string]work.DependencyState{}
	if !slices.ContainsFunc(v.Items, func(i work.Item) bool { return i.State == work.StateReady }) {
		return nil
	}
	open, err := tx.ListOpenItems(ctx, r.Row.ID)
	if err != nil {
		return err
	}
	for _, i := range open {
		pull, has, err := tx.FindPullOfItem(ctx, i.ID)
		switch {
		case err != nil:
			return err
		case i.Flow == work.FlowImplementation && (has && pull.State == work.PullOpen || i.State == work.StateRunning):
			v.Active = append(v.Active, plan.Active{Item: i, Files: pull.Files})
		case i.State == work.StateReady:
			v.Depends[i.ID] = map[string]work.DependencyState{}
			seen, err := tx.ListDependencies(ctx, i.ID)
			if err != nil {
				return err
			}
			for _, d := range seen {
				v.Depends[i.ID][d.Ref] = d.State
			}
		}
	}
	return nil
}

// Fill reads into a snapshot what the database knows of a repository.
func (p *Loader) Fill(ctx context.Context, tx *store.Tx, r *env.Repo, v *plan.Snapshot) error {
	pending, err := tx.ListPendingEvents(ctx, r.Row.ID)
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
	v.Turns = slices.DeleteFunc(v.Turns, func(t work.Turn) bool { return t.RepoID != r.Row.ID })
	for i, t := range v.Turns {
		if !t.Waits(v.Now) { // over, or stored by a clock that was wrong
			v.Turns[i].NotBefore = time.Time{}
		}
	}
	if err := fillPaused(ctx, tx, v); err != nil {
		return err
	}
	if err := fillItems(ctx, tx, v); err != nil {
		return err
	}
	if err := fillHandings(ctx, tx, v); err != nil {
		return err
	}
	if err := fillSpent(ctx, tx, v); err != nil {
		return err
	}
	if err := fillServed(ctx, tx, v); err != nil {
		return err
	}
	if err := FillFollowups(ctx, tx, v); err != nil {
		return err
	}
	if err := fillActive(ctx, tx, r, v); err != nil {
		return err
	}
	if err := fillNotices(ctx, tx, r, v); err != nil {
		return err
	}
	return fillCommands(ctx, tx, v)
}

// fillItems reads the items that routing has anything to decide about, or to
// say: those with pending events, those whose branch was rewritten, and those
// that people have taken over. The state of a pull request changes with an event.
func fillItems(ctx context.Context, tx *store.Tx, v *plan.Snapshot) error {
	asking, err := tx.ListRewritten(ctx, v.Repo.ID)
	if err != nil {
		return err
	}
	asking = append(asking, slices.Sorted(maps.Keys(v.Paused))...)
	for _, e := range v.Events {
		asking = append(asking, e.ItemID)
	}
	seen := map[int64]bool{0: true}
	for _, id := range asking {
		if seen[id] {
			continue
		}
		seen[id] = true
		if err := FillItem(ctx, tx, v, id); err != nil {
			return err
		}
	}
	return nil
}

// FillItem reads an item with its pull request, once.
func FillItem(ctx context.Context, tx *store.Tx, v *plan.Snapshot, id int64) error {
	if slices.ContainsFunc(v.Items, func(i work.Item) bool { return i.ID == id }) {
		return nil
	}
	item, err := tx.GetItem(ctx, id)
	if err != nil {
		return err
	}
	v.Items = append(v.Items, item)
	pull, ok, err := tx.FindPullOfItem(ctx, item.ID)
	if err != nil || !ok {
		return err
	}
	v.Pulls[item.ID] = pull
	threads, err := tx.ListThreads(ctx, pull.ID)
	for _, t := range threads {
		v.Settled[t.Top] = t.Resolved
	}
	return err
}

// fillSpent reads what the items' turns took, and what those were to mend that
// may go round in circles.
func fillSpent(ctx context.Context, tx *store.Tx, v *plan.Snapshot) (err error) {
	v.Spent, v.Findings = map[int64][]work.Spent{}, map[int64][]string{}
	for _, i := range v.Items {
		if v.Spent[i.ID], err = tx.ListSpent(ctx, i.ID); err != nil {
			return err
		}
		red := func(e work.Event) bool { return e.ItemID == i.ID && e.Kind == work.EventCheck }
		if !slices.ContainsFunc(v.Events, red) {
			continue
		}
		for n, s := range slices.Backward(v.Spent[i.ID]) {
			if s.Kind != work.KindFix || len(v.Spent[i.ID])-n > plan.MostMends {
				break
			}
			events, err := tx.ListTurnEvents(ctx, s.Turn)
			if err != nil {
				return err
			}
			v.Findings[s.Turn] = work.Findings(events)
		}
	}
	return nil
}

// fillServed reads which turns were begun last, where any may have to be begun.
func fillServed(ctx context.Context, tx *store.Tx, v *plan.Snapshot) error {
	if len(v.Items) == 0 {
		return nil
	}
	for _, kind := range work.Kinds() {
		id, err := tx.LastTurn(ctx, v.Repo.ID, kind)
		switch {
		case err != nil:
			return err
		case kind.Start():
			v.Served.Fresh = max(v.Served.Fresh, id)
		default:
			v.Served.Feedback = max(v.Served.Feedback, id)
		}
	}
	return nil
}

// fillNotices reads which notices about the pending events exist already.
func fillNotices(ctx context.Context, tx *store.Tx, r *env.Repo, v *plan.Snapshot) error {
	v.Pointed = map[int64][]work.Event{}
	for _, e := range v.Events {
		if !e.Kind.Said() {
			continue
		}
		if err := fillPointed(ctx, tx, v, e); err != nil {
			return err
		}
		for _, token := range []string{
			work.ReactionToken(r.Row.Key(), e.Kind, e.Source),
			work.RedirectToken(r.Row.Key(), e.Number, e.Source),
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

// fillPointed reads what was pointed to the pull request of an item already.
func fillPointed(ctx context.Context, tx *store.Tx, v *plan.Snapshot, e work.Event) error {
	if _, known := v.Pointed[e.ItemID]; known || e.Kind != work.EventSource || v.Pulls[e.ItemID].Number == 0 {
		return nil
	}
	v.Pointed[e.ItemID] = nil
	events, err := tx.ListItemEvents(ctx, e.ItemID)
	for _, e := range events {
		if e.Outcome == work.OutcomeRedirected {
			v.Pointed[e.ItemID] = append(v.Pointed[e.ItemID], e)
		}
	}
	return err
}
