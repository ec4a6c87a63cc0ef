package work

import (
	"testing"
)

func TestPullMark(t *testing.T) {
	want := PullMark{Issue: 12, Flow: FlowBugfix, Turn: "abc"}
	got, ok := ParsePullMark("text\r\n\r\n" + MarkPull(want) + "\r\nmore")
	if !ok || got != want {
		t.Errorf("ParsePullMark = %+v, %v", got, ok)
	}
	for _, not := range []string{"", "> " + MarkPull(want), MarkPull(PullMark{}), "<!-- mergexo-work:{broken -->"} {
		if _, ok := ParsePullMark(not); ok {
			t.Errorf("ParsePullMark(%q) takes it for ours", not)
		}
	}
}
