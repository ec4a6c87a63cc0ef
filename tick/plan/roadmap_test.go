package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// child is an issue below the roadmap #1 that may begin, labelled n minutes after the first.
func child(n int, change ...func(*known.Item)) known.Item {
	e := labelled()
	e.ID, e.Number, e.ItemID, e.Key = int64(n), n, int64(n), fmt.Sprint(n, ":labelled")
	e.CreatedAt, e.SeenAt = e.CreatedAt.Add(time.Duration(n)*time.Second), e.SeenAt.Add(time.Duration(n)*time.Second)
	i := known.Item{
		Item: work.Item{
			ID: int64(n), RepoID: 1, Number: n, Flow: work.FlowBugfix, State: work.StatePending, Priority: 3, Label: "agent:bugfix", Since: noon.Add(-time.Hour),
			SubIssueOf: "github.com/octo/app#1",
		},
		Events: []work.Event{e}, Notices: map[string]work.ActionState{},
		Below: roadmap.Seat{Above: []roadmap.Above{{Record: roadmap.Record{Ref: "github.com/octo/app#1"}, Limits: roadmap.Limits{Parallel: 3}}}, Position: n},
	}
	for _, c := range change {
		c(&i)
	}
	return i
}

func above(change func(*roadmap.Above)) func(*known.Item) {
	return func(i *known.Item) { change(&i.Below.Above[0]) }
}

// numbers returns the numbers of the turns that a plan claims, in the order in which they wait.
func numbers(p Plan) (all []int) {
	turns := p.Turns()
	slices.SortStableFunc(turns, func(a, b Turn) int { return a.Since.Compare(b.Since) })
	for _, t := range turns {
		all = append(all, t.Number)
	}
	return all
}

// TestBeginningBelowARoadmap: which issues begin, in which order, and why the others wait.
func TestBeginningBelowARoadmap(t *testing.T) {
	busy := above(func(a *roadmap.Above) { a.UnderWay = []string{"github.com/octo/app#8", "github.com/octo/app#9"} })
	behind := func(n int) func(*known.Item) { return func(i *known.Item) { i.Below.Behind = n } }
	at := func(n int) func(*known.Item) { return func(i *known.Item) { i.Below.Position = n } }
	urgent := func(i *known.Item) { i.Priority = 5 }
	together := func(i *known.Item) { i.Events[0].SeenAt = noon.Add(-time.Minute) }
	nested := func(i *known.Item) {
		i.Below.Above = append(i.Below.Above, roadmap.Above{Record: roadmap.Record{Ref: "github.com/octo/app#100"}, Limits: roadmap.Limits{Parallel: 1}})
	}
	for name, c := range map[string]struct {
		items []known.Item
		begin []int
		waits work.ReasonKind // of the last item
	}{
		"as many as parallel":          {[]known.Item{child(2), child(3), child(4), child(5)}, []int{2, 3, 4}, work.WhyRoadmapParallel},
		"others are under way":         {[]known.Item{child(2, busy), child(3, busy)}, []int{2}, work.WhyRoadmapParallel},
		"the longest path":             {[]known.Item{child(2, busy), child(4, busy, behind(2)), child(3, busy, behind(1))}, []int{4}, work.WhyRoadmapParallel},
		"labelled at the same time":    {[]known.Item{child(2, busy, together), child(3, busy, together), child(4, busy, together, behind(1))}, []int{4}, ""},
		"in the order of GitHub":       {[]known.Item{child(2, at(9)), child(3, at(8))}, []int{3, 2}, ""},
		"a priority first":             {[]known.Item{child(2, busy, behind(9)), child(3, busy, urgent)}, []int{3}, ""},
		"the limit of the grandparent": {[]known.Item{child(2, nested), child(3, nested)}, []int{2}, work.WhyRoadmapParallel},
		"paused": {[]known.Item{child(2, above(func(a *roadmap.Above) {
			a.Held = work.Reason{Kind: work.WhyRoadmapHeld, Name: a.Ref, Who: "bob", At: 1}
		}))}, nil, work.WhyRoadmapHeld},
		"too dear": {[]known.Item{child(2, above(func(a *roadmap.Above) { a.MaxCost, a.CostUSD = 5, 6 }))}, nil, work.WhyRoadmapCost},
		"begun before it was too dear": {[]known.Item{child(2, above(func(a *roadmap.Above) {
			a.MaxCost, a.CostUSD, a.UnderWay = 5, 6, []string{"github.com/octo/app#2"}
		}))}, []int{2}, ""},
		"below no roadmap": {[]known.Item{child(2, func(i *known.Item) { i.Below = roadmap.Seat{} })}, []int{2}, ""},
	} {
		v := scene(labels, func(v *known.Snapshot) { v.Items = c.items })
		p := For(v)
		if got := numbers(p); !slices.Equal(got, c.begin) {
			t.Errorf("%s: %v begin, not %v", name, got, c.begin)
		}
		last := c.items[len(c.items)-1]
		why := work.ReasonKind("")
		if o := p.Outlooks(v)(last); len(o.Waits) > 0 {
			why = o.Waits[0].Kind
		}
		if why != c.waits {
			t.Errorf("%s: the last one waits for %q, not %q", name, why, c.waits)
		}
		for _, w := range Of[change.Wait](p) {
			if w.Item == last.ID && w.Reason.Kind != why && why != "" {
				t.Errorf("%s: the last one is stored to wait for %q", name, w.Reason.Kind)
			}
		}
	}
}

// Whatever is ready below whichever roadmaps, none of them gets more under way than it may, and one that
// has room begins something.
func TestNoRoadmapIsOverItsLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		roadmaps := map[string]*roadmap.Above{}
		for _, ref := range []string{"github.com/octo/app#1", "github.com/octo/app#100", "github.com/octo/lib#1"} {
			a := &roadmap.Above{Record: roadmap.Record{Ref: ref}, Limits: roadmap.Limits{Parallel: rapid.IntRange(1, 4).Draw(t, "parallel")}}
			for n := range rapid.IntRange(0, 4).Draw(t, "under way") {
				a.UnderWay = append(a.UnderWay, fmt.Sprint("github.com/octo/app#", 200+n))
			}
			roadmaps[ref] = a
		}
		chains := [][]string{{"github.com/octo/app#1"}, {"github.com/octo/app#100", "github.com/octo/app#1"}, {"github.com/octo/lib#1"}}
		v := scene(labels, func(v *known.Snapshot) { v.Items = nil })
		for n := range rapid.IntRange(1, 12).Draw(t, "issues") {
			chain := rapid.SampledFrom(chains).Draw(t, "below")
			v.Items = append(v.Items, child(n+2, func(i *known.Item) {
				i.Priority = rapid.IntRange(1, 5).Draw(t, "priority")
				i.Below = roadmap.Seat{Behind: rapid.IntRange(0, 3).Draw(t, "behind"), Position: n}
				for _, ref := range chain {
					i.Below.Above = append(i.Below.Above, *roadmaps[ref])
				}
			}))
		}
		p := For(v)
		begun := map[string]int{}
		for _, turn := range p.Turns() {
			at := slices.IndexFunc(v.Items, func(i known.Item) bool { return i.ID == turn.Item.ID })
			for _, a := range v.Items[at].Below.Above {
				begun[a.Ref]++
			}
		}
		for ref, a := range roadmaps {
			if begun[ref] > max(0, a.Parallel-len(a.UnderWay)) {
				t.Fatalf("%d begin below %s, where %d are under way and %d may be", begun[ref], ref, len(a.UnderWay), a.Parallel)
			}
		}
		for _, i := range v.Items {
			room := !slices.ContainsFunc(i.Below.Above, func(a roadmap.Above) bool { return begun[a.Ref]+len(a.UnderWay) >= a.Parallel })
			if room && !slices.ContainsFunc(p.Turns(), func(turn Turn) bool { return turn.Item.ID == i.ID }) {
				t.Fatalf("#%d does not begin, and there is room", i.Number)
			}
		}
	})
}

// A wait below a roadmap is told once: by the table while something is under way; else for the first
// issue alone.
func TestTheTableTellsWaits(t *testing.T) {
	full := above(func(a *roadmap.Above) {
		a.UnderWay = []string{"github.com/octo/app#7", "github.com/octo/app#8", "github.com/octo/app#9"}
	})
	dear := above(func(a *roadmap.Above) { a.MaxCost, a.CostUSD = 5, 6 })
	first := func(i *known.Item) { i.Below.First = true }
	for name, c := range map[string]struct {
		item known.Item
		told bool
	}{
		"others are under way":                {child(2, full, first), false},
		"nothing is, and it is not the first": {child(2, dear), false},
		"nothing is, and it is the first":     {child(2, dear, first), true},
		"it waits for something of its own":   {child(2, full, func(i *known.Item) { i.Pause = &work.Pause{Number: 2, By: "bob", Began: noon} }), true},
	} {
		v := patient(func(v *known.Snapshot) { v.Items = []known.Item{c.item} })
		told := 0
		for range 50 { // hours
			p := For(v)
			told += len(tellings(p))
			for _, w := range Of[change.Wait](p) {
				v.Items[0].Wait = w.Wait
			}
			v.Now = v.Now.Add(time.Hour)
		}
		if told != map[bool]int{true: 1}[c.told] {
			t.Errorf("%s: it is told %d times", name, told)
		}
	}
}

// An issue does not begin while a changed document is about to give it another text, and begins once it has
// it, or when it never gets it.
func TestAStartWaitsForItsNewText(t *testing.T) {
	for name, c := range map[string]struct {
		node  roadmap.Child
		state roadmap.State
		work  roadmap.Work
		begin bool
	}{
		"its text is to change":        {roadmap.Child{Number: 2, Step: roadmap.Labelled, Hash: "new", Applied: "old"}, roadmap.Unfolding, roadmap.Work{}, false},
		"while the roadmap is stopped": {roadmap.Child{Number: 2, Step: roadmap.Labelled, Hash: "new", Applied: "old"}, roadmap.Stopped, roadmap.Work{}, false},
		"it has the text":              {roadmap.Child{Number: 2, Step: roadmap.Labelled, Hash: "new", Applied: "new"}, roadmap.Unfolding, roadmap.Work{}, true},
		"another one's is to change":   {roadmap.Child{Number: 3, Step: roadmap.Labelled, Hash: "new", Applied: "old"}, roadmap.Unfolding, roadmap.Work{}, true},
		"work on it has begun":         {roadmap.Child{Number: 2, Step: roadmap.Labelled, Hash: "new", Applied: "old"}, roadmap.Unfolding, roadmap.Work{Begun: true}, true},
		"it is gone":                   {roadmap.Child{Number: 2, Step: roadmap.Gone, Hash: "new", Applied: "old"}, roadmap.Unfolding, roadmap.Work{}, true},
		"the roadmap is over":          {roadmap.Child{Number: 2, Step: roadmap.Labelled, Hash: "new", Applied: "old"}, roadmap.Ended, roadmap.Work{}, true},
	} {
		c.node.Node, c.node.ItemID = "n", 100
		facts := roadmap.Facts{
			Repo: app.Key(), Record: roadmap.Record{ItemID: 100, Repo: app.Name, Number: 1, State: c.state, Look: 1},
			Nodes: []roadmap.Child{c.node}, Work: map[int]roadmap.Work{2: c.work}, Actions: map[string]work.Action{},
		}
		p := For(scene(labels, func(v *known.Snapshot) { v.Items, v.Unfold = []known.Item{child(2)}, []roadmap.Facts{facts} }))
		why := work.WhyRoadmapChanges
		if c.state == roadmap.Stopped {
			why = work.WhyRoadmapStopped
		}
		waits := slices.ContainsFunc(p.Lines(), func(l change.Line) bool { return l.Code == why })
		if begins := len(p.Turns()) == 1; begins != c.begin || waits == c.begin {
			t.Errorf("%s: begins %v, waits for its text %v", name, begins, waits)
		}
	}
}

// The faults of what a person pushed are told for the head that the pull request has, and told to be gone
// only where they were told.
func TestFaultsOfAPushAreTold(t *testing.T) {
	token := work.FaultsToken(app.Key(), 2)
	push := func(head, faults string) work.Event {
		return work.Event{ID: 5, Number: 2, ItemID: 10, Kind: work.EventHead, Source: head, Key: "2:head:" + head + ":x", Body: faults}
	}
	for name, c := range map[string]struct {
		flow   work.Flow
		events []work.Event
		told   bool
		says   string
	}{
		"faults":             {work.FlowRoadmap, []work.Event{push("aaa", "line 3: x\nline 4: y")}, false, "\n- line 3: x\n- line 4: y\n"},
		"of an earlier head": {work.FlowRoadmap, []work.Event{push("bbb", "line 3: x")}, false, ""},
		"none":               {work.FlowRoadmap, []work.Event{push("aaa", "")}, false, ""},
		"none any more":      {work.FlowRoadmap, []work.Event{push("aaa", "")}, true, "no fault any more at aaa"},
		"another flow":       {work.FlowBugfix, []work.Event{push("aaa", "line 3: x")}, true, ""},
	} {
		p := For(scene(with(c.events...), func(v *known.Snapshot) {
			v.Items[0].Flow = c.flow
			if c.told {
				v.Items[0].Notices[token] = work.ActionApplied
			}
		}))
		said := ""
		for _, n := range Of[change.Notice](p) {
			if n.Token == token {
				said = n.Body
			}
		}
		if !strings.Contains(said, c.says) || (said == "") != (c.says == "") {
			t.Errorf("%s: %q", name, said)
		}
	}
}
