package git

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// numbered returns a text of numbered lines, both ends included.
func numbered(from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

func TestDiff(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": numbered(1, 20), "old name.txt": numbered(1, 9), ".gitattributes": "hidden.go -diff\n*.txt diff=shout\n", "gone.txt": "x\n"})
	from := w.cmd(w.person, "rev-parse", "HEAD")
	w.cmd(w.person, "mv", "old name.txt", "ünew\tname.txt")
	w.cmd(w.person, "rm", "-q", "gone.txt")
	to := w.commit("second", map[string]string{
		"a.txt":          numbered(1, 9) + "changed\n@@ -1,2 +1,900 @@\n+++ b/elsewhere.txt\n" + numbered(11, 20) + "no end",
		"ünew\tname.txt": numbered(1, 9) + "one more\n",
		"hidden.go":      "package hidden\n",
	})
	w.fetch()
	w.check(w.mirror.Fetch(t.Context(), to))
	text, cut, err := w.mirror.Diff(t.Context(), from, to, 1<<20)
	w.check(err)
	if cut || !strings.Contains(text, "+package hidden\n") || !strings.Contains(text, "\n--- a/a.txt\n+++ b/a.txt\n@@ -7,7 +7,9 @@") || !strings.Contains(text, "rename from old name.txt") {
		t.Errorf("cut %v:\n%s", cut, text)
	}
	short, cut, err := w.mirror.Diff(t.Context(), from, to, 200)
	w.check(err)
	if !cut || len(short) > 200 || !strings.HasSuffix(short, "\n") || !strings.HasPrefix(text, short) {
		t.Errorf("cut %v: %q", cut, short)
	}
	lines, err := w.mirror.DiffLines(t.Context(), from, to)
	w.check(err)
	want := Lines{"a.txt": {{7, 15}, {20, 23}}, "ünew\tname.txt": {{7, 10}}, "hidden.go": {{1, 1}}}
	for path, spans := range want {
		if !slices.Equal(lines[path], spans) {
			t.Errorf("%s: %v, want %v", path, lines[path], spans)
		}
	}
	if len(lines) != len(want) {
		t.Errorf("lines %v", lines)
	}
	for line, has := range map[int]bool{6: false, 7: true, 15: true, 16: false, 23: true, 24: false, 0: false} {
		if lines.Has("a.txt", line) != has {
			t.Errorf("line %d: %v", line, !has)
		}
	}
	if _, _, err := w.mirror.Diff(t.Context(), from, strings.Repeat("0", 40), 10); err == nil {
		t.Error("a commit that is not there has a difference")
	}
}

// Approvals outlast clean merges of the base, and no other commit: not one that a later commit
// takes back, because it would reach the base's history.
func TestOnlyMerges(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": numbered(1, 20), "b.txt": "b\n"})
	w.cmd(w.person, "checkout", "-q", "-b", "work")
	before := w.commit("work", map[string]string{"a.txt": numbered(1, 19) + "mine\n"})
	w.cmd(w.person, "checkout", "-q", "main")
	w.commit("theirs", map[string]string{"a.txt": "theirs\n" + numbered(2, 20), "b.txt": "more\n"})
	merge := func() string {
		w.cmd(w.person, "merge", "-q", "--no-edit", "--no-ff", "main")
		return w.cmd(w.person, "rev-parse", "HEAD")
	}
	w.cmd(w.person, "checkout", "-q", "-b", "merged", before)
	merged := merge()
	added := w.commit("and more", map[string]string{"b.txt": "mine, too\n"})
	w.cmd(w.person, "checkout", "-q", "-b", "slipped", before)
	w.cmd(w.person, "merge", "-q", "--no-commit", "--no-ff", "main")
	w.write(w.person+"/b.txt", "slipped in\n")
	w.cmd(w.person, "commit", "-q", "-am", "merge")
	slipped := w.cmd(w.person, "rev-parse", "HEAD")
	w.cmd(w.person, "checkout", "-q", "-b", "reverted", before)
	w.commit("a secret", map[string]string{"secret.txt": "s\n"})
	w.cmd(w.person, "revert", "--no-edit", "HEAD")
	reverted := merge()
	w.cmd(w.person, "checkout", "-q", "-b", "other", "main")
	w.commit("elsewhere", map[string]string{"c.txt": "c\n"})
	w.cmd(w.person, "checkout", "-q", "-b", "merged-other", before)
	w.cmd(w.person, "merge", "-q", "--no-edit", "--no-ff", "other")
	other := w.cmd(w.person, "rev-parse", "HEAD")
	w.cmd(w.person, "checkout", "-q", "main")
	tip := w.commit("theirs again", map[string]string{"b.txt": "much more\n"})
	w.cmd(w.person, "checkout", "-q", "-b", "twice", merged)
	twice := merge()
	w.cmd(w.person, "push", "-q", "--all", "origin")
	w.fetch()
	for name, tt := range map[string]struct {
		after string
		only  bool
	}{
		"itself": {before, true}, "the base merged": {merged, true}, "the base merged twice": {twice, true}, "and a change": {added, false},
		"a change in the merge": {slipped, false}, "a change that was taken back": {reverted, false}, "another branch merged": {other, false},
	} {
		if only, err := w.mirror.OnlyMerges(t.Context(), tip, before, tt.after); err != nil || only != tt.only {
			t.Errorf("%s: %v, %v", name, only, err)
		}
	}
	if only, err := w.mirror.OnlyMerges(t.Context(), tip, merged, before); err != nil || only {
		t.Errorf("rewritten: %v, %v", only, err)
	}
}
