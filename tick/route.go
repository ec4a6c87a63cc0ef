package tick

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/plan"
)

// route plans every ready repository. If its ingest is late or failed, it plans with the stored
// data.
func (p *Pass) route(ctx context.Context, ready []*env.Repo) ([]plan.Plan, error) {
	busy, err := p.loader.Busy(ctx, ready)
	if err != nil {
		return nil, fmt.Errorf("find out where there is something to decide: %w", err)
	}
	if len(busy) == 0 && len(p.Config.Notify) == 0 { // a spent budget is told also if nothing waits for it
		return nil, nil
	}
	if err := p.loader.ReadDay(ctx); err != nil {
		return nil, fmt.Errorf("read what was spent today: %w", err)
	}
	var plans []plan.Plan
	for _, r := range ready {
		if !busy[r.Row.ID] {
			continue
		}
		made := plan.New()
		v, err := p.loader.View(ctx, r, made)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", r.Name.FullName(), err)
		}
		plans = append(plans, made.End(v))
	}
	return plans, nil
}

// chosenMerges returns the tokens of the merges that the plans chose, by repository.
func chosenMerges(plans []plan.Plan) map[int64][]string {
	chosen := map[int64][]string{}
	for _, made := range plans {
		for _, m := range plan.Of[change.Merge](made) {
			chosen[made.Repo.ID] = append(chosen[made.Repo.ID], m.Action.Token)
		}
	}
	return chosen
}

// reposToSend returns the repositories that may have something to send, and those that the config
// no longer names. If that cannot be read, it returns all.
func reposToSend(ctx context.Context, p *Pass) []*env.Repo {
	all := p.Repositories()
	busy, err := p.loader.Busy(ctx, all)
	if err != nil {
		p.Log.WarnContext(ctx, "could not list what is to be sent", "error", err)
		return slices.Concat(all, p.Removed)
	}
	some := slices.DeleteFunc(slices.Clone(all), func(r *env.Repo) bool { return !busy[r.Row.ID] })
	return slices.Concat(some, p.Removed)
}

// previewLabels adds to a plan the labels that a pass would create in its repository. If GitHub
// does not list them, it adds none.
func (p *Pass) previewLabels(ctx context.Context, made *plan.Plan) error {
	r := p.RemoteByID(made.Repo.ID)
	due, err := p.notices.DueNotices(ctx, r)
	if err != nil {
		return err
	}
	for _, a := range due {
		if a.Kind != work.ActionRepoLabels {
			continue
		}
		present, err := r.GitHub.RepoLabels(ctx, r.Row.Current)
		if err != nil {
			p.Log.WarnContext(ctx, "labels not read", "repo_full_name", r.Name.FullName(), "error", err)
			continue
		}
		missing := slices.DeleteFunc(strings.Split(a.Target, ","), func(name string) bool { return work.HasLabel(present, name) })
		if len(missing) > 0 {
			lacks := change.Line{What: "labels", Reason: "the repository lacks " + strings.Join(missing, ", ")}
			made.Decisions = append(made.Decisions, plan.Wait{Words: change.Words{Says: lacks}})
		}
	}
	return nil
}
