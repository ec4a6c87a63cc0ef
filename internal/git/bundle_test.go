package git

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// elsewhere returns a new mirror of the remote, as another machine has it.
func (w *world) elsewhere(name string) *Mirror {
	return w.git.Mirror(filepath.Join(w.root, name, "n.git"), w.remote, filepath.Join(w.root, name, "repo.lock"))
}

// bundled commits a change of the checkout as the turn's commit and returns its bundle.
func (w *world) bundled() (commit string, bundle []byte) {
	w.t.Helper()
	w.restore()
	w.put("a.txt", "changed\n")
	w.put("dir/new.txt", repeat("new\n", 100))
	commit = w.mustCommit().OID
	w.check(w.mirror.KeepTurn(w.t.Context(), key1, commit))
	bundle, ok, err := w.mirror.Bundle(w.t.Context(), key1, 1<<20)
	if err != nil || !ok {
		w.t.Fatalf("Bundle: %v, %v", ok, err)
	}
	return commit, bundle
}

// TestABundleCarriesATurnsCommit: a mirror that was never fetched gets the commit with all of its
// files, and keeps it. Repeated, that changes nothing.
func TestABundleCarriesATurnsCommit(t *testing.T) {
	w := newWorld(t, tree)
	ctx := t.Context()
	commit, bundle := w.bundled()
	there := w.elsewhere("b")
	t.Cleanup(there.Close)
	for range 2 {
		w.check(there.Unbundle(ctx, key1, commit, bundle))
	}
	if got := w.cmd(there.Dir(), "rev-parse", "refs/mergexo/turns/"+key1); got != commit {
		t.Errorf("kept %s, want %s", got, commit)
	}
	w.cmd(there.Dir(), "fsck", "--connectivity-only")
	if got := w.cmd(there.Dir(), "cat-file", "blob", commit+":a.txt"); got != "changed" {
		t.Errorf("a.txt = %q", got)
	}
	if err := there.Push(ctx, "agent/small/1-x", commit, ""); err != nil {
		t.Errorf("push from there: %v", err)
	}

	if _, ok, err := w.mirror.Bundle(ctx, key1, int64(len(bundle))-1); ok || err != nil {
		t.Errorf("a bundle over the limit: %v, %v", ok, err)
	}
	if _, ok, err := w.mirror.Bundle(ctx, key1, int64(len(bundle))); !ok || err != nil {
		t.Errorf("a bundle at the limit: %v, %v", ok, err)
	}
	if _, _, err := there.Bundle(ctx, "unknown", 1<<20); err == nil {
		t.Error("a turn without a commit has a bundle")
	}
}

// TestABundleCarriesAMerge: both parents are fetched.
func TestABundleCarriesAMerge(t *testing.T) {
	w := newWorld(t, tree)
	ctx := t.Context()
	g := w.conflict()
	w.restoreMerge(g)
	w.put("a.txt", "both\n")
	c := w.change()
	c.Parents, c.From = []string{g.Into, g.Other}, g.Tree
	made, err := w.mirror.CommitTree(ctx, c)
	w.check(err)
	w.check(w.mirror.KeepTurn(ctx, key1, made.OID))
	bundle, _, err := w.mirror.Bundle(ctx, key1, 1<<20)
	w.check(err)
	there := w.elsewhere("b")
	t.Cleanup(there.Close)
	w.check(there.Unbundle(ctx, key1, made.OID, bundle))
	w.cmd(there.Dir(), "fsck", "--connectivity-only")
}

// TestNothingOfABadBundleIsKept: a bundle that is damaged, or of another turn or commit, adds nothing
// to the mirror.
func TestNothingOfABadBundleIsKept(t *testing.T) {
	w := newWorld(t, tree)
	ctx := t.Context()
	commit, bundle := w.bundled()
	head, pack, _ := bytes.Cut(bundle, []byte("\n\n"))
	other := strings.Repeat("ab", 20)
	withPack := func(pack []byte) []byte { return slices.Concat(head, []byte("\n\n"), pack) }
	packOf := func(objects ...string) []byte {
		c := w.mirror.command("pack-objects", "--stdout", "--quiet")
		c.Stdin = []byte(strings.Join(objects, "\n"))
		res, err := c.Run(ctx)
		w.check(err)
		return res.Stdout
	}
	there := w.elsewhere("b")
	t.Cleanup(there.Close)
	w.check(there.Ensure(ctx))
	w.check(there.Fetch(ctx))
	for name, c := range map[string]struct {
		key, commit string
		bundle      []byte
	}{
		"nothing":             {key1, commit, nil},
		"no bundle":           {key1, commit, []byte("hello\n\nworld")},
		"of another turn":     {strings.Repeat("2", 64), commit, bundle},
		"of another commit":   {key1, other, bundle},
		"that only says so":   {key1, other, bytes.ReplaceAll(bundle, []byte(commit), []byte(other))},
		"without its pack":    {key1, commit, withPack(nil)},
		"cut":                 {key1, commit, bundle[:len(bundle)-7]},
		"of two refs":         {key1, commit, slices.Concat(head, fmt.Appendf(nil, "\n%s refs/heads/main\n\n", commit), pack)},
		"with a filter":       {key1, commit, bytes.Replace(bundle, []byte("# v2 git bundle\n"), []byte("# v3 git bundle\n@filter=blob:none\n"), 1)},
		"with the empty pack": {key1, commit, withPack(packOf())},
		"without its tree":    {key1, commit, withPack(packOf(commit))},
		"without its commit":  {key1, commit, withPack(packOf(w.cmd(w.mirror.Dir(), "rev-parse", commit+":dir/new.txt")))},
	} {
		err := there.Unbundle(ctx, c.key, c.commit, c.bundle)
		if _, ok := errors.AsType[*BundleError](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	rapid.Check(t, func(r *rapid.T) {
		bad := bytes.Clone(pack)
		bad[rapid.IntRange(0, len(bad)-1).Draw(r, "at")] ^= byte(rapid.IntRange(1, 255).Draw(r, "bits"))
		err := there.Unbundle(ctx, key1, commit, withPack(bad))
		if _, ok := errors.AsType[*BundleError](err); !ok {
			r.Errorf("%v", err)
		}
	})
	local, err := w.mirror.CommitFiles(ctx, Commit{Parents: []string{commit}, Message: "Next", Date: day, Turn: key1}, map[string][]byte{"next.txt": []byte("x")})
	w.check(err)
	w.check(w.mirror.KeepTurn(ctx, key1, local.OID))
	orphan, _, err := w.mirror.Bundle(ctx, key1, 1<<20)
	w.check(err)
	if missing, ok := errors.AsType[*MissingError](there.Unbundle(ctx, key1, local.OID, orphan)); !ok || missing.OID != commit {
		t.Errorf("a bundle that builds on a commit which the remote lacks: %v", missing)
	}
	if there.Has(ctx, commit) {
		t.Error("the commit came")
	}
	if got := w.cmd(there.Dir(), "for-each-ref", "refs/mergexo"); got != "" {
		t.Errorf("refs: %s", got)
	}
}
