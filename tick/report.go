package tick

import (
	"context"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/plan"
)

// reportHeldTurns reports how many turns wait, and whether they wait for the day's budgets.
func (p *Pass) reportHeldTurns(ctx context.Context, plans []plan.Plan, begun int, rep *env.Report) {
	waiting, why := 0, explain.What(p.Day.Why, explain.Place{Spending: true})
	for _, made := range plans {
		for _, t := range plan.Of[plan.Turn](made) {
			if t.Held.Kind != work.WhyNoSlot && t.Held.Kind != work.WhyCollides {
				waiting++
			}
		}
	}
	rep.Due = max(waiting-begun, 0)
	if why == "" && begun == p.Day.Left { // the day's last turn
		waiting -= begun
		why = fmt.Sprintf("max_turns_per_day is %d", p.Config.Runtime.Budgets.TurnsPerDay)
	}
	if waiting == 0 || why == "" || rep.Held != "" {
		return
	}
	rep.Held = fmt.Sprintf("%s held back: %s", work.Count(waiting, "turn"), why)
	p.Log.WarnContext(ctx, "turns wait for a daily budget", "turns", waiting, "why", why)
}

// sumUp logs one line for the pass and one for each repository with news: idle
// ones would be most of the log. Repositories with the same note share a line.
func (p *Pass) sumUp(ctx context.Context, rep *env.Report) {
	repos := rep.Repos()
	var events, notices, failed int
	same := map[string][]env.RepoReport{}
	for _, r := range repos {
		events += r.Events
		notices += r.Notices
		if r.Failed {
			failed++
		}
		if r.Events == 0 && r.Notices == 0 {
			same[r.Note] = append(same[r.Note], r)
		}
	}
	for _, r := range repos {
		alike := same[r.Note]
		switch {
		case r.Events == 0 && r.Notices == 0 && r.Note == "":
		case r.Events > 0 || r.Notices > 0 || len(alike) == 1:
			p.Log.InfoContext(ctx, "repository", "repo_full_name", r.Repo, "ingested", r.Ingested, "failed", r.Failed, "note", r.Note,
				"events", r.Events, "ignored", r.Ignored, "notices", r.Notices)
		case alike[0].Repo == r.Repo:
			p.Log.InfoContext(ctx, "repositories", "count", len(alike), "first", r.Repo, "failed", r.Failed, "note", r.Note)
		}
	}
	p.Log.InfoContext(ctx, "pass", "seconds", rep.EndedAt.Sub(rep.StartedAt).Round(time.Millisecond).Seconds(), "repositories", len(repos), "failed", failed,
		"events", events, "notices", notices, "turns", len(rep.Turns()), "held", rep.Held)
}
