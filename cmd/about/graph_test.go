package about

import (
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
)

func TestGraphOfItems(t *testing.T) {
	got := graphOf(t, "items")
	has(t, got, "stateDiagram-v2\n",
		"    [*] --> pending: labelled\n",
		"    awaiting_feedback --> running: claimed\n",
		"    blocked --> merged: pull merged\n",
		"    merged --> [*]\n")
	for _, s := range work.States() {
		if !strings.Contains(got, "> "+string(s)+":") {
			t.Errorf("nothing leads to %s in:\n%s", s, got)
		}
	}
}

func TestGraphOfReviews(t *testing.T) {
	got := graphOf(t, "reviews")
	has(t, got, "stateDiagram-v2\n",
		"    [*] --> pending: opened\n",
		"    fixing --> reviewing: fixed, incomplete, pushed\n",
		"    reviewing --> fixing: rejected\n",
		"    closed --> pending: reopened\n",
		"    approved --> [*]: switched off\n",
		"    approved --> merged: merged\n",
		"    merged --> [*]\n    closed --> [*]\n    note right of merged : forced (before everybody had approved), approved (by a person after that), auto (by gh mergexo after that)\n")
	for _, s := range review.States() {
		if !strings.Contains(got, "> "+string(s)+":") {
			t.Errorf("nothing leads to %s in:\n%s", s, got)
		}
	}
	for _, x := range review.Transitions() {
		if x.From != x.To && !strings.Contains(got, string(x.Event)) {
			t.Errorf("%s leads nowhere in:\n%s", x.Event, got)
		}
	}
}

func TestAllGraphs(t *testing.T) {
	if got, want := graphOf(t), graphOf(t, "items")+"\n"+graphOf(t, "reviews")+"\n"+graphOf(t, "merges")+"\n"+graphOf(t, "roadmaps"); got != want {
		t.Errorf("all are\n%s\nnot\n%s", got, want)
	}
}

func TestGraphOfMerges(t *testing.T) {
	got := graphOf(t, "merges")
	for _, s := range []merging.Stage{merging.Intended, merging.Queued, merging.Half, merging.Landed, merging.Void} {
		has(t, got, "--> "+string(s)+": ")
	}
}

func TestGraphOfRoadmaps(t *testing.T) {
	got := graphOf(t, "roadmaps")
	has(t, got,
		"    [*] --> unfolding: merged\n",
		"    unfolding --> followed: unfolded\n",
		"    unfolding --> stopped: refused, faulty\n",
		"    ended --> [*]\n",
		"    [*] --> planned: listed\n",
		"    made --> labelled: labelled\n",
		"    removed --> gone: taken away\n",
		"    gone --> [*]\n")
	for _, s := range roadmap.States() {
		has(t, got, "> "+string(s)+":")
	}
	for _, s := range roadmap.Steps() {
		has(t, got, "> "+string(s)+":")
	}
}

// Every word on an arrow is told below the diagram.
func TestGraphsHaveLegends(t *testing.T) {
	for _, g := range graphs(nil) {
		for _, s := range g.Transitions {
			if s.Cause != "" && !strings.Contains(g.Mermaid, "%% "+s.Cause+": ") {
				t.Errorf("%s: nothing says what %q means", g.Name, s.Cause)
			}
		}
	}
}

func graphOf(t *testing.T, wanted ...string) string {
	t.Helper()
	var b strings.Builder
	if err := writeGraphs(&b, wanted); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func has(t *testing.T, got string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains(got, line) {
			t.Errorf("no line %q in:\n%s", line, got)
		}
	}
}
