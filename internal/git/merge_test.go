package git

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// conflict makes two branches that change the same line, one also with a file of its own, and
// merges them.
func (w *world) conflict() Merge {
	w.t.Helper()
	into := w.commit("ours", map[string]string{"a.txt": "ours\n"})
	w.cmd(w.person, "checkout", "-q", "-b", "other", into+"~1")
	other := w.commit("theirs", map[string]string{"a.txt": "theirs\n", "workflow.txt": "theirs\n"})
	w.fetch()
	w.check(w.mirror.Fetch(w.t.Context(), other))
	g, err := w.mirror.Merge(w.t.Context(), into, other)
	w.check(err)
	return g
}

func (w *world) restoreMerge(g Merge) {
	w.t.Helper()
	r := w.wanted()
	r.Commit, r.Merge = g.Into, &g
	w.check(w.mirror.Restore(w.t.Context(), r))
}

func TestMergeInProgress(t *testing.T) {
	w := newWorld(t, tree)
	g := w.conflict()
	if !slices.Equal(g.Paths, []string{"a.txt"}) || g.Clean() || !strings.Contains(g.Log, "Merge conflict in a.txt") {
		t.Fatalf("merge %+v", g)
	}
	w.restoreMerge(g)
	if got := w.read(filepath.Join(w.dir, "a.txt")); !strings.Contains(got, "<<<<<<<") || !strings.Contains(got, "ours") || !strings.Contains(got, "theirs") {
		t.Errorf("a.txt = %q", got)
	}
	if got := w.cmd(w.dir, "status", "--porcelain"); got != "UU a.txt\nA  workflow.txt" {
		t.Errorf("the agent's status = %q", got)
	}
	if got := w.cmd(w.dir, "rev-parse", "HEAD", "MERGE_HEAD"); got != g.Into+"\n"+g.Other {
		t.Errorf("HEAD and MERGE_HEAD = %q", got)
	}
	c := Commit{
		Dir: w.dir, Index: w.index, Parents: []string{g.Into, g.Other}, From: g.Tree, Message: "Merge", Date: day, Turn: key1,
		Limits: Limits{MaxFiles: 1, Protected: []string{"workflow.txt"}},
	}
	var refused *RefusedError
	if _, err := w.mirror.CommitTree(t.Context(), c); !errors.As(err, &refused) || !strings.Contains(refused.Reason, "conflict markers") {
		t.Fatalf("markers were left, and the commit says %v", err)
	}
	w.put("a.txt", "both\n")
	made, err := w.mirror.CommitTree(t.Context(), c)
	w.check(err)
	if got := w.cmd(w.mirror.Dir(), "show", "-s", "--format=%P", made.OID); got != g.Into+" "+g.Other {
		t.Errorf("parents = %q", got)
	}
	if got := w.cmd(w.mirror.Dir(), "show", made.OID+":a.txt", made.OID+":workflow.txt"); got != "both\ntheirs" {
		t.Errorf("files = %q", got)
	}
}

func TestMergeThatIsClean(t *testing.T) {
	w := newWorld(t, tree)
	into := w.commit("ours", map[string]string{"a.txt": "ours\n"})
	w.cmd(w.person, "checkout", "-q", "-b", "other", into+"~1")
	other := w.commit("theirs", map[string]string{"dir/b.txt": "theirs\n"})
	w.fetch()
	w.check(w.mirror.Fetch(t.Context(), other))
	g, err := w.mirror.Merge(t.Context(), into, other)
	w.check(err)
	if !g.Clean() || !validOID(g.Tree) {
		t.Errorf("merge %+v", g)
	}
}

// Deletions and renames on both sides give conflicting paths without markers.
func TestMergeOfADeletedFile(t *testing.T) {
	w := newWorld(t, tree)
	into := w.commit("ours", map[string]string{"dir/b.txt": "changed\n"})
	w.cmd(w.person, "checkout", "-q", "-b", "other", into+"~1")
	w.cmd(w.person, "rm", "-q", "dir/b.txt")
	other := w.commit("theirs", nil)
	w.fetch()
	w.check(w.mirror.Fetch(t.Context(), other))
	g, err := w.mirror.Merge(t.Context(), into, other)
	w.check(err)
	if !slices.Equal(g.Paths, []string{"dir/b.txt"}) {
		t.Fatalf("merge %+v", g)
	}
	w.restoreMerge(g)
	if got := w.cmd(w.dir, "status", "--porcelain"); got != "UD dir/b.txt" {
		t.Errorf("the agent's status = %q", got)
	}
}
