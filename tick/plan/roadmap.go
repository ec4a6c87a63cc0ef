package plan

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// One merge never starts a hundred paid turns: what is below a roadmap begins as the limits of all
// roadmaps above it allow. They are checked again when a turn is claimed (change.Claim).

// below is an item below a roadmap that may begin, and its turn.
type below struct {
	planner itemPlanner
	turn    Turn
}

// ref is the reference of an item's issue.
func ref(v known.Snapshot, i work.Item) string {
	return work.Dependency{Repo: v.Repo.Name, Number: i.Number}.String()
}

// belowRoadmap reports whether the item is below a roadmap: then the end of the plan decides whether it
// begins, among all others there.
func (r *itemPlanner) belowRoadmap(t Turn) bool {
	if len(r.item.Below.Above) == 0 {
		return false
	}
	if r.withinBudgets(t.Kind) {
		r.p.below = append(r.p.below, below{*r, r.complete(t)})
	}
	return true
}

// beginBelow decides which items below roadmaps begin. The others wait, each for the reason of the
// nearest roadmap that holds it.
func (p *Plan) beginBelow(v known.Snapshot) {
	line := slices.Clone(p.below)
	preferLongestPaths(line)
	slices.SortStableFunc(line, func(a, b below) int {
		return cmp.Or(cmp.Compare(b.turn.Item.Priority, a.turn.Item.Priority), a.turn.Since.Compare(b.turn.Since), cmp.Compare(a.turn.Number, b.turn.Number))
	})
	begun := map[string][]string{} // issues that this plan begins, by roadmap
	for _, b := range line {
		issue, above := ref(v, b.turn.Item), slices.Clone(b.planner.item.Below.Above)
		for i := range above {
			above[i].UnderWay = slices.Compact(slices.Sorted(slices.Values(slices.Concat(above[i].UnderWay, begun[above[i].Ref]))))
		}
		if why := roadmap.Brake(issue, above); !why.None() {
			b.turn.Held = why.Map(v.Short)
		} else {
			for _, a := range above {
				begun[a.Ref] = append(begun[a.Ref], issue)
			}
		}
		if b.turn.Held.None() && b.planner.item.State == work.StateReady {
			p.waiting = append(p.waiting, b.turn)
			continue
		}
		p.add(b.turn)
	}
}

// preferLongestPaths lets the turns of one roadmap with one priority change places: the one with the
// longest path behind it gets the place of the one that has waited for the longest time, and so on.
// Turns elsewhere keep theirs.
func preferLongestPaths(line []below) {
	type group struct {
		roadmap  string
		priority int
	}
	groups := map[group][]int{}
	for n, b := range line {
		of := group{b.planner.item.Below.Above[0].Ref, b.turn.Item.Priority}
		groups[of] = append(groups[of], n)
	}
	for _, members := range groups {
		var since []time.Time
		for _, n := range members {
			since = append(since, line[n].turn.Since)
		}
		slices.SortFunc(since, time.Time.Compare)
		slices.SortStableFunc(members, func(a, b int) int {
			x, y := line[a], line[b]
			return cmp.Or(x.planner.item.Below.Before(y.planner.item.Below), x.turn.Since.Compare(y.turn.Since), cmp.Compare(x.turn.Number, y.turn.Number))
		})
		for i, n := range members {
			line[n].turn.Since = since[i]
		}
	}
}

// toldByTable reports whether the table on the roadmap's issue tells a wait of the item, and no comment
// here: it waits for other issues of the roadmap, or for its limits. If the roadmap stands still, the
// first of its items is told.
func (r *itemPlanner) toldByTable(kind work.ReasonKind) bool {
	if r.item.SubIssueOf == "" || kind != work.WhyDepends && !strings.HasPrefix(string(kind), "roadmap_") {
		return false
	}
	s := r.item.Below
	return len(s.Above) > 0 && !(s.First && s.Still())
}
