package git

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/testhome"
)

const branch = "agent/small/1-x"

// pushed makes a world with our commit pushed as the branch.
func pushed(t *testing.T) (*world, string) {
	t.Helper()
	w := newWorld(t, tree)
	w.restore()
	w.put("a.txt", "ours\n")
	c := w.mustCommit()
	w.check(w.mirror.Push(t.Context(), branch, c.OID, ""))
	return w, c.OID
}

// next makes our commit on top of another.
func (w *world) next(parent, content string) string {
	w.t.Helper()
	c, err := w.mirror.CommitFiles(w.t.Context(), Commit{Parents: []string{parent}, Message: "Next", Date: day, Turn: key1},
		map[string][]byte{"next.txt": []byte(content)})
	w.check(err)
	return c.OID
}

func (w *world) remoteHead() string {
	w.t.Helper()
	heads, err := w.mirror.RemoteHeads(w.t.Context(), branch)
	w.check(err)
	return heads[branch]
}

func TestPush(t *testing.T) {
	w, oid := pushed(t)
	if got := w.remoteHead(); got != oid {
		t.Errorf("remote = %q", got)
	}
	w.check(w.mirror.Fetch(t.Context())) // updates the tracking refs
	if got, ok, err := w.mirror.Head(t.Context(), branch); got != oid || !ok || err != nil {
		t.Errorf("known head = %q %v %v", got, ok, err)
	}
	two := w.next(oid, "2")
	w.check(w.mirror.Push(t.Context(), branch, two, oid))
	w.check(w.mirror.Push(t.Context(), branch, two, oid)) // it is there already
	if got := w.remoteHead(); got != two {
		t.Errorf("remote = %q", got)
	}
}

func wantLease(t *testing.T, err error) {
	t.Helper()
	if _, ok := errors.AsType[*LeaseError](err); !ok {
		t.Errorf("err = %v, want a LeaseError", err)
	}
}

func TestSomebodyPushedMeanwhile(t *testing.T) {
	w, oid := pushed(t)
	w.cmd(w.person, "fetch", "-q")
	w.cmd(w.person, "checkout", "-q", branch)
	theirs := w.commit("theirs", map[string]string{"t": "t"})
	two := w.next(oid, "2")
	wantLease(t, w.mirror.Push(t.Context(), branch, two, oid))
	if got := w.remoteHead(); got != theirs {
		t.Errorf("their commit is gone: %q", got)
	}
	w.fetch()
	r, err := w.mirror.Replay(t.Context(), two, theirs)
	w.check(err)
	w.check(w.mirror.Push(t.Context(), branch, r.OID, theirs))
	if w.show(r.OID, "t") != "t" || w.show(r.OID, "next.txt") != "2" {
		t.Error("one of the changes is gone")
	}
}

func TestRewrittenAndDeleted(t *testing.T) {
	w, oid := pushed(t)
	two := w.next(oid, "2")
	// The lease would hold, but history would be rewritten.
	if err := w.mirror.Push(t.Context(), branch, w.next(w.main(), "3"), oid); err == nil || w.remoteHead() != oid {
		t.Errorf("pushed what does not descend from the old head: %v", err)
	}
	w.cmd(w.person, "push", "-q", "-f", "origin", "main:"+branch)
	wantLease(t, w.mirror.Push(t.Context(), branch, two, oid))
	if got := w.remoteHead(); got != w.main() {
		t.Errorf("remote = %q", got)
	}
	w.cmd(w.person, "push", "-q", "origin", ":"+branch)
	wantLease(t, w.mirror.Push(t.Context(), branch, two, oid))
	if got := w.remoteHead(); got != "" {
		t.Errorf("remote = %q", got)
	}
}

func TestNewBranchThatExists(t *testing.T) {
	w, oid := pushed(t)
	wantLease(t, w.mirror.Push(t.Context(), branch, w.next(oid, "2"), ""))
	// A branch whose name conflicts with another branch is no race.
	err := w.mirror.Push(t.Context(), branch+"/deeper", oid, "")
	if err == nil {
		t.Error("pushed")
	}
}

func TestPushOfWhatIsNotThere(t *testing.T) {
	w, oid := pushed(t)
	var missing *MissingError
	if err := w.mirror.Push(t.Context(), "x", strings.Repeat("1", 40), ""); !errors.As(err, &missing) {
		t.Errorf("err = %v", err)
	}
	if err := w.mirror.Push(t.Context(), "x:y", oid, ""); err == nil {
		t.Error("pushed to x:y")
	}
}

func (w *world) hook(name, script string) {
	w.t.Helper()
	path := filepath.Join(w.remote, "hooks", name)
	w.write(path, "#!/bin/sh\n"+script)
	w.check(os.Chmod(path, 0o755))
}

func TestRejected(t *testing.T) {
	w, oid := pushed(t)
	w.hook("pre-receive", "echo 'error: GH006: Protected branch update failed for refs/heads/x.' >&2; exit 1\n")
	err := w.mirror.Push(t.Context(), branch, w.next(oid, "2"), oid)
	var rejected *RejectedError
	if !errors.As(err, &rejected) || !strings.Contains(rejected.Reason, "GH006") || !strings.Contains(rejected.Hint, "rules") {
		t.Fatalf("err = %#v", err)
	}
}

// Without permission GitHub answers 403 before any status line.
func TestNoPermission(t *testing.T) {
	w, oid := pushed(t)
	two := w.next(oid, "2")
	hub := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/plain")
		rw.WriteHeader(http.StatusForbidden)
		fmt.Fprintln(rw, "Permission to acme/app.git denied to operator.")
	}))
	defer hub.Close()
	w.mirror = w.mirrorOf(hub.URL + "/acme/app.git")
	var rejected *RejectedError
	err := w.mirror.Push(t.Context(), branch, two, oid)
	if !errors.As(err, &rejected) || !strings.Contains(rejected.Reason, "the account may not push to the repository") || !strings.Contains(rejected.Hint, "gh auth login") {
		t.Errorf("err = %#v", err)
	}
}

// The answer to the push is lost.
func TestAnswerLost(t *testing.T) {
	w, oid := pushed(t)
	two := w.next(oid, "2")
	w.hook("pre-receive", "kill -9 $PPID\n")
	err := w.mirror.Push(t.Context(), branch, two, oid)
	if _, ok := errors.AsType[*UnclearError](err); !ok {
		t.Errorf("not applied: err = %v", err)
	}
	w.check(os.Remove(filepath.Join(w.remote, "hooks", "pre-receive")))
	w.hook("post-receive", "kill -9 $PPID\n")
	w.check(w.mirror.Push(t.Context(), branch, two, oid)) // it looked
	if got := w.remoteHead(); got != two {
		t.Errorf("remote = %q", got)
	}
}

func TestPushTimesOut(t *testing.T) {
	testhome.OnlyLong(t)
	w, oid := pushed(t)
	two := w.next(oid, "2")
	w.hook("pre-receive", "exec sleep 30\n")
	w.open(Options{NetTimeout: 700 * time.Millisecond})
	began := time.Now()
	err := w.mirror.Push(t.Context(), branch, two, oid)
	var unclear *UnclearError
	if !errors.As(err, &unclear) || time.Since(began) > 20*time.Second {
		t.Errorf("err = %v after %v", err, time.Since(began))
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(300*time.Millisecond, cancel)
	w.open(Options{})
	if err := w.mirror.Push(ctx, branch, two, oid); !errors.As(err, &unclear) || !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}

func TestCarries(t *testing.T) {
	testhome.NotShort(t)
	w, oid := pushed(t)
	ctx := t.Context()
	w.cmd(w.person, "fetch", "-q")
	w.cmd(w.person, "checkout", "-q", branch)
	top := w.commit("theirs on top", map[string]string{"t": "t"})
	w.cmd(w.person, "checkout", "-q", "main")
	w.commit("elsewhere", map[string]string{"e": "e"})
	w.cmd(w.person, "cherry-pick", oid)
	w.cmd(w.person, "push", "-q", "origin", "HEAD:refs/heads/picked")
	picked := w.cmd(w.person, "rev-parse", "HEAD")
	w.fetch()
	missing := strings.Repeat("1", 40)
	other := strings.Repeat("2", 64)
	for _, c := range []struct {
		name, head, key, oid string
		want                 bool
	}{
		{"itself", oid, key1, oid, true},
		{"below a person's", top, key1, oid, true},
		{"below, without its key", top, other, oid, true},
		{"by trailer", picked, key1, oid, true},
		{"by trailer, its commit gone", picked, key1, missing, true},
		{"by trailer alone", picked, key1, "", true},
		{"another turn", picked, other, oid, false},
		{"not at all", w.main(), key1, oid, false},
	} {
		if got, err := w.mirror.ContainsTurn(ctx, c.head, c.key, c.oid); got != c.want || err != nil {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
	}
	var lost *MissingError
	if _, err := w.mirror.ContainsTurn(ctx, missing, key1, oid); !errors.As(err, &lost) {
		t.Errorf("err = %v", err)
	}
}

func TestReplay(t *testing.T) {
	testhome.NotShort(t)
	w := newWorld(t, map[string]string{"a.txt": repeat("line\n", 20), "b.txt": "b\n"})
	w.fetch()
	ctx := t.Context()
	base := w.main()
	commit := func(parent, name, content string) string {
		c, err := w.mirror.CommitFiles(ctx, Commit{Parents: []string{parent}, Message: "C", Date: day, Turn: key1, Handled: []string{"1:issue:2:aa"}},
			map[string][]byte{name: []byte(content)})
		w.check(err)
		return c.OID
	}
	person := w.commit("theirs", map[string]string{"a.txt": "top\n" + repeat("line\n", 20)})
	w.fetch()

	ours := commit(base, "a.txt", repeat("line\n", 20)+"end\n")
	r, err := w.mirror.Replay(ctx, ours, person)
	w.check(err)
	if r.Conflict || r.Empty || w.show(r.OID, "a.txt") != "top\n"+repeat("line\n", 20)+"end\n" {
		t.Errorf("replayed = %+v", r)
	}
	again, err := w.mirror.Replay(ctx, ours, person)
	if err != nil || again != r {
		t.Errorf("again = %+v, %v", again, err)
	}
	log, err := w.mirror.Log(ctx, person, r.OID, 5)
	if err != nil || len(log) != 1 || log[0].Turn != key1[:16] || len(log[0].Handled) != 1 {
		t.Errorf("log = %+v, %v", log, err)
	}

	if got, err := w.mirror.Replay(ctx, ours, base); err != nil || got.OID != ours {
		t.Errorf("on its own parent = %+v, %v", got, err)
	}
	if got, err := w.mirror.Replay(ctx, commit(base, "a.txt", "other\n"), person); err != nil || !got.Conflict || got.OID != "" {
		t.Errorf("conflict = %+v, %v", got, err)
	}
	same := commit(base, "a.txt", "top\n"+repeat("line\n", 20))
	if got, err := w.mirror.Replay(ctx, same, person); err != nil || !got.Empty || got.OID != "" {
		t.Errorf("empty = %+v, %v", got, err)
	}
	// Only the commit's own change is replayed, not its parents'.
	second := commit(commit(base, "b.txt", "unwanted\n"), "c.txt", "c\n")
	got, err := w.mirror.Replay(ctx, second, person)
	w.check(err)
	if got.Conflict || w.show(got.OID, "b.txt") != "b\n" || w.show(got.OID, "c.txt") != "c\n" {
		t.Errorf("replayed = %+v, b.txt %q", got, w.show(got.OID, "b.txt"))
	}
	merge, err := w.mirror.CommitFiles(ctx, Commit{Parents: []string{ours, person}, Message: "M", Date: day, Turn: key1}, map[string][]byte{"m": nil})
	w.check(err)
	if got, err := w.mirror.Replay(ctx, merge.OID, base); err != nil || !got.Conflict {
		t.Errorf("merge = %+v, %v", got, err)
	}
}

func TestFilesOfACommit(t *testing.T) {
	w := newWorld(t, tree)
	w.fetch()
	base := w.main()
	if names, err := w.mirror.ListFiles(t.Context(), base); err != nil || len(names) != len(tree) {
		t.Errorf("files = %q, %v", names, err)
	}
	for path, want := range map[string]bool{"a.txt": true, "dir": false, "none": false} {
		if _, ok, err := w.mirror.ReadFile(t.Context(), base, path); ok != want || err != nil {
			t.Errorf("%s: %v, %v", path, ok, err)
		}
	}
}
