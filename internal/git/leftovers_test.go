package git

import (
	"slices"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/files"
)

// Placeholders that agents' programs leave are not committed, unless the repository has them or the
// agent filled them.
func TestLeftoversAreNotCommitted(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "a\n", ".npmrc": "", "yarn.lock": "x\n"})
	base := w.restore()
	w.put("a.txt", "new\n")
	w.put("package.json", "")
	w.put(".env.local", "")
	w.put("bun.lock", "{}")
	w.put("yarn.lock", "")
	w.put("empty.txt", "")
	w.put("sub/package.json", "")
	for _, name := range []string{".codex", ".agents", ".aws", "node_modules"} {
		w.mkdir(w.dir + "/" + name)
	}
	oid, err := w.mirror.KeepPartial(t.Context(), Partial{Key: key1, Dir: w.dir, Index: w.index, Parent: base, Date: day})
	w.check(err)
	kept, err := w.mirror.ChangedFiles(t.Context(), base, oid)
	w.check(err)
	w.put("package.json", "")
	got := w.mustCommit().Files
	slices.Sort(got)
	want := []string{"a.txt", "bun.lock", "empty.txt", "sub/package.json", "yarn.lock"}
	if !slices.Equal(got, want) || !slices.Equal(kept, want) {
		t.Errorf("committed %q, kept %q, want %q", got, kept, want)
	}
	if files.Exists(w.dir + "/.codex") {
		t.Error("an empty .codex stays, and codex warns about it in every run")
	}
}
