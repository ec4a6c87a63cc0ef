package plan

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// waitsFor returns why the first item of a snapshot does not begin; empty: it begins.
func waitsFor(v known.Snapshot) work.ReasonKind {
	p := For(v)
	if o := p.Outlooks(v)(v.Items[0]); len(o.Waits) > 0 {
		return o.Waits[0].Kind
	}
	return ""
}

// deed is what a person does, as the next pass reads it.
type deed func(*known.Snapshot)

// TestEachRemedyEndsItsReason plays each remedy that a reason offers in the state in which it is offered: the check
// that found the reason finds it no more.
func TestEachRemedyEndsItsReason(t *testing.T) {
	blocked := func(kind work.ReasonKind, names ...string) deed {
		return func(v *known.Snapshot) {
			i := &v.Items[0]
			if kind.OfDependency() {
				i.State, i.Since, i.Reason = work.StateBlocked, noon, work.Reason{Kind: kind, Names: names}
			}
		}
	}
	by := func(s work.DependencyState) deed {
		return func(v *known.Snapshot) { v.Items[0].Dependencies = map[string]work.DependencyState{"#9": s} }
	}
	comment := func(v *known.Snapshot) {
		e := said(work.EventIssue, 1, "77", ann)
		e.SeenAt = noon.Add(time.Minute)
		v.Now = noon.Add(time.Hour)
		v.Items[0].Events = append(v.Items[0].Events, e)
	}
	unlink := func(v *known.Snapshot) { v.Items[0].Dependencies = nil }
	circle := func(v *known.Snapshot) {
		v.Items[0].Dependencies = map[string]work.DependencyState{"github.com/octo/app#2": work.DependencyOpen}
		v.Items = append(v.Items, child(2, func(i *known.Item) {
			i.Below, i.Dependencies = roadmap.Seat{}, map[string]work.DependencyState{"github.com/octo/app#1": work.DependencyOpen}
		}))
	}
	many := func(v *known.Snapshot) { v.Items[0].DependsOn = make([]string, work.MostDependencies+1) }
	below := func(change func(*roadmap.Above)) deed {
		return func(v *known.Snapshot) {
			at := known.Item{Item: v.Items[0].Item, Events: v.Items[0].Events, Notices: v.Items[0].Notices, Below: child(1).Below}
			at.SubIssueOf = "github.com/octo/app#1"
			change(&at.Below.Above[0])
			v.Items[0] = at
		}
	}
	leave := func(v *known.Snapshot) { v.Items[0].SubIssueOf, v.Items[0].Below = "", roadmap.Seat{} }
	holds := func(r roadmap.Record) deed {
		return below(func(a *roadmap.Above) { r.Ref = a.Ref; a.Held = r.Held() })
	}
	free := below(func(*roadmap.Above) {})
	paused := roadmap.Record{Pause: work.Pause{By: "bob", Began: noon}}
	dear := func(limit float64) deed {
		return below(func(a *roadmap.Above) { a.MaxCost, a.CostUSD = limit, 6 })
	}
	items := []struct {
		kind   work.ReasonKind
		has    deed
		remedy explain.Remedy
		does   deed
	}{
		{work.WhyDependsDropped, by(work.DependencyDropped), explain.Reopen, by(work.DependencyOpen)},
		{work.WhyDependsDropped, by(work.DependencyDropped), explain.Unlink, unlink},
		{work.WhyDependsDropped, by(work.DependencyDropped), explain.StartAnyway, comment},
		{work.WhyDependsMissing, by(work.DependencyMissing), explain.Unlink, unlink},
		{work.WhyDependsMissing, by(work.DependencyMissing), explain.StartAnyway, comment},
		{work.WhyDependsHidden, by(work.DependencyRefused), explain.GiveAccess, by(work.DependencyOpen)},
		{work.WhyDependsHidden, by(work.DependencyRefused), explain.Unlink, unlink},
		{work.WhyDependsHidden, by(work.DependencyRefused), explain.StartAnyway, comment},
		{work.WhyDependsMany, many, explain.StartAnyway, comment},
		{work.WhyDependsCircle, circle, explain.BreakCircle, by(work.DependencyClosed)},
		{work.WhyDependsCircle, circle, explain.BreakCircle, unlink},
		{work.WhyDependsCircle, circle, explain.StartAnyway, comment},
		{work.WhyDepends, by(work.DependencyOpen), explain.CloseNeeds, by(work.DependencyClosed)},
		{work.WhyRoadmapHeld, holds(paused), explain.EndHold, free},
		{work.WhyRoadmapHeld, holds(paused), explain.LeaveRoadmap, leave},
		{work.WhyRoadmapHeld, holds(roadmap.Record{Closed: true}), explain.EndHold, free},
		{work.WhyRoadmapCost, dear(5), explain.RaiseCost, dear(7)},
		{work.WhyRoadmapCost, dear(5), explain.LeaveCost, leave},
	}
	played := map[work.ReasonKind][]explain.Remedy{}
	for _, c := range items {
		before := scene(labels, noPull, state(work.StatePending), with(labelled()), c.has)
		if got := waitsFor(before); got != c.kind {
			t.Errorf("%s, to %q: it waits for %q", c.kind, c.remedy, got)
		}
		after := scene(labels, noPull, state(work.StatePending), with(labelled()), c.has, blocked(c.kind), c.does)
		if got := waitsFor(after); got == c.kind {
			t.Errorf("%s, after %q: it waits for that still", c.kind, c.remedy)
		}
		played[c.kind] = append(played[c.kind], c.remedy)
	}
	for _, c := range []struct {
		kind   work.ReasonKind
		remedy explain.Remedy
		of     roadmap.Record
		does   func(roadmap.Record) roadmap.Record
	}{
		{work.WhyRoadmapFaults, explain.ChangeDocument, roadmap.Record{State: roadmap.Stopped, Why: work.Reason{Kind: work.WhyRoadmapFaults}}, func(r roadmap.Record) roadmap.Record {
			r, _ = r.Apply(nil, roadmap.Merged{Hash: "corrected"})
			return r
		}},
		{work.WhyRoadmapFaults, explain.Replan, roadmap.Record{State: roadmap.Stopped, Why: work.Reason{Kind: work.WhyRoadmapFaults}}, command(t, "/mergexo replan it is wrong")},
		{work.WhyRoadmapRefused, explain.RetryRoadmap, roadmap.Record{State: roadmap.Stopped, Why: work.Reason{Kind: work.WhyRoadmapRefused}}, command(t, "/mergexo retry")},
		{work.WhyRoadmapFollowed, explain.CloseSubIssues, roadmap.Record{State: roadmap.Followed}, func(r roadmap.Record) roadmap.Record {
			f := roadmap.Facts{Record: r, Below: []roadmap.SubIssue{{Ref: "#2", State: work.DependencyClosed}}, Actions: map[string]work.Action{}}
			for range 3 {
				for _, d := range roadmap.Next(f).Deeds {
					f.Actions[d.Token] = work.Action{State: work.ActionApplied}
				}
			}
			r.State, _ = r.State.After(roadmap.Next(f).Event)
			return r
		}},
		{work.WhyRoadmapFollowed, explain.CancelRoadmap, roadmap.Record{State: roadmap.Followed}, command(t, "/mergexo cancel")},
		{work.WhyRoadmapClosed, explain.ReopenOwnIssue, roadmap.Record{State: roadmap.Followed, Closed: true}, func(r roadmap.Record) roadmap.Record { r.Closed = false; return r }},
		{work.WhyRoadmapClosed, explain.CancelRoadmap, roadmap.Record{State: roadmap.Followed, Closed: true}, command(t, "/mergexo cancel")},
	} {
		waits := func(r roadmap.Record) work.ReasonKind {
			why, _ := roadmap.Lead{Record: r}.Waits()
			return why.Kind
		}
		if got := waits(c.of); got != c.kind {
			t.Errorf("%s, to %q: it waits for %q", c.kind, c.remedy, got)
		}
		if after := c.does(c.of); waits(after) == c.kind && after.State != roadmap.Ended && !after.Changing {
			t.Errorf("%s, after %q: it waits for that still", c.kind, c.remedy)
		}
		played[c.kind] = append(played[c.kind], c.remedy)
	}
	for _, c := range []struct {
		remedy explain.Remedy
		item   roadmap.Item
		is     work.DependencyState
	}{
		{explain.SetLabel, roadmap.Item{ID: 1, State: work.StatePending}, work.DependencyOpen},
		{explain.ConfigureRepo, roadmap.Item{ID: 1, State: work.StatePending}, work.DependencyOpen},
		{explain.CloseNeglected, roadmap.Item{}, work.DependencyClosed},
	} {
		neglected := func(i roadmap.Item, s work.DependencyState) bool {
			i.Ref = "github.com/octo/lib#5"
			shown := roadmap.Shown{Record: roadmap.Record{State: roadmap.Followed}, Issues: roadmap.Follow(roadmap.Record{}, nil, []roadmap.SubIssue{{Ref: i.Ref, State: s}}, []roadmap.Item{i}, nil)}
			idle, _, _ := shown.Look(noon, time.Hour)
			return len(idle) > 0
		}
		if !neglected(roadmap.Item{}, work.DependencyOpen) || neglected(c.item, c.is) {
			t.Errorf("after %q: it is neglected still", c.remedy)
		}
		played[work.WhyRoadmapNobody] = append(played[work.WhyRoadmapNobody], c.remedy)
	}
	for remedy, after := range map[explain.Remedy]roadmap.Lead{
		explain.CloseAgain:   reopened(work.DependencyClosed, true),
		explain.UnlinkBehind: reopened(work.DependencyOpen, false),
	} {
		before, _ := reopened(work.DependencyOpen, true).Waits()
		if why, _ := after.Waits(); before.Kind != work.WhyRoadmapReopened || why.Kind == before.Kind {
			t.Errorf("after %q: it waits for %s", remedy, why.Kind)
		}
		played[work.WhyRoadmapReopened] = append(played[work.WhyRoadmapReopened], remedy)
	}
	for _, kind := range explain.Kinds() {
		for _, remedy := range explain.RemediesOf(kind) {
			if !slices.Contains(played[kind], remedy) {
				t.Errorf("%s offers %q, which nobody has played", kind, remedy)
			}
		}
	}
}

// reopened returns a roadmap with an issue whose work is merged, in a state, and another one that may need it.
func reopened(is work.DependencyState, needed bool) roadmap.Lead {
	r := roadmap.Record{State: roadmap.Followed, Repo: app.Name}
	needs := map[int64][]roadmap.Need{}
	if needed {
		needs[2] = []roadmap.Need{{Ref: "github.com/octo/app#5", Open: true}}
	}
	return roadmap.LeadOf(r, roadmap.Follow(r, nil,
		[]roadmap.SubIssue{{Ref: "github.com/octo/app#5", State: is}, {Ref: "github.com/octo/app#6", State: work.DependencyOpen}},
		[]roadmap.Item{{ID: 1, Ref: "github.com/octo/app#5", State: work.StateCompleted}, {ID: 2, Ref: "github.com/octo/app#6", State: work.StatePending}}, needs))
}

// command returns what a command on a roadmap's issue makes of the roadmap.
func command(t *testing.T, body string) func(roadmap.Record) roadmap.Record {
	t.Helper()
	return func(r roadmap.Record) roadmap.Record {
		r.ItemID, r.Number = 10, 1
		v := scene(labels, noPull, state(work.StateMerged), with(commanded(body, 1, "1")), func(v *known.Snapshot) {
			v.Items[0].Flow, v.Items[0].IssueClosed = work.FlowRoadmap, r.Closed
			v.Roadmaps, v.Unfold = []roadmap.Record{r}, []roadmap.Facts{{Record: r}}
		})
		p := For(v)
		for _, c := range Of[change.Roadmap](p) {
			r = c.After
		}
		r.Changing = len(Of[change.Replan](p)) > 0
		return r
	}
}

// TestRetryIsOfferedWhereItHelps: where a stop offers `/mergexo retry`, the command is not refused.
func TestRetryIsOfferedWhereItHelps(t *testing.T) {
	offered := 0
	for _, kind := range explain.Kinds() {
		why := work.Reason{Kind: kind, Text: "text", Name: "name", Names: []string{"#9"}, Number: 2, Count: 2}
		for _, c := range []struct {
			place explain.Place
			view  known.Snapshot
		}{
			{explain.Place{}, scene(labels, noPull, state(work.StateBlocked), halted(why), with(labelled(), commanded("/mergexo retry", 1, "1")))},
			{explain.Place{Pull: true}, scene(labels, state(work.StateBlocked), halted(why), with(commanded("/mergexo retry", 2, "1")))},
		} {
			if !explain.Reason(why, c.place).Retry {
				continue
			}
			offered++
			c.view.Items[0].Dependencies = map[string]work.DependencyState{"#9": map[work.ReasonKind]work.DependencyState{
				work.WhyDependsDropped: work.DependencyDropped, work.WhyDependsMissing: work.DependencyMissing, work.WhyDependsHidden: work.DependencyRefused,
			}[kind]}
			p := For(c.view)
			if said := orders(p); !strings.Contains(said, "resumed → ") || strings.Contains(said, "→ blocked") {
				t.Errorf("%s offers retry, which does nothing: %s", kind, said)
			}
		}
	}
	if offered < 50 {
		t.Errorf("only %d reasons offer retry", offered)
	}
}
