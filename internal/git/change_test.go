package git

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// notText has a NUL byte and is no text.
const notText = "\x89PNG\x00\xff\xfe"

func TestChanges(t *testing.T) {
	pointer := "version https://git-lfs.github.com/spec/v1\noid sha256:" + repeat("a", 64) + "\nsize 5\n"
	w := newWorld(t, map[string]string{
		"a.go": numbered(1, 20), "old name.txt": numbered(1, 9), "gone.txt": "one\ntwo\n", "logo.png": notText, "huge.json": repeat("x\n", 1<<20),
		".gitattributes": "gen/* linguist-generated\n*.go -diff\n", "sub/.gitattributes": "*.js linguist-generated=true\n", "model.bin": pointer,
	})
	from := w.cmd(w.person, "rev-parse", "HEAD")
	w.cmd(w.person, "mv", "old name.txt", "ünew\tname.txt")
	w.cmd(w.person, "rm", "-q", "gone.txt")
	w.check(os.Chmod(filepath.Join(w.person, "logo.png"), 0o755))
	to := w.commit("second", map[string]string{
		"a.go":           numbered(1, 9) + "changed\n@@ -1,2 +1,900 @@\n+++ b/elsewhere.txt\ndiff --git a/x b/x\n" + numbered(11, 20) + "no end",
		"ünew\tname.txt": numbered(1, 9) + "one more\n", "huge.json": repeat("y\n", 1<<20), "z.js": "/*\x00*/\n" + repeat("evil()\n", 500),
		"gen/api.ts": "x\n", "sub/d/b.js": "x\n", "own.md": "x\n", ".gitattributes": "own.md linguist-generated\n", "model.bin": strings.ReplaceAll(pointer, "a", "b"),
		"latin.txt": "caf\xe9\n", "empty.txt": "", "new.png": notText + "\n",
	})
	w.fetch()
	w.check(w.mirror.Fetch(t.Context(), to))
	all, err := w.mirror.Changes(t.Context(), from, to, from)
	w.check(err)
	type seen struct {
		lines              int
		counted, generated bool
	}
	want := map[string]seen{
		"a.go": {lines: 6, counted: true}, "ünew\tname.txt": {lines: 19, counted: true}, "gone.txt": {lines: 2, counted: true}, "huge.json": {lines: 1},
		"z.js": {lines: 501, counted: true}, "gen/api.ts": {1, true, true}, "sub/d/b.js": {1, true, true}, "own.md": {lines: 1, counted: true},
		".gitattributes": {lines: 3, counted: true}, "model.bin": {lines: 1}, "latin.txt": {lines: 1, counted: true}, "empty.txt": {lines: 1, counted: true},
		"new.png": {lines: 1}, "logo.png": {lines: 1, counted: true}, // only its mode changes
	}
	for _, f := range all {
		if got := (seen{f.Lines, f.Counted, f.Generated}); got != want[f.Path] {
			t.Errorf("%s: %+v, want %+v", f.Path, got, want[f.Path])
		}
		if f.Counted != (f.Text != "") || f.Counted && !strings.HasPrefix(f.Text, "diff --git ") || strings.Count(f.Text, "\ndiff --git a/") > 0 {
			t.Errorf("%s: counted %v, text %q", f.Path, f.Counted, f.Text)
		}
		delete(want, f.Path)
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}

	w.cmd(w.root, "clone", "-q", w.remote, w.dir)
	for range 2 {
		w.check(layOut(t.Context(), w.mirror, w.dir, all))
	}
	at := filepath.Join(w.dir, Beside)
	diff := w.read(filepath.Join(at, "change.diff"))
	for _, says := range []string{"\n-one\n-two\n", "\n+evil()\n", `("huge.json" is not in this file: `, "rename from old name.txt"} {
		if !strings.Contains(diff, says) {
			t.Errorf("change.diff lacks %q", says)
		}
	}
	for name, content := range map[string]string{"gone.txt": "one\ntwo\n", "old name.txt": numbered(1, 9), "huge.json": repeat("x\n", 1<<20), "a.go": numbered(1, 20)} {
		if got := w.read(filepath.Join(at, "base", name)); got != content {
			t.Errorf("base/%s has %d bytes", name, len(got))
		}
	}
	if _, err := os.Lstat(filepath.Join(at, "base", "own.md")); err == nil {
		t.Error("a new file is among those of the base")
	}
}

// What a difference shows is all that is there: no byte is left out, and no part of a line looks like
// another line.
func TestADifferenceShowsEachByte(t *testing.T) {
	w := newWorld(t, map[string]string{"a.js": "x\n", "dos.txt": "a\r\nb\r\n"})
	from := w.cmd(w.person, "rev-parse", "HEAD")
	to := w.commit("second", map[string]string{"a.js": "x\n// fixed\r-evil()\r old()\r\n", "dos.txt": "a\r\nc\r\n", "blob": repeat("\xff\x90", 3) + "\ufffd\n"})
	w.fetch()
	w.check(w.mirror.Fetch(t.Context(), to))
	all, err := w.mirror.Changes(t.Context(), from, to, from)
	w.check(err)
	want := map[string]string{
		"a.js": " x\n+// fixed\\u{d}-evil()\\u{d} old()\r\n", "dos.txt": " a\r\n-b\r\n+c\r\n", "blob": `+\x{ff}\x{90}\x{ff}\x{90}\x{ff}\x{90}` + "\ufffd\n",
	}
	for _, f := range all {
		if !f.Counted || !strings.HasSuffix(f.Text, "@@\n"+want[f.Path]) {
			t.Errorf("%s: %q", f.Path, f.Text)
		}
		delete(want, f.Path)
	}
	if len(want) > 0 {
		t.Errorf("missing: %q", want)
	}
}

// Base and branch that merged each other have two merge bases. From one of them, a head that threw
// away what the base did changes nothing.
func TestChangesFromSeveralMergeBases(t *testing.T) {
	w := newWorld(t, map[string]string{"lock": "open\n", "both": "1\n2\n"})
	w.cmd(w.person, "checkout", "-q", "-b", "side")
	w.commit("side", map[string]string{"side": "s\n"})
	w.cmd(w.person, "checkout", "-q", "-b", "fix", "main")
	fixed := w.commit("fix", map[string]string{"lock": "locked\n", "both": "1\n2 fixed\n"})
	w.cmd(w.person, "checkout", "-q", "main")
	w.cmd(w.person, "merge", "-q", "--no-ff", "-m", "both", "fix", "side")
	w.cmd(w.person, "push", "-q", "origin", "main")
	w.cmd(w.person, "checkout", "-q", "-b", "head", "side")
	w.cmd(w.person, "merge", "-q", "-s", "ours", "-m", "ours", fixed)
	head := w.commit("head", map[string]string{"own": "o\n", "both": "1 too\n2\n"})
	w.fetch()
	w.check(w.mirror.Fetch(t.Context(), head))
	bases, err := w.mirror.MergeBases(t.Context(), w.main(), head)
	w.check(err)
	if strings.Count(bases, "-") != 1 {
		t.Fatalf("merge bases %q", bases)
	}
	all, err := w.mirror.Changes(t.Context(), bases, head, "")
	w.check(err)
	got := map[string]string{}
	lines := 0
	for _, f := range all {
		got[f.Path] = f.Text
		lines += f.Lines
	}
	for path, want := range map[string]string{"lock": "-locked\n+open\n", "both": "-2 fixed\n", "own": "+o\n", "side": "+s\n"} {
		if !strings.Contains(got[path], want) {
			t.Errorf("%s: %q", path, got[path])
		}
	}
	if len(got) != 4 || strings.Count(got["own"], "diff --git") != 1 || strings.Count(got["both"], "diff --git") != 2 || lines != 2+2+4+1+1 {
		t.Errorf("%d lines of %q", lines, got)
	}
}

// One long file takes no room from another, in any order.
func TestNoFileHidesAnother(t *testing.T) {
	w := newWorld(t, map[string]string{"README.md": "x\n"})
	from := w.cmd(w.person, "rev-parse", "HEAD")
	to := w.commit("second", map[string]string{"a.json": repeat("long\n", 1<<20), "d": "file\n", "z/b.go": "y\n"})
	w.fetch()
	w.check(w.mirror.Fetch(t.Context(), to))
	all, err := w.mirror.Changes(t.Context(), from, to, "")
	w.check(err)
	counted := func(f FileChange) bool { return !f.Counted }
	if len(all) != 3 || slices.IndexFunc(all, counted) != 0 || all[2].Lines != 1 || all[0].Size != 5<<20 {
		t.Errorf("%+v", all)
	}
}
