package snapshot

import (
	"context"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// unfolding reads the roadmaps that have not ended, and the nodes of those about which there is
// something to decide.
func (r *reading) unfolding(ctx context.Context, v *known.Snapshot) (err error) {
	if v.Roadmaps, err = r.tx.ListRoadmaps(ctx, r.repo.ID); err != nil {
		return err
	}
	r.roadmaps = v.Roadmaps
	for _, m := range v.Roadmaps {
		if m.Look == 0 && m.State == roadmap.Followed {
			continue
		}
		f, err := r.roadmapFacts(ctx, m)
		if err != nil {
			return err
		}
		v.Unfold = append(v.Unfold, f)
	}
	return nil
}

// roadmapFacts reads what the plan may depend on for a roadmap.
func (r *reading) roadmapFacts(ctx context.Context, m roadmap.Record) (f roadmap.Facts, err error) {
	f = roadmap.Facts{Repo: r.repo.Key(), Record: m}
	f.Held = m.Closed || slices.ContainsFunc(r.pauses, func(p work.Pause) bool { return p.Number == m.Number })
	if f.Nodes, err = r.tx.ListChildren(ctx, m.ItemID); err != nil {
		return f, err
	}
	if f.Below, err = r.tx.ListSubIssues(ctx, m.ItemID); err != nil {
		return f, err
	}
	if f.Actions, err = r.tx.ListActions(ctx, f.Tokens()); err != nil {
		return f, err
	}
	if f.Work, err = r.tx.ListWorkOn(ctx, r.repo.ID, f.Issues()); err != nil {
		return f, err
	}
	return f, err
}
