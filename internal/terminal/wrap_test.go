package terminal

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestAge(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for d, want := range map[time.Duration]string{
		-time.Second: "now", 59 * time.Second: "now", 61 * time.Second: "1m", 2 * time.Hour: "2h", 47 * time.Hour: "47h", 50 * time.Hour: "2d",
	} {
		if got := Age(now.Add(-d), now); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
	if got := Age(time.Time{}, now); got != "" {
		t.Errorf("no time: %q", got)
	}
}

func TestFitKeepsCommandsWhole(t *testing.T) {
	o := Output{TTY: true, Width: 44}
	for text, want := range map[string]string{
		"the last pass failed; run gh auth login --hostname github.com, and wait": "the last pass failed; run\ngh auth login --hostname github.com, and\nwait",
		"not found: run `npm install -g @openai/codex`, or wait":                  "not found: run\n`npm install -g @openai/codex`, or wait",
		"gh mergexo did not open this pull request and reviews it in a sandbox":   "gh mergexo did not open this pull request\nand reviews it in a sandbox",
	} {
		if got := o.Fit(text); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}

// TestFit: no line is wider than the terminal if it can be broken, none loses a word, its indentation
// or its colours, and nothing changes where no terminal is.
func TestFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := Output{TTY: rapid.Bool().Draw(t, "tty"), Color: true, Width: rapid.IntRange(5, 60).Draw(t, "width")}
		words := rapid.SliceOfN(rapid.StringMatching(`[a-zä漢]{1,9}`), 1, 20).Draw(t, "words")
		indent := strings.Repeat(" ", rapid.IntRange(0, 6).Draw(t, "indent"))
		line := indent + o.Paint("36", strings.Join(words, " ")) + "\n"
		got := o.Fit(line)
		if !o.TTY && got != line {
			t.Fatalf("%q became %q", line, got)
		}
		if strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(line), " ") {
			t.Fatalf("%q became %q", line, got)
		}
		for part := range strings.Lines(got) {
			part = strings.TrimSuffix(part, "\n")
			if !strings.HasPrefix(part, indent) || o.TTY && columnsOf(part) > o.Width && strings.Contains(strings.TrimLeft(part, " "), " ") {
				t.Fatalf("%d columns, indent %d: %q", o.Width, len(indent), part)
			}
		}
	})
}
