package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
	"github.com/mergexo/gh-mergexo/internal/work/sorted"
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
	sorted.By(line, func(a, b below) int {
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
			if i > 0 && !since[i].After(since[i-1]) {
				since[i] = since[i-1].Add(1) // one pass has read their labels: the order among them still counts
			}
			line[n].turn.Since = since[i]
		}
	}
}

// toldByTable reports whether the table on the roadmap's issue tells a wait of the item, and no comment
// here: it waits for other issues of the roadmap, or for its limits. If nothing of the roadmap is under way, the
// first of its items is told.
func (r *itemPlanner) toldByTable(kind work.ReasonKind) bool {
	if r.item.SubIssueOf == "" || kind != work.WhyDepends && !kind.OfRoadmap() {
		return false
	}
	s := r.item.Below
	return len(s.Above) > 0 && (!s.First || !s.Still())
}

// tellFaults keeps one comment up to date about the faults of the document that a person pushed to a pull
// request: nothing is made of a document that is merged with them. A push without faults resumes what
// they stopped.
func (r *itemPlanner) tellFaults() {
	for _, e := range r.item.Events {
		if e.Kind != work.EventHead || !r.item.Flow.Document() || e.Source != r.item.Pull.HeadOID {
			continue
		}
		if e.Body == "" && r.item.State == work.StateBlocked && r.item.Turn == nil && r.item.Pause == nil && r.item.Reason.Kind == work.WhyDocumentFaults {
			r.moves(work.Move{Cause: work.CauseResumed, To: work.StateAwaitingFeedback}, r.words("resume", "", "somebody pushed a document without faults"))
			r.item.State, r.item.Since, r.item.Reason = work.StateAwaitingFeedback, r.v.Now, work.Reason{}
		}
		token := work.FaultsToken(r.v.Repo.Key(), e.Number)
		if e.Body == "" && r.item.Notices[token] == "" {
			continue
		}
		said := fmt.Sprintf("The document of the %s has no fault any more at %s.", r.item.Flow, work.Short(e.Source))
		if e.Body != "" {
			said = fmt.Sprintf("The document of the %s has faults at %s. If it is merged with them, nothing of it is made.\n", r.item.Flow, work.Short(e.Source))
			for line := range strings.Lines(e.Body) {
				said += "\n- " + r.v.Policy.Clean(strings.TrimSpace(line))
			}
			said += "\n\nNext step: push a correction, or comment here what is to change."
		}
		r.notice(work.Action{
			RepoID: r.v.Repo.ID, ItemID: r.item.ID, Kind: work.ActionSticky, Need: work.NeedRequired, Token: token, State: work.ActionPlanned,
			Number: e.Number, Body: r.v.Policy.Mark(said, work.Marks{Token: token}), Why: "faults of the document",
		}, "say what faults the document has that somebody pushed")
	}
}

// roadmapOver reports whether nothing more of the roadmap of a first work item is made.
func (r *itemPlanner) roadmapOver(first int64) bool {
	return !slices.ContainsFunc(r.v.Roadmaps, func(m roadmap.Record) bool { return m.ItemID == first && !m.State.Over() })
}

// leadsRoadmap reports whether the item's issue has a roadmap, as roadmapHere finds it.
func (r *commander) leadsRoadmap() bool {
	_, ok := r.roadmapHere()
	return ok
}

// changesRoadmap reports whether the issue's roadmap is under way: it is changed, and not begun again.
func (r *commander) changesRoadmap() bool {
	m, ok := r.roadmapHere()
	return ok && !m.State.Closes()
}

// pauseRoadmap keeps the issues below a roadmap from beginning. A hold does the same there.
func (r *commander) pauseRoadmap(inv invocation) Reply {
	if r.item.Pause != nil {
		return r.pauseAgain(inv)
	}
	label := r.beginPause(inv, r.item.Number)
	rep := reply("Paused: no issue of this roadmap begins, and none is opened. Issues on which work has begun continue; each can be paused by itself. "+
		"To end the pause, use %s or remove the label `%s`.", r.command(work.VerbResume), r.v.Policy.Labels.Ignore)
	rep.sent = []work.Action{label}
	return rep
}

// resumeRoadmap ends what pauseRoadmap began, or one of the labels.
func (r *commander) resumeRoadmap(inv invocation) Reply {
	labels := work.Labelling{Without: []string{r.v.Policy.Labels.Ignore, r.v.Policy.Labels.Hold}}.Action(r.v.Repo, r.item.ID, r.item.Number, "pause")
	labels.Need, labels.Why = work.NeedRequired, inv.given()
	switch {
	case r.item.Pause == nil && r.item.IssueClosed:
		return r.notPaused("The roadmap", "Its issue is closed, so nothing of it begins: reopen the issue.", labels)
	case r.item.Pause == nil:
		return r.notPaused("The roadmap", "", labels)
	}
	r.endPause(inv)
	return Reply{Said: "The pause is over: the issues of this roadmap begin as its limits allow.", sent: []work.Action{labels}}
}
