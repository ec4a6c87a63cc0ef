package roadmap

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mergexo/gh-mergexo/internal/work"
)

const app = "github.com/octo/app#"

// issue is the n-th issue of octo/app, which needs others.
func issue(n int, p Progress, needs ...int) Issue {
	i := Issue{Ref: fmt.Sprint(app, n), Title: fmt.Sprint("Issue ", n), Position: n, Progress: p}
	for _, m := range needs {
		i.Needs = append(i.Needs, Need{fmt.Sprint(app, m), true})
	}
	return i
}

func TestThePathBehindAnIssue(t *testing.T) {
	for name, c := range map[string]struct {
		issues []Issue
		want   map[int]int
	}{
		"none":                     {[]Issue{issue(1, Waiting)}, map[int]int{1: 0}},
		"a chain":                  {[]Issue{issue(1, Waiting), issue(2, Waiting, 1), issue(3, Waiting, 2)}, map[int]int{1: 2, 2: 1, 3: 0}},
		"the longest of two":       {[]Issue{issue(1, Waiting), issue(2, Waiting, 1), issue(3, Waiting, 1), issue(4, Waiting, 3)}, map[int]int{1: 2, 2: 0, 3: 1, 4: 0}},
		"what is closed is no way": {[]Issue{issue(1, Waiting), issue(2, Done, 1), issue(3, Waiting, 2)}, map[int]int{1: 0, 3: 0}},
		"a circle ends":            {[]Issue{issue(1, Waiting, 2), issue(2, Waiting, 1), issue(3, Waiting)}, map[int]int{3: 0}},
		"itself":                   {[]Issue{issue(1, Waiting, 1)}, map[int]int{1: 0}},
	} {
		got := Behind(c.issues)
		for n, want := range c.want {
			if got[fmt.Sprint(app, n)] != want {
				t.Errorf("%s: behind #%d are %d, not %d", name, n, got[fmt.Sprint(app, n)], want)
			}
		}
	}
}

// With any edges, each issue is drawn once, below an issue that it needs if it needs one of them.
func TestTheTreeHasEachIssueOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var issues []Issue
		all := rapid.IntRange(0, 8).Draw(t, "issues")
		for n := range all {
			issues = append(issues, issue(n, Waiting, rapid.SliceOfN(rapid.IntRange(0, 9), 0, 3).Draw(t, "needs")...))
		}
		lines := Tree(issues)
		seen := map[int]bool{}
		for _, l := range lines {
			if seen[l.At] {
				t.Fatalf("%s is drawn twice", issues[l.At].Ref)
			}
			seen[l.At] = true
		}
		if len(lines) != all {
			t.Fatalf("%d of %d issues are drawn", len(lines), all)
		}
	})
	var b strings.Builder
	some := []Issue{issue(1, Done), issue(2, Waiting, 1), issue(3, Waiting, 1, 2), issue(4, Waiting), issue(5, Waiting, 2)}
	for _, l := range Tree(some) {
		b.WriteString(l.Indent + some[l.At].Title + "\n")
	}
	want := "├─ Issue 1\n│  └─ Issue 2\n│     ├─ Issue 3\n│     └─ Issue 5\n└─ Issue 4\n"
	if b.String() != want {
		t.Errorf("drawn as\n%s, want\n%s", b.String(), want)
	}
}

func TestTheTable(t *testing.T) {
	w := Words{
		Short: func(ref string) string { return strings.TrimPrefix(ref, "github.com/octo/app") },
		Clean: func(s string) string { return strings.ReplaceAll(s, "@", "(at)") },
		Why:   func(r work.Reason) string { return string(r.Kind) },
	}
	done, pull := issue(1, Done), issue(2, Reviewed, 1)
	done.Title, pull.Pull, pull.Needs[0].Open = "Ask @ann | or\nnobody", 7, false
	waits := issue(3, Waiting)
	waits.Waits = work.Reason{Kind: work.WhyRoadmapParallel}
	blocked := issue(4, Waiting, 2)
	blocked.Waits = work.Reason{Kind: work.WhyDepends}
	planned := Issue{Node: "api", Title: "The API", Position: 5, Progress: ToOpen, Needs: []Need{{NodeKey("ui"), true}, {app + "4", true}}}
	got := Table(Record{State: Followed}, []Issue{done, pull, waits, blocked, planned, issue(6, TakenOut)}, w)
	for _, want := range []string{
		"1 of 5 issues closed.", "| #1 Ask (at)ann \\| or nobody | done |  |  |", "| #2 Issue 2 | in review | #7 |  |", "| #3 Issue 3 | waiting |  | roadmap_parallel |",
		"| #4 Issue 4 | waiting |  | #2 |", "| `api` The API | to be opened |  | ui and #4 |", "| #6 Issue 6 | taken out |  |  |",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
}

// The last line of the table is true in each state.
func TestTheFooter(t *testing.T) {
	live := []State{Unfolding, Followed, Stopped}
	for _, s := range States() {
		got := Table(Record{State: s}, nil, Words{Clean: strings.TrimSpace})
		if follows, kept := strings.Contains(got, "gh mergexo follows."), strings.Contains(got, "kept up to date"); follows != (s == Unfolding || s == Followed) || kept == (s == Ended || s == Deleted) {
			t.Errorf("%s: %s", s, got)
		}
		if s.Over() == slices.Contains(live, s) {
			t.Errorf("%s: over is %v", s, s.Over())
		}
	}
}

// A row shows how the issue is now: a wait that was stored before work began, or for another head, is
// not shown, and neither is an open need of what has begun. A cancelled roadmap has no row for a node that
// was never opened.
func TestARowIsOfThePresent(t *testing.T) {
	began := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	home := work.RepoName{Host: "github.com", Owner: "octo", Name: "app"}
	subs := []SubIssue{{Ref: app + "3", Title: "Three", State: work.DependencyOpen}}
	w := Words{Short: func(ref string) string { return ref }, Clean: strings.TrimSpace, Why: func(r work.Reason) string { return string(r.Kind) }}
	slot, depends, people := work.Reason{Kind: work.WhyFreeSlot}, work.Reason{Kind: work.WhyDepends}, work.Reason{Kind: work.WhyPeople, Head: "a"}
	open, closed := []Need{{app + "9", true}}, []Need{{app + "9", false}}
	for name, c := range map[string]struct {
		item  Item
		needs []Need
		state Progress
		says  string
	}{
		"not begun":                    {Item{State: work.StatePending, Wait: slot}, nil, Waiting, "free_slot"},
		"not begun, blocked":           {Item{State: work.StatePending, Wait: depends}, open, Waiting, app + "9"},
		"its blocker closed since":     {Item{State: work.StatePending, Wait: depends}, closed, Waiting, ""},
		"an agent works":               {Item{State: work.StateRunning, Wait: slot, Waits: began.Add(-time.Second)}, nil, Working, ""},
		"the agent waits":              {Item{State: work.StateRunning, Wait: slot, Waits: began.Add(time.Second)}, nil, Working, "free_slot"},
		"in review, waits of before":   {Item{State: work.StateAwaitingFeedback, Wait: slot, Pull: 5, Head: "a"}, nil, Reviewed, ""},
		"in review":                    {Item{State: work.StateAwaitingFeedback, Wait: people, Pull: 5, Head: "a"}, nil, Reviewed, "people"},
		"in review, another head":      {Item{State: work.StateAwaitingFeedback, Wait: people, Pull: 5, Head: "b"}, nil, Reviewed, ""},
		"in review, blocked by people": {Item{State: work.StateAwaitingFeedback, Wait: people, Pull: 5, Head: "a"}, open, Reviewed, "people"},
		"merged":                       {Item{State: work.StateCompleted, Wait: people, Pull: 5, Head: "a"}, nil, Landed, "a person, who closes it"},
		"blocked":                      {Item{State: work.StateBlocked, Reason: people, Wait: slot}, open, OfPerson, "people"},
	} {
		c.item.ID, c.item.Ref, c.item.Since = 1, app+"3", began
		got := Follow(Record{Repo: home, State: Followed}, nil, subs, []Item{c.item}, map[int64][]Need{1: c.needs})[0]
		if says := got.WaitsFor(w); got.Progress != c.state || says != c.says {
			t.Errorf("%s: %s, waits for %q", name, got.Progress, says)
		}
	}
	for _, s := range States() {
		got := Follow(Record{Repo: home, State: s}, []Child{{Node: "a", Step: Planned}}, nil, nil, nil)
		if shown := len(got) == 1; shown == s.Over() {
			t.Errorf("%s: %+v", s, got)
		}
	}
}

func TestBrakes(t *testing.T) {
	held := work.Reason{Kind: work.WhyRoadmapHeld, Name: app + "1"}
	near, far := Above{Record: Record{Ref: app + "1"}, Limits: Limits{Parallel: 2}}, Above{Record: Record{Ref: app + "9"}, Limits: Limits{Parallel: 3}}
	with := func(a Above, change func(*Above)) Above { change(&a); return a }
	full := func(a *Above) { a.UnderWay = []string{app + "3", app + "2"} }
	for name, c := range map[string]struct {
		above []Above
		want  work.ReasonKind
	}{
		"no roadmap":           {nil, ""},
		"room in both":         {[]Above{near, far}, ""},
		"held":                 {[]Above{with(near, func(a *Above) { a.Held = held }), far}, work.WhyRoadmapHeld},
		"held farther up":      {[]Above{near, with(far, func(a *Above) { a.Held = held })}, work.WhyRoadmapHeld},
		"full":                 {[]Above{with(near, full), far}, work.WhyRoadmapParallel},
		"full farther up":      {[]Above{near, with(far, func(a *Above) { full(a); a.Parallel = 1 })}, work.WhyRoadmapParallel},
		"not full farther up":  {[]Above{near, with(far, full)}, ""},
		"it has begun":         {[]Above{with(near, func(a *Above) { a.UnderWay, a.Held = []string{app + "2", app + "5"}, held })}, ""},
		"too dear":             {[]Above{with(near, func(a *Above) { a.MaxCost, a.CostUSD = 5, 5 })}, work.WhyRoadmapCost},
		"cheap enough":         {[]Above{with(near, func(a *Above) { a.MaxCost, a.CostUSD = 5, 4.99 })}, ""},
		"no limit of the cost": {[]Above{with(near, func(a *Above) { a.CostUSD = 500 })}, ""},
	} {
		if got := Brake(app+"5", c.above); got.Kind != c.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if why := Brake(app+"5", []Above{with(near, full)}); !slices.Equal(why.Names, []string{app + "2", app + "3"}) || why.Name != near.Ref || why.Count != 2 {
		t.Errorf("%+v", why)
	}
}
