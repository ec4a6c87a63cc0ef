package cmd

import (
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
)

func TestGraphOfItems(t *testing.T) {
	got := graphOf(t, "items")
	has(t, got, "stateDiagram-v2\n",
		"    [*] --> pending: labelled\n",
		"    awaiting_feedback --> running: claimed, adopted\n",
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

func TestBothGraphs(t *testing.T) {
	if got, want := graphOf(t), graphOf(t, "items")+"\n"+graphOf(t, "reviews"); got != want {
		t.Errorf("both are\n%s\nnot\n%s", got, want)
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
