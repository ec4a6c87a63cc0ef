package git

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/testhome"
)

func TestMirrorSettings(t *testing.T) {
	w := newWorld(t, tree)
	w.fetch()
	for key, want := range map[string]string{"core.bare": "true", "gc.auto": "0", "maintenance.auto": "false", "core.fsync": "committed"} {
		if got := w.cmd(w.mirror.Dir(), "config", "--local", key); got != want {
			t.Errorf("%s = %q", key, got)
		}
	}
	if got, _ := w.try(w.mirror.Dir(), "config", "--local", "--get-regexp", "^(remote|branch)[.]"); got != "" {
		t.Errorf("remotes = %q", got)
	}
	info, err := os.Stat(w.mirror.Dir())
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode = %v, %v", info.Mode(), err)
	}
}

// An incomplete or damaged mirror is repaired, and our own refs survive.
func TestMirrorIsMended(t *testing.T) {
	testhome.NotShort(t)
	at := func(w *world, name string) string { return filepath.Join(w.mirror.Dir(), name) }
	for name, spoil := range map[string]func(w *world){
		"half made":         func(w *world) { w.check(os.Remove(at(w, "mergexo-mirror"))) },
		"no HEAD":           func(w *world) { w.check(os.Remove(at(w, "HEAD"))) },
		"HEAD is garbage":   func(w *world) { w.write(at(w, "HEAD"), "\x00\x00") },
		"no config":         func(w *world) { w.check(os.Remove(at(w, "config"))) },
		"config is garbage": func(w *world) { w.write(at(w, "config"), "[core\nbare = maybe") },
		"a ref is garbage":  func(w *world) { w.write(at(w, "refs/remotes/origin/main"), "") },
		"a ref points to nothing": func(w *world) {
			w.write(at(w, "refs/remotes/origin/main"), strings.Repeat("1", 40)+"\n")
			w.write(at(w, "refs/remotes/origin/other"), strings.Repeat("2", 40)+"\n")
		},
		"objects of the remote are gone": func(w *world) {
			oid := w.cmd(w.person, "rev-parse", "HEAD^{tree}")
			w.check(os.Remove(at(w, "objects/"+oid[:2]+"/"+oid[2:])))
		},
		"an object is cut": func(w *world) {
			oid := w.cmd(w.person, "rev-parse", "HEAD")
			p := at(w, "objects/"+oid[:2]+"/"+oid[2:])
			w.check(os.Chmod(p, 0o600))
			w.write(p, "cut")
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, tree)
			w.fetch()
			turn := w.next(w.main(), "paid for, too")
			w.check(w.mirror.KeepTurn(t.Context(), key1, turn))
			spoil(w)
			w.commit("more", map[string]string{"more": "m"})
			w.restore()
			want := clean()
			want["more"] = "m"
			w.wantFiles(want)
			if got, ok := w.kept(key1); !ok || got != turn || w.show(got, "next.txt") != "paid for, too" {
				t.Errorf("turn = %q %v", got, ok)
			}
		})
	}
}

func TestMirrorBeyondRepairIsRemade(t *testing.T) {
	testhome.NotShort(t)
	w := newWorld(t, tree)
	w.fetch()
	w.check(os.RemoveAll(w.mirror.Dir()))
	w.write(w.mirror.Dir(), "a file")
	w.restore()
	w.wantFiles(clean())

	// A truncated pack loses the remote's objects. Our commit, of loose objects, survives.
	w.repack()
	w.check(w.mirror.KeepTurn(t.Context(), key1, w.next(w.main(), "paid for")))
	packs, err := filepath.Glob(filepath.Join(w.mirror.Dir(), "objects", "pack", "*"))
	w.check(err)
	for _, p := range packs {
		w.check(os.Chmod(p, 0o600))
		w.check(os.Truncate(p, 40))
	}
	w.check(os.RemoveAll(w.dir))
	w.restore()
	w.wantFiles(clean())
	if got, ok := w.kept(key1); !ok || w.show(got, "next.txt") != "paid for" {
		t.Errorf("turn = %q %v", got, ok)
	}
}

func TestRepairWithoutTheRemoteChangesNothing(t *testing.T) {
	w := newWorld(t, tree)
	w.fetch()
	main := w.main()
	w.check(w.mirror.KeepTurn(t.Context(), key1, main))
	w.check(os.Rename(w.remote, w.remote+".away"))
	if err := w.mirror.Fetch(t.Context()); err == nil {
		t.Fatal("fetched from nowhere")
	}
	if got, ok := w.kept(key1); got != main || !ok {
		t.Errorf("turn = %q %v", got, ok)
	}
	if got := w.main(); got != main {
		t.Errorf("main = %q", got)
	}
}

// Nothing that a killed git leaves is in the way of the next one, nor stays: parts of packs have the
// size of what was fetched.
func TestStaleFiles(t *testing.T) {
	testhome.NotShort(t)
	w := newWorld(t, tree)
	w.restore()
	w.check(w.mirror.KeepTurn(t.Context(), key1, w.main()))
	stale := []string{
		"packed-refs.lock", "HEAD.lock", "index.lock", "config.lock", "refs/remotes/origin/main.lock", "refs/mergexo/turns/" + key1 + ".lock",
		"objects/info/commit-graph.lock", "objects/pack/tmp_pack_AbCdEf", "objects/pack/tmp_idx_AbCdEf", "objects/ab/tmp_obj_AbCdEf",
		"objects/tmp_objdir-bulk-fsync-AbCdEf/ab/cdef",
	}
	for _, name := range stale {
		w.write(filepath.Join(w.mirror.Dir(), name), "")
	}
	w.commit("more", map[string]string{"x": "x"})
	w.restore()
	for _, name := range stale {
		if _, err := os.Lstat(filepath.Join(w.mirror.Dir(), name)); err == nil {
			t.Errorf("%s stays", name)
		}
	}
	w.check(w.mirror.DropTurns(t.Context(), key1))
	w.repack()
	if got, ok := w.kept(key1); ok {
		t.Errorf("turn = %q", got)
	}
}

func TestFourFetchesAtOnce(t *testing.T) {
	testhome.OnlyLong(t)
	w := newWorld(t, tree)
	w.fetch()
	for i := range 3 {
		for b := range 5 {
			w.cmd(w.person, "push", "-q", "-f", "origin", "HEAD:refs/heads/b"+string(rune('0'+b)))
		}
		w.commit("more", map[string]string{"x": repeat("x", i)})
		errs := make([]error, 4)
		var wg sync.WaitGroup
		for n := range errs {
			m := w.mirrorOf(w.remote) // as another process would open it
			wg.Go(func() { errs[n] = m.Fetch(t.Context()) })
		}
		wg.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Error(err)
		}
	}
}

func TestFetchFollowsTheRemote(t *testing.T) {
	w := newWorld(t, tree)
	w.cmd(w.person, "push", "-q", "origin", "HEAD:refs/heads/agent/a", "HEAD:refs/heads/agent/small/1-x", "HEAD:refs/heads/agent/small/12-y")
	w.cmd(w.person, "tag", "v1")
	w.cmd(w.person, "push", "-q", "origin", "v1")
	w.fetch()
	old := w.main()
	w.check(w.mirror.KeepTurn(t.Context(), key1, old))
	heads, err := w.mirror.RemoteHeads(t.Context(), "agent/small/1-")
	if want := map[string]string{"agent/small/1-x": old}; err != nil || !maps.Equal(heads, want) {
		t.Errorf("heads = %v, %v", heads, err)
	}
	w.cmd(w.person, "push", "-q", "origin", ":agent/a", ":agent/small/1-x")
	w.cmd(w.person, "push", "-q", "origin", "HEAD:refs/heads/agent/a/b") // a folder replaces a file
	w.cmd(w.person, "commit", "-q", "--amend", "--allow-empty", "-m", "rewritten")
	w.cmd(w.person, "push", "-q", "-f", "origin", "HEAD")
	w.fetch()
	if _, ok, err := w.mirror.Head(t.Context(), "agent/a"); ok || err != nil {
		t.Errorf("a: %v %v", ok, err)
	}
	if _, ok, err := w.mirror.Head(t.Context(), "agent/a/b"); !ok || err != nil {
		t.Errorf("a/b: %v %v", ok, err)
	}
	if !w.mirror.Has(t.Context(), old) || w.main() == old {
		t.Errorf("main = %s, was %s", w.main(), old)
	}
	if got := w.cmd(w.mirror.Dir(), "tag"); got != "" {
		t.Errorf("tags = %q", got)
	}
	if got, ok := w.kept(key1); got != old || !ok {
		t.Errorf("turn = %q %v", got, ok)
	}
}

func TestFetchWantsACommit(t *testing.T) {
	w := newWorld(t, tree)
	w.cmd(w.remote, "config", "uploadpack.allowAnySHA1InWant", "true")
	hidden := w.cmd(w.person, "commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "hidden")
	w.cmd(w.person, "push", "-q", "origin", hidden+":refs/pull/1/head")
	w.fetch()
	if w.mirror.Has(t.Context(), hidden) {
		t.Fatal("it came by itself")
	}
	w.check(w.mirror.Fetch(t.Context(), hidden, w.main()))
	if !w.mirror.Has(t.Context(), hidden) {
		t.Error("it did not come")
	}
	var missing *MissingError
	if err := w.mirror.Fetch(t.Context(), strings.Repeat("a", 40)); !errors.As(err, &missing) {
		t.Errorf("err = %v", err)
	}
	if err := w.mirror.Fetch(t.Context(), "--upload-pack=x"); err == nil {
		t.Error("took an option for an object id")
	}
}

func TestEmptyRepository(t *testing.T) {
	w := newWorld(t, nil)
	w.fetch()
	ctx := t.Context()
	if _, ok, err := w.mirror.Head(ctx, "main"); ok || err != nil {
		t.Errorf("head: %v %v", ok, err)
	}
	c, err := w.mirror.CommitFiles(ctx, Commit{Message: "First", Date: day, Turn: key1}, map[string][]byte{"x": []byte("x")})
	w.check(err)
	w.check(w.mirror.Push(ctx, "main", c.OID, ""))
	w.restore()
	w.wantFiles(map[string]string{"x": "x"})
}

func TestDefaultBranchRenamed(t *testing.T) {
	w := newWorld(t, tree)
	w.fetch()
	w.cmd(w.remote, "branch", "-m", "main", "trunk")
	w.fetch()
	if _, ok, err := w.mirror.Head(t.Context(), "trunk"); !ok || err != nil {
		t.Errorf("trunk: %v %v", ok, err)
	}
}

// What a fetch costs does not grow with the branches that it has read: their refs do not stay files of
// their own. None is lost, nor is one of ours.
func TestRefsOfManyBranchesArePacked(t *testing.T) {
	w := newWorld(t, tree)
	push := []string{"push", "-q", "origin"}
	for i := range manyLooseRefs {
		push = append(push, fmt.Sprintf("HEAD:refs/heads/agent/small/%d-x", i))
	}
	w.cmd(w.person, push...)
	w.fetch()
	main := w.main()
	w.check(w.mirror.KeepTurn(t.Context(), key1, main))
	before, err := w.mirror.Heads(t.Context())
	w.check(err)
	w.fetch()
	var loose []string
	w.check(filepath.WalkDir(w.mirror.path("refs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			loose = append(loose, path)
		}
		return err
	}))
	if len(loose) > 0 {
		t.Errorf("%d of %d refs have a file: %q", len(loose), len(before)+2, loose)
	}
	after, err := w.mirror.Heads(t.Context())
	if err != nil || len(before) <= manyLooseRefs || !maps.Equal(before, after) {
		t.Errorf("branches %v became %v, %v", before, after, err)
	}
	if got, ok := w.kept(key1); got != main || !ok {
		t.Errorf("turn = %q %v", got, ok)
	}
}

func TestKeptTurns(t *testing.T) {
	testhome.OnlyLong(t)
	w := newWorld(t, tree)
	ctx := t.Context()
	w.fetch()
	w.check(w.mirror.KeepTurn(ctx, key1, w.main()))
	w.repack()
	kept, err := w.mirror.KeptTurns(ctx)
	if err != nil || len(kept) != 1 || kept[0].Key != key1 || kept[0].At.IsZero() {
		t.Errorf("turns = %+v, %v", kept, err)
	}
	w.check(w.mirror.DropTurns(ctx, key1))
	w.check(w.mirror.DropTurns(ctx, key1))
	if _, ok := w.kept(key1); ok {
		t.Error("a dropped turn is kept")
	}
	if err := w.git.Mirror(filepath.Join(w.root, "none.git"), w.remote, w.lock()).DropTurns(ctx, key1); err != nil {
		t.Errorf("dropped from a mirror that is gone: %v", err)
	}
	for _, bad := range []string{"", "../x", "a b", "-x", "x.lock"} {
		if err := w.mirror.KeepTurn(ctx, bad, w.main()); err == nil {
			t.Errorf("key %q accepted", bad)
		}
	}
	if err := w.mirror.KeepTurn(ctx, "abc", strings.Repeat("1", 40)); err == nil {
		t.Error("kept a commit that is not there")
	}
}

// Objects and refs are synced before a command returns.
func TestCommandsSync(t *testing.T) {
	w := newWorld(t, tree)
	w.fetch()
	trace := filepath.Join(w.root, "trace")
	w.write(filepath.Join(w.root, "git"), "#!/bin/sh\nexport GIT_TRACE2_EVENT="+trace+"\nexec git \"$@\"\n")
	w.check(os.Chmod(filepath.Join(w.root, "git"), 0o755))
	w.open(Options{Bin: filepath.Join(w.root, "git")})
	w.check(os.Remove(trace))
	w.check(w.mirror.KeepTurn(t.Context(), key1, w.main()))
	if n := strings.Count(w.read(trace), "fsync/hardware-flush"); n < 1 {
		t.Errorf("%d flushes, want that of the ref", n)
	}
}

// fake replaces git by a script.
func (w *world) fake(script string) string {
	w.t.Helper()
	path := filepath.Join(w.root, "bin", "git")
	syscall.ForkLock.RLock() // a child forked now would hold the file open, and it could not be run
	defer syscall.ForkLock.RUnlock()
	w.write(path, "#!/bin/sh\n"+script)
	w.check(os.Chmod(path, 0o755))
	return path
}

// A full disk gives an error; once there is space, everything works.
func TestDiskFull(t *testing.T) {
	w := newWorld(t, tree)
	w.restore()
	w.check(w.mirror.KeepTurn(t.Context(), key1, w.next(w.main(), "paid for")))
	main := w.main()
	limited := w.fake("case \"$*\" in *receive-pack*|*upload-pack*) ;; *) ulimit -f 4 ;; esac\nexec git \"$@\"\n")
	w.open(Options{Bin: limited})
	w.put("big", noise(100_000))
	if _, err := w.commitTree(); err == nil {
		t.Error("committed without room")
	}
	w.commit("big", map[string]string{"pushed": noise(100_000)})
	if err := w.mirror.Fetch(t.Context()); err == nil {
		t.Error("fetched without room")
	}
	w.open(Options{})
	if got := w.main(); got != main {
		t.Errorf("main = %q", got)
	}
	w.cmd(w.mirror.Dir(), "fsck", "--full")
	w.restore()
	if got, ok := w.kept(key1); !ok || w.show(got, "next.txt") != "paid for" {
		t.Errorf("turn = %q %v", got, ok)
	}
}

// noise returns bytes that do not compress.
func noise(n int) string {
	b := make([]byte, n)
	x := uint32(1)
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	return string(b)
}
