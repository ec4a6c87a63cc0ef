package git

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

const token = "<!-- gh-mergexo merge=0123456789abcdef -->"

// found publishes, and searches from the previous base to the person's main.
func (w *world) found(f fork) (Landing, bool) {
	w.t.Helper()
	w.publish()
	got, ok, err := w.mirror.FindLanded(w.t.Context(), f.base, w.main(), f.head, token)
	w.check(err)
	return got, ok
}

// more is a commit of others on main.
func (w *world) more(message string) {
	w.t.Helper()
	w.write(filepath.Join(w.person, "more", message[:1]), message)
	w.cmd(w.person, "add", "-A")
	w.cmd(w.person, "commit", "-q", "-m", message)
}

// A merge is found for each method, among other commits, even if it is old.
func TestWhatLandedIsFound(t *testing.T) {
	eachFork(t, func(t *testing.T, w *world, f fork) {
		for method, land := range map[string]func() string{
			Squash: func() string { return w.squash(f, "Title (#7)\n\nBody\n\n"+token) },
			Merged: func() string { return w.merge(f, "Merge it") },
			Rebase: func() string { return w.rebase(f) },
		} {
			landed := land()
			if landed == f.base {
				continue // nothing to rebase
			}
			w.more("later")
			for _, since := range []string{f.base, "", "1234567890123456789012345678901234567890"} {
				w.publish()
				got, ok, err := w.mirror.FindLanded(t.Context(), since, w.main(), f.head, token)
				if err != nil || !ok || got.OID != landed || !got.Same || got.Method != method {
					t.Errorf("%s since %q: %+v %v %v, want %s", method, since, got, ok, err, landed)
				}
			}
		}
	})
}

func TestWhatDidNotLandIsNotFound(t *testing.T) {
	for name, land := range map[string]func(w *world, f fork){
		"nothing":                func(*world, fork) {},
		"work of others":         func(w *world, _ fork) { w.more("one") }, // with the message of a commit of the head
		"a quote in a sentence":  func(w *world, _ fork) { w.more("x\n\nThis reverts " + token) },
		"a quote":                func(w *world, _ fork) { w.more("x\n\n> Title\n>\n> " + token + "\n") },
		"a quote in code":        func(w *world, _ fork) { w.more("x\n\n`" + token + "`\n") },
		"another token":          func(w *world, _ fork) { w.more("x\n\n" + strings.Replace(token, "0123", "0124", 1)) },
		"a longer token":         func(w *world, _ fork) { w.more("x\n\n" + token + token) },
		"one of the commits":     func(w *world, f fork) { w.hosted("cherry-pick", f.head) },
		"the other one":          func(w *world, f fork) { w.hosted("cherry-pick", f.head+"~1") },
		"an earlier head merged": func(w *world, f fork) { w.hosted("merge", "-q", "--no-ff", "-m", "m", f.head+"~1") },
	} {
		t.Run(name, func(t *testing.T) {
			w, f := ours(t)
			w.at("main", f.base)
			land(w, f)
			if got, ok := w.found(f); ok {
				t.Errorf("found %+v", got)
			}
		})
	}
}

// A commit that looks like our merge but has other files is found and reported as different: it may
// be a copy of our message or a merge that went wrong.
func TestWhatLandedOtherwiseIsFoundAsSuch(t *testing.T) {
	for name, c := range map[string]struct {
		land func(w *world, f fork)
		why  string
	}{
		"another tree by a squash": {func(w *world, f fork) { w.squash(f, "T\n\n"+token); w.amend("extra", "x") }, OtherTree},
		"another tree by a merge":  {func(w *world, f fork) { w.merge(f, "m"); w.amend("extra", "x") }, OtherTree},
		"another tree by a rebase": {func(w *world, f fork) { w.rebase(f); w.amend("extra", "x") }, OtherTree},
		"a copy of the message":    {func(w *world, _ fork) { w.more("T\n\n" + token) }, OtherTree},
		"as a trailer": {func(w *world, _ fork) {
			w.more("T\n\nCo-authored-by: x <x@x>\nMerge-token: " + token + "\nSigned-off-by: P <p@x>\n")
		}, OtherTree},
		"an empty commit": {func(w *world, _ fork) { w.cmd(w.person, "commit", "-q", "--allow-empty", "-m", "T\n\n"+token) }, OtherTree},
		"the head below another one": {func(w *world, f fork) {
			w.at("stacked", f.head)
			w.more("stacked")
			stacked := w.head()
			w.at("main", f.base)
			w.hosted("merge", "-q", "--no-ff", "-m", "m", stacked)
		}, OtherBase},
	} {
		t.Run(name, func(t *testing.T) {
			w, f := ours(t)
			w.at("main", f.base)
			c.land(w, f)
			w.more("later")
			if got, ok := w.found(f); !ok || got.Same || got.Why != c.why {
				t.Errorf("%v %+v", ok, got)
			}
		})
	}
}

// The merge itself is preferred to a commit with a copy of its message, whichever is newer.
func TestTheMergeComesBeforeItsCopies(t *testing.T) {
	w, f := ours(t)
	w.at("main", f.base)
	w.more("copy\n\n" + token)
	landed := w.squash(fork{w.head(), f.head}, "T\n\n"+token)
	w.more("another copy\n\n" + token)
	if got, ok := w.found(f); !ok || !got.Same || got.OID != landed {
		t.Errorf("%v %+v, want %s", ok, got, landed)
	}
}

// A squash that reached the base by another branch is found.
func TestWhatLandedAsideIsFound(t *testing.T) {
	w, f := ours(t)
	landed := w.squash(f, "T\n\n"+token)
	w.at("main", f.base)
	w.more("their own")
	w.hosted("merge", "-q", "-m", "pull", landed)
	if got, ok := w.found(f); !ok || !got.Same || got.OID != landed {
		t.Errorf("%v %+v, want %s", ok, got, landed)
	}
}

func TestAHeadThatWasPushedIsFound(t *testing.T) {
	w, f := forked(t, func(*world) {}, doing(change("one", line(5, "ours")), change("two", nil)))
	w.at("main", f.head)
	w.more("later")
	if got, ok := w.found(f); !ok || !got.Same || got.OID != f.head || got.Method != Pushed {
		t.Errorf("%v %+v", ok, got)
	}
}

// A base with rewritten history may have lost the merge or contain it again.
func TestARewrittenBaseIsLookedThrough(t *testing.T) {
	w, f := ours(t)
	w.squash(f, "T\n\n"+token)
	w.at("main", f.base+"~1")
	w.more("instead")
	if got, ok := w.found(f); ok {
		t.Errorf("lost, and found: %+v", got)
	}
	again := w.squash(fork{w.head(), f.head}, "T\n\n"+token)
	if got, ok := w.found(f); !ok || got.OID != again || got.Why != OtherBase {
		t.Errorf("%v %+v", ok, got)
	}
}

func TestFindLandedWithoutThem(t *testing.T) {
	w, f := ours(t)
	gone := "1234567890123456789012345678901234567890"
	for _, pair := range [][2]string{{gone, f.head}, {f.base, gone}, {"", f.head}, {f.base, "--all"}} {
		_, ok, err := w.mirror.FindLanded(t.Context(), "", pair[0], pair[1], token)
		if _, missing := errors.AsType[*MissingError](err); !missing || ok {
			t.Errorf("%q: %v %v", pair, ok, err)
		}
	}
	w.squash(f, "no token")
	w.publish()
	if _, ok, err := w.mirror.FindLanded(t.Context(), f.base, w.main(), f.head, ""); ok || err != nil {
		t.Errorf("without a token: %v %v", ok, err)
	}
}

// An ancestor of the head is never its merge, whatever its message.
func TestWhatTheHeadStandsOnIsNotItsMerge(t *testing.T) {
	said := func(w *world) { w.commit("old\n\n"+token, map[string]string{"old": "o"}) }
	w, f := forked(t, said, func(w *world) {
		w.at("topic", "main")
		w.commit("one\n\n"+token, line(5, "ours"))
	})
	w.publish()
	got, ok, err := w.mirror.FindLanded(t.Context(), "", f.base, f.head, token)
	if ok || err != nil {
		t.Errorf("%v %+v", err, got)
	}
}

// Trailing blanks in a message do not make it another commit.
func TestARebaseThatTidiesMessages(t *testing.T) {
	w, f := forked(t, change("base", line(1, "theirs")), func(w *world) {
		w.write(filepath.Join(w.person, "text"), line(5, "ours")["text"])
		w.cmd(w.person, "commit", "-q", "-a", "--cleanup=verbatim", "-m", "one  \n\nbody \t\n\n\n")
		w.commit("two", map[string]string{"new": "n"})
	})
	w.at("main", f.base)
	w.hosted("cherry-pick", f.head+"~1")
	w.hosted("commit", "-q", "--amend", "--cleanup=strip", "--no-edit")
	w.hosted("cherry-pick", f.head)
	if got, ok := w.found(f); !ok || !got.Same || got.Series != 2 {
		t.Errorf("%v %+v", ok, got)
	}
}

// Our own merges have the token on a line; a quote of it does not count.
func TestWhatACommitTells(t *testing.T) {
	w, f := ours(t)
	w.at("main", f.base)
	for message, want := range map[string]bool{
		"T\n\nMergexo-Action: " + token: true, "T\n\n" + token + "\n\nSigned-off-by: P <p@x>": true,
		"T\n\nThis reverts " + token: false, "T": false,
	} {
		w.cmd(w.person, "commit", "-q", "--allow-empty", "-m", message)
		w.publish()
		if got, err := w.mirror.HasToken(t.Context(), w.main(), token); got != want || err != nil {
			t.Errorf("%q: %v, %v", message, got, err)
		}
	}
	if _, err := w.mirror.HasToken(t.Context(), strings.Repeat("1", 40), token); err == nil {
		t.Error("a commit that is not there tells something")
	}
}
