package git

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func reverting(tip, landed, parent string) Revert {
	return Revert{Tip: tip, Landed: landed, Parent: parent, Message: "Undo it\n\nMergexo-Turn: forged\n", Date: day}
}

// A revert undoes all of a merge, by each method, and keeps later commits.
func TestRevertUndoesWhatLanded(t *testing.T) {
	eachFork(t, func(t *testing.T, w *world, f fork) {
		for method, land := range map[string]func() string{
			Squash: func() string { return w.squash(f, "squashed") },
			Merged: func() string { return w.merge(f, "merged") },
			Rebase: func() string { return w.rebase(f) },
		} {
			landed := land()
			if w.treeOf(landed) == w.treeOf(f.base) {
				continue
			}
			w.more("later")
			tip := w.head()
			w.publish()
			r := reverting(tip, landed, "")
			if method == Rebase {
				r.Parent = f.base
			}
			oid, clean, err := w.mirror.RevertCommit(t.Context(), r)
			w.check(err)
			w.at("want", f.base)
			w.more("later")
			if got, err := w.mirror.treeOf(t.Context(), oid); err != nil || !clean || got != w.treeOf("want") {
				t.Errorf("%s: %v %v, tree %q", method, clean, err, got)
			}
			again, _, err := w.mirror.RevertCommit(t.Context(), r)
			if err != nil || again != oid {
				t.Errorf("%s: made again it is %q, not %q: %v", method, again, oid, err)
			}
		}
	})
}

func TestRevertCommitAsItIs(t *testing.T) {
	w, f := ours(t)
	landed := w.squash(f, "T")
	w.publish()
	w.mirror = w.mirror.WithVoice(Voice{Author: Identity{Name: "A", Email: "a@x"}, SignOff: true, Signer: Identity{Name: "S", Email: "s@x"}})
	oid, clean, err := w.mirror.RevertCommit(t.Context(), reverting(landed, landed, ""))
	w.check(err)
	if got := w.cmd(w.mirror.Dir(), "show", "-s", "--format=%P|%an <%ae>|%ad|%B", "--date=unix", oid); !clean ||
		got != landed+"|A <a@x>|1714979289|Undo it\n\nSigned-off-by: S <s@x>" {
		t.Errorf("%v %q", clean, got)
	}
	w.check(w.mirror.Push(t.Context(), "agent/revert/7-abc", oid, ""))
	// Reverting again has nothing to undo.
	if got, clean, err := w.mirror.RevertCommit(t.Context(), reverting(oid, landed, "")); got != "" || !clean || err != nil {
		t.Errorf("again: %q %v %v", got, clean, err)
	}
}

func TestRevertThatConflicts(t *testing.T) {
	w, f := ours(t)
	landed := w.squash(f, "T")
	w.write(filepath.Join(w.person, "text"), strings.ReplaceAll(w.read(filepath.Join(w.person, "text")), "ours", "newer"))
	w.more("newer")
	w.publish()
	if oid, clean, err := w.mirror.RevertCommit(t.Context(), reverting(w.main(), landed, "")); oid != "" || clean || err != nil {
		t.Errorf("%q %v %v", oid, clean, err)
	}
	for _, r := range []Revert{reverting("1234567890123456789012345678901234567890", landed, ""), reverting(landed, "", ""), reverting(landed, landed, "gone")} {
		if _, _, err := w.mirror.RevertCommit(t.Context(), r); err == nil {
			t.Errorf("%+v: no error", r)
		}
	}
}

func (w *world) keptMerges() string {
	w.t.Helper()
	return w.cmd(w.mirror.Dir(), "for-each-ref", "--format=%(refname) %(objectname)", "refs/mergexo/merges")
}

func TestMergedHeadsAreKept(t *testing.T) {
	w, f := ours(t)
	w.check(w.mirror.KeepMerged(t.Context(), 7, f.head, day))
	w.check(w.mirror.KeepMerged(t.Context(), 7, f.head, day.Add(time.Hour))) // again, after a death
	w.check(w.mirror.KeepMerged(t.Context(), 7, f.base, day.Add(2*time.Hour)))
	w.check(w.mirror.KeepMerged(t.Context(), 12, f.head, day.Add(24*time.Hour)))
	first, second, third := "refs/mergexo/merges/7-1714979289-"+f.head+" "+f.head, "refs/mergexo/merges/7-1714986489-"+f.base+" "+f.base,
		"refs/mergexo/merges/12-1715065689-"+f.head+" "+f.head
	if got := w.keptMerges(); got != third+"\n"+first+"\n"+second {
		t.Errorf("kept %s", got)
	}
	for since, want := range map[time.Time][]int{day: {12, 7}, day.Add(24 * time.Hour): {12}, day.Add(25 * time.Hour): nil} {
		got, err := w.mirror.Merged(t.Context(), since)
		if w.check(err); !slices.Equal(got, want) {
			t.Errorf("merged since %s: %v, not %v", since, got, want)
		}
	}
	w.cmd(w.mirror.Dir(), "pack-refs", "--all")
	w.check(w.mirror.DropMerged(t.Context(), day))
	w.check(w.mirror.DropMerged(t.Context(), day.Add(time.Hour)))
	if got := w.keptMerges(); got != third+"\n"+second {
		t.Errorf("kept %s", got)
	}
	// After the branch is deleted and the mirror repaired, the head is still there.
	w.check(w.mirror.DeleteBranch(t.Context(), "topic", f.head))
	w.write(filepath.Join(w.mirror.Dir(), "config"), "[broken")
	w.fetch()
	if got := w.keptMerges(); got != third+"\n"+second || !w.mirror.Has(t.Context(), f.head) {
		t.Errorf("kept %s", got)
	}
	w.check(w.mirror.DropMerged(t.Context(), day.AddDate(0, 1, 0)))
	w.check(w.mirror.DropMerged(t.Context(), day.AddDate(0, 1, 0)))
	if got := w.keptMerges(); got != "" {
		t.Errorf("kept %s", got)
	}
	err := w.mirror.KeepMerged(t.Context(), 7, "1234567890123456789012345678901234567890", day)
	if _, missing := errors.AsType[*MissingError](err); !missing {
		t.Errorf("kept what is not there: %v", err)
	}
}

func TestDropMergedOfNoMirror(t *testing.T) {
	w := newWorld(t, tree)
	w.check(w.mirror.DropMerged(t.Context(), day))
	if got, err := w.mirror.Merged(t.Context(), day); err != nil || got != nil {
		t.Errorf("merged, without a mirror: %v, %v", got, err)
	}
}

func TestDeleteBranch(t *testing.T) {
	w, oid := pushed(t)
	w.check(w.mirror.Push(t.Context(), branch+"-longer", oid, ""))
	two := w.next(oid, "2")
	wantLease(t, w.mirror.DeleteBranch(t.Context(), branch, two))
	if got := w.remoteHead(); got != oid {
		t.Fatalf("remote = %q", got)
	}
	w.check(w.mirror.DeleteBranch(t.Context(), branch, oid))
	if heads, err := w.mirror.RemoteHeads(t.Context(), branch); err != nil || len(heads) != 1 || heads[branch+"-longer"] != oid {
		t.Errorf("remote: %v %v", heads, err)
	}
	if _, ok, err := w.mirror.Head(t.Context(), branch); ok || err != nil {
		t.Errorf("the mirror still has it: %v", err)
	}
	w.check(w.mirror.DeleteBranch(t.Context(), branch, oid)) // it is deleted already
}

// Branches with new commits, and branches that nobody may delete, stay.
func TestBranchesThatStay(t *testing.T) {
	w, oid := pushed(t)
	w.cmd(w.person, "fetch", "-q")
	w.cmd(w.person, "checkout", "-q", branch)
	theirs := w.commit("theirs", map[string]string{"t": "t"})
	wantLease(t, w.mirror.DeleteBranch(t.Context(), branch, oid))
	if got := w.remoteHead(); got != theirs {
		t.Errorf("remote = %q", got)
	}
	w.cmd(w.remote, "config", "receive.denyDeleteCurrent", "ignore")
	for name, err := range map[string]error{
		"the default branch": w.mirror.DeleteBranch(t.Context(), "main", w.main()),
		"a base":             w.mirror.DeleteBranch(t.Context(), branch, theirs, "main", branch),
	} {
		if _, stays := errors.AsType[*KeptError](err); !stays {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, c := range [][2]string{{"", theirs}, {"-x", theirs}, {"a..b", theirs}, {branch, ""}, {branch, "HEAD"}, {"*", theirs}} {
		if err := w.mirror.DeleteBranch(t.Context(), c[0], c[1]); err == nil {
			t.Errorf("deleted %q", c)
		}
	}
	if got := w.cmd(w.remote, "for-each-ref", "--format=%(refname)", "refs/heads"); got != "refs/heads/"+branch+"\nrefs/heads/main" {
		t.Errorf("branches %s", got)
	}
}

func TestDeleteThatIsRefused(t *testing.T) {
	w, oid := pushed(t)
	w.hook("pre-receive", "echo 'error: GH006: Protected branch update failed for refs/heads/x.' >&2; exit 1\n")
	err := w.mirror.DeleteBranch(t.Context(), branch, oid)
	if rejected, ok := errors.AsType[*RejectedError](err); !ok || !strings.Contains(rejected.Reason, "GH006") {
		t.Errorf("err = %v", err)
	}
}

// Without a status line the remote is asked; a missing branch counts as deleted.
func TestDeleteWithoutAVerdict(t *testing.T) {
	w, oid := pushed(t)
	w.hook("post-update", "kill -9 $PPID\n")
	w.check(w.mirror.DeleteBranch(t.Context(), branch, oid))
	if got := w.remoteHead(); got != "" {
		t.Errorf("remote = %q", got)
	}
}
