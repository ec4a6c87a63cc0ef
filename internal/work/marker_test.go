package work

import (
	"strings"
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

// Texts of ours are read without the line below them that says that a program wrote it. What only
// looks similar stays.
func TestTheSignatureIsNoPartOfTheText(t *testing.T) {
	const whole = "<sub>Written by x through [gh mergexo](https://github.com/mergexo/gh-mergexo).</sub>"
	for _, line := range []string{Signature(""), Signature("quinn"), Signature("codex (gpt-5)"), whole} {
		for _, m := range []Marks{{}, {Handled: []string{"1:issue:2:3"}}} {
			m.Token = strings.Repeat("0", 64)
			if got := Unmarked(Mark("Done.\n\n"+line, m)); got != "Done." {
				t.Errorf("%q is read as %q", line, got)
			}
		}
	}
	for _, text := range []string{"Done.", "Done.\n\n> " + Signature(""), "Done.\n\n<sub>H2O</sub>"} {
		if got := Unmarked(text); got != text {
			t.Errorf("%q is read as %q", text, got)
		}
	}
}
