package store

import (
	"context"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
)

// issueRef is the reference of the issue of a work item i in repository r, as in dependencies.
const issueRef = `r.name || '#' || i.number`

// selectParts reads the work items below issues: those that are open, roadmaps, and if asked for, those
// that are over. An issue is under way once an agent ran, a turn began or there is a pull request, until
// it is closed: a pull request that people left open keeps no other issue from beginning.
const selectParts = `SELECT i.id, ` + issueRef + `, i.parent_ref, i.flow = '` + string(work.FlowRoadmap) + `', i.` + openItem + ` AND i.issue_closed = 0 AND (i.state = 'running' OR i.parent_id IS NOT NULL
		OR EXISTS (SELECT 1 FROM pull_requests p WHERE p.item_id = i.id) OR EXISTS (SELECT 1 FROM turns t WHERE t.item_id = i.id AND (t.runs > 0 OR ` + unfinished + `)))
	FROM work_items i JOIN repositories r ON r.id = i.repo_id
	WHERE i.parent_ref <> '' AND (i.` + openItem + ` OR i.flow = '` + string(work.FlowRoadmap) + `' OR ? = 1) AND i.parent_ref IN (%s)`

func scanPart(row scanner) (p roadmap.Part, err error) {
	return p, row.Scan(&p.ItemID, &p.Ref, &p.Parent, &p.Roadmap, &p.UnderWay)
}

// RoadmapsAbove returns the roadmaps above an issue, the nearest first, by the issue whose sub-issue it
// is. limits returns the limits of the roadmaps in a repository.
func (t *Tx) RoadmapsAbove(ctx context.Context, parent string, limits func(work.RepoName) roadmap.Limits) ([]roadmap.Above, error) {
	if parent == "" {
		return nil, nil
	}
	live, err := t.ListLiveRoadmaps(ctx)
	if err != nil {
		return nil, err
	}
	chain := roadmap.Chain(parent, live)
	if len(chain) == 0 {
		return nil, nil
	}
	dear := slices.ContainsFunc(chain, func(m roadmap.Record) bool { return limits(m.Repo).MaxCost > 0 })
	var parts []roadmap.Part
	seen := map[string]bool{}
	for level := []string{chain[len(chain)-1].Ref}; len(level) > 0; {
		below, err := listIn(ctx, t, "list work below roadmaps", scanPart, selectParts, level, dear)
		if err != nil {
			return nil, err
		}
		for _, ref := range level {
			seen[ref] = true
		}
		level = nil
		for _, p := range below {
			if p.Roadmap && !seen[p.Ref] && !slices.Contains(level, p.Ref) {
				level = append(level, p.Ref)
			}
		}
		parts = append(parts, below...)
	}
	var costs map[int64]roadmap.Cost
	if dear {
		if costs, err = t.sumCosts(ctx, parts); err != nil {
			return nil, err
		}
	}
	return roadmap.Sum(chain, limits, parts, costs), nil
}

func (t *Tx) sumCosts(ctx context.Context, parts []roadmap.Part) (map[int64]roadmap.Cost, error) {
	ids := make([]int64, len(parts))
	for i, p := range parts {
		ids[i] = p.ItemID
	}
	costs := map[int64]roadmap.Cost{}
	scan := func(row scanner) (id int64, err error) {
		var c roadmap.Cost
		err = row.Scan(&id, &c.USD, &c.Unknown)
		known := costs[id]
		costs[id] = roadmap.Cost{USD: known.USD + c.USD, Unknown: known.Unknown + c.Unknown}
		return id, err
	}
	_, err := listIn(ctx, t, "sum up the cost of work below roadmaps", scan,
		`SELECT t.item_id, sum(r.cost_usd), sum(1 - r.cost_known) FROM turns t JOIN runs r ON r.turn_id = t.id WHERE t.item_id IN (%s) GROUP BY t.item_id`, ids)
	if err != nil {
		return nil, err
	}
	_, err = listIn(ctx, t, "sum up the earlier cost of work below roadmaps", scan,
		`SELECT item_id, sum(cost_usd), sum(unknown_cost) FROM totals WHERE what = 'run' AND item_id IN (%s) GROUP BY item_id`, ids)
	return costs, err
}

// ListIssuesBelow returns the issues below a roadmap and how far work on them has come.
func (t *Tx) ListIssuesBelow(ctx context.Context, m roadmap.Record) ([]roadmap.Issue, error) {
	nodes, err := t.ListChildren(ctx, m.ItemID)
	if err != nil {
		return nil, err
	}
	subs, err := t.ListSubIssues(ctx, m.ItemID)
	if err != nil {
		return nil, err
	}
	items, err := listRows(ctx, t, "list work below "+m.Ref, func(row scanner) (i roadmap.Item, err error) {
		return i, row.Scan(&i.ID, &i.Ref, &i.State, &i.Flow, timeOf(&i.Since), reasonOf(&i.Reason), reasonOf(&i.Wait), timeOf(&i.Waits), &i.Pull, &i.Head)
	}, `SELECT i.id, `+issueRef+`, i.state, i.flow, i.state_since, i.reason, i.wait, i.wait_since, coalesce(p.number, 0), coalesce(p.head_oid, '')
		FROM work_items i JOIN repositories r ON r.id = i.repo_id
		LEFT JOIN pull_requests p ON p.item_id = i.id AND p.number = (SELECT max(n.number) FROM pull_requests n WHERE n.item_id = i.id)
		WHERE i.parent_ref <> '' AND i.parent_ref = ? ORDER BY i.id`, m.Ref)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(items))
	for n, i := range items {
		ids[n] = i.ID
	}
	listed, err := t.ListDependenciesOf(ctx, ids)
	needs := map[int64][]roadmap.Need{}
	for id, all := range listed {
		for _, d := range all {
			if d.Ref != "" {
				needs[id] = append(needs[id], roadmap.Need{Ref: d.Ref, Open: d.State == work.DependencyOpen})
			}
		}
	}
	return roadmap.Follow(m, nodes, subs, items, needs), err
}

// ListLiveRoadmaps returns the roadmaps of all repositories that have not ended.
func (t *Tx) ListLiveRoadmaps(ctx context.Context) ([]roadmap.Record, error) {
	return listRows(ctx, t, "list roadmaps that have not ended", scanRoadmap, selectRoadmap+`WHERE `+liveRoadmap)
}
