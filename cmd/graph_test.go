package cmd

import (
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
)

func TestGraph(t *testing.T) {
	var b strings.Builder
	if err := writeGraph(&b, work.Transitions()); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	for _, line := range []string{
		"stateDiagram-v2\n",
		"    [*] --> pending: labelled\n",
		"    awaiting_feedback --> running: claimed, adopted\n",
		"    blocked --> merged: pull merged\n",
		"    merged --> [*]\n",
	} {
		if !strings.Contains(got, line) {
			t.Errorf("no line %q in:\n%s", line, got)
		}
	}
	for _, s := range work.States() {
		if !strings.Contains(got, "> "+string(s)+":") {
			t.Errorf("nothing leads to %s in:\n%s", s, got)
		}
	}
}
