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
