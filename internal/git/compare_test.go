package git

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"
)

// compared publishes and compares what landed.
func (w *world) compared(landed, head, base string) Landing {
	w.t.Helper()
	w.publish()
	got, err := w.mirror.Compare(w.t.Context(), landed, head, base)
	w.check(err)
	if got.OID != landed || got.Got != w.treeOf(landed) || got.Same != (got.Why == "") {
		w.t.Errorf("landing %+v", got)
	}
	return got
}

func TestWhatLandsAsItMustIsTheSame(t *testing.T) {
	eachFork(t, func(t *testing.T, w *world, f fork) {
		for method, land := range map[string]func() string{
			Squash: func() string { return w.squash(f, "squashed") },
			Merged: func() string { return w.merge(f, "merged") },
			Rebase: func() string { return w.rebase(f) },
		} {
			landed := land()
			if landed == f.base {
				continue // nothing to rebase
			}
			for _, base := range []string{f.base, ""} {
				got := w.compared(landed, f.head, base)
				if !got.Same || got.Method != method || got.Want != got.Got || got.Parent != f.base || len(got.Paths) > 0 {
					t.Errorf("%s, base %q: %+v, parent must be %s", method, base, got, f.base)
				}
			}
		}
	})
}

// A base that moved between decision and merge is not a difference.
func TestABaseThatMovedIsTheSame(t *testing.T) {
	w, f := forked(t, change("base", line(1, "theirs")), doing(change("one", line(5, "ours")), change("two", map[string]string{"new": "n"})))
	w.at("main", f.base)
	later := fork{w.commit("more", map[string]string{"later": "l"}), f.head}
	for method, land := range map[string]func() string{
		Squash: func() string { return w.squash(later, "squashed") },
		Merged: func() string { return w.merge(later, "merged") },
		Rebase: func() string { return w.rebase(later) },
	} {
		got := w.compared(land(), f.head, f.base)
		if !got.Same || got.Method != method || got.Parent != later.base {
			t.Errorf("%s: %+v", method, got)
		}
		if files, err := w.mirror.MergedFiles(t.Context(), got.OID, f.head); err != nil || !slices.Equal(files, []string{"new", "text"}) {
			t.Errorf("%s brought %v, %v", method, files, err)
		}
	}
}

// ours returns a head with two commits and a base that moved.
func ours(t *testing.T) (*world, fork) {
	t.Helper()
	return forked(t, change("base", line(1, "theirs")), doing(change("one", line(5, "ours")), change("two", map[string]string{"new": "n"})))
}

// amend replaces the landed commit by one with another file in it.
func (w *world) amend(path, content string) string {
	w.t.Helper()
	w.write(filepath.Join(w.person, path), content)
	w.cmd(w.person, "add", "-A")
	w.hosted("commit", "-q", "--amend", "--no-edit")
	return w.head()
}

func TestWhatLandsOtherwiseIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		land   func(w *world, f fork) string
		method string
		why    string
		paths  []string
	}{
		"a squash with one more file":  {func(w *world, f fork) string { w.squash(f, "s"); return w.amend("extra", "x") }, Squash, OtherTree, []string{"extra"}},
		"a squash with another line":   {func(w *world, f fork) string { w.squash(f, "s"); return w.amend("new", "other") }, Squash, OtherTree, []string{"new"}},
		"a merge with one more file":   {func(w *world, f fork) string { w.merge(f, "m"); return w.amend("extra", "x") }, Merged, OtherTree, []string{"extra"}},
		"a squash of an earlier head":  {func(w *world, f fork) string { return w.squash(fork{f.base, f.head + "~1"}, "s") }, Squash, OtherTree, []string{"new"}},
		"a merge of an earlier head":   {func(w *world, f fork) string { return w.merge(fork{f.base, f.head + "~1"}, "m") }, Merged, OtherHead, []string{"new"}},
		"a merge the other way around": {func(w *world, f fork) string { return w.merge(fork{f.head, f.base}, "m") }, Merged, OtherHead, []string{"text"}},
		"the old base comes back": {func(w *world, f fork) string { // as if squashed onto a stale tree
			w.squash(f, "s")
			w.cmd(w.person, "checkout", "-q", f.base+"~1", "--", "text")
			return w.amend("text", w.read(filepath.Join(w.person, "text")))
		}, Squash, OtherTree, []string{"text"}},
		"a rebase with one more file": {func(w *world, f fork) string { w.rebase(f); return w.amend("extra", "x") }, Rebase, OtherTree, []string{"extra"}},
		"a rebase with a commit left out": {func(w *world, f fork) string {
			w.at("main", f.base)
			w.hosted("cherry-pick", f.head)
			return w.head()
		}, Rebase, OtherSeries, []string{"text"}},
		"a rebase with another file on the way": {func(w *world, f fork) string {
			w.at("main", f.base)
			w.hosted("cherry-pick", f.head+"~1")
			w.amend("extra", "x")
			w.hosted("cherry-pick", "--no-commit", f.head)
			w.cmd(w.person, "rm", "-q", "-f", "extra")
			w.hosted("commit", "-q", "-C", f.head)
			return w.head()
		}, Rebase, OtherSeries, nil},
		"on another base":         {func(w *world, f fork) string { return w.squash(fork{f.base + "~1", f.head}, "s") }, Squash, OtherBase, nil},
		"a merge on another base": {func(w *world, f fork) string { return w.merge(fork{f.base + "~1", f.head}, "m") }, Merged, OtherBase, nil},
		"the head itself":         {func(_ *world, f fork) string { return f.head }, Pushed, OtherBase, nil},
		"a rebase on another base": {func(w *world, f fork) string {
			w.at("main", f.base+"~1")
			w.hosted("commit", "-q", "--allow-empty", "-m", "elsewhere")
			return w.rebase(fork{w.head(), f.head})
		}, Rebase, OtherBase, nil},
		"without a parent": {func(w *world, f fork) string {
			return w.hosted("commit-tree", "-m", "alone", f.head+"^{tree}")
		}, Squash, OtherBase, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w, f := ours(t)
			landed := c.land(w, f)
			if landed != f.head {
				w.at("landed", landed)
			}
			got := w.compared(landed, f.head, f.base)
			if got.Why != c.why || got.Method != c.method || got.Same || !slices.Equal(got.Paths, c.paths) {
				t.Errorf("%+v", got)
			}
		})
	}
}

// For a head that conflicts, the result of a person's merge is not compared.
func TestAConflictThatAPersonResolvedIsTold(t *testing.T) {
	w, f := forked(t, change("base", line(5, "theirs")), change("one", line(5, "ours")))
	w.at("main", f.base)
	if _, err := w.host("merge", "-q", "-m", "m", f.head); err == nil {
		t.Fatal("it merged")
	}
	w.write(filepath.Join(w.person, "text"), "both\n")
	w.cmd(w.person, "add", "-A")
	w.hosted("commit", "-q", "-m", "m")
	if got := w.compared(w.head(), f.head, f.base); got.Why != NotMergeable || got.Method != Merged || got.Want != "" {
		t.Errorf("%+v", got)
	}
	// The same for a squash that looks like the head's only commit.
	w.at("main", f.base)
	_, _ = w.host("cherry-pick", f.head)
	w.write(filepath.Join(w.person, "text"), "both\n")
	w.cmd(w.person, "add", "-A")
	w.hosted("cherry-pick", "--continue")
	if got := w.compared(w.head(), f.head, f.base); got.Why != NotMergeable || got.Method != Rebase || got.Want != "" {
		t.Errorf("%+v", got)
	}
}

// A head pushed to the base counts as landed unchanged.
func TestAHeadThatWasPushed(t *testing.T) {
	w, f := forked(t, func(*world) {}, doing(change("one", line(5, "ours")), change("two", nil)))
	w.at("main", f.head)
	for _, base := range []string{f.base, ""} {
		if got := w.compared(f.head, f.head, base); !got.Same || got.Method != Pushed {
			t.Errorf("%+v", got)
		}
	}
}

// A copy of the first commit may be the previous base itself.
func TestACopyOnTheBaseIsNotOfTheSeries(t *testing.T) {
	w, f := forked(t, change("base", line(1, "theirs")), doing(change("one", line(5, "ours")), change("two", map[string]string{"new": "n"})))
	w.at("main", f.base)
	w.hosted("cherry-pick", f.head+"~1")
	f.base = w.head()
	w.publish()
	got := w.compared(w.rebase(f), f.head, f.base)
	if !got.Same || got.Parent != f.base || got.Series != 1 {
		t.Errorf("%+v, base %s", got, f.base)
	}
}

// Commits of the head that landed one by one count as if the earlier ones were there before the
// rebase, which omits commits without a remaining change.
func TestCommitsThatCameOneByOneAreAllThere(t *testing.T) {
	w, f := ours(t)
	for name, picks := range map[string][]string{"another order": {f.head, f.head + "~1"}, "a commit in between": {f.head + "~1", "", f.head}} {
		w.at("main", f.base)
		for _, pick := range picks {
			if pick == "" {
				w.hosted("commit", "-q", "--allow-empty", "-m", "between")
				continue
			}
			w.hosted("cherry-pick", pick)
		}
		if got := w.compared(w.head(), f.head, f.base); !got.Same || got.Method != Rebase || got.Parent != w.cmd(w.person, "rev-parse", "HEAD~1") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestCompareOfWhatIsNotThere(t *testing.T) {
	w, f := ours(t)
	gone := "1234567890123456789012345678901234567890"
	for _, pair := range [][2]string{{gone, f.head}, {f.head, gone}, {"", f.head}, {f.head, ""}} {
		_, err := w.mirror.Compare(t.Context(), pair[0], pair[1], f.base)
		if _, missing := errors.AsType[*MissingError](err); !missing {
			t.Errorf("%q: %v", pair, err)
		}
	}
	if got := w.compared(w.squash(f, "s"), f.head, gone); got.Why != OtherBase {
		t.Errorf("a base that nobody has: %+v", got)
	}
}
