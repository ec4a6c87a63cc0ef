package git

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Expect returns what git's own merge, squash and rebase make, and leaves nothing in the mirror.
func TestExpectIsWhatMergingGives(t *testing.T) {
	eachFork(t, func(t *testing.T, w *world, f fork) {
		before := w.objects()
		for method, land := range map[string]func() string{
			Squash: func() string { return w.squash(f, "squashed") },
			Merged: func() string { return w.merge(f, "merged") },
			Rebase: func() string { return w.rebase(f) },
		} {
			tree, clean, err := w.mirror.ExpectedTree(t.Context(), f.base, f.head, method)
			w.check(err)
			if want := w.treeOf(land()); !clean || tree != want {
				t.Errorf("%s: tree %s, clean %v; want %s", method, tree, clean, want)
			}
		}
		if after := w.objects(); after != before {
			t.Errorf("objects stayed: %s, then %s", before, after)
		}
	})
}

func TestWhatDoesNotMergeIsNotClean(t *testing.T) {
	all := map[string]bool{Squash: false, Merged: false, Rebase: false}
	for name, c := range map[string]struct {
		base, head func(*world)
		clean      map[string]bool
	}{
		"the same line": {change("base", line(5, "theirs")), change("one", line(5, "ours")), all},
		"a binary file": {change("base", map[string]string{"bin": "\x00\x03"}), change("one", map[string]string{"bin": "\x00\x02"}), all},
		"a file that is gone": {
			func(w *world) { w.cmd(w.person, "rm", "-q", "text"); w.commit("base", nil) },
			change("one", line(5, "ours")), all,
		},
		"renamed to two names": {
			func(w *world) { w.cmd(w.person, "mv", "text", "here"); w.commit("base", nil) },
			func(w *world) { w.cmd(w.person, "mv", "text", "there"); w.commit("one", nil) }, all,
		},
		// The whole head merges, its first commit alone does not.
		"a conflict on the way": {
			change("base", line(5, "theirs")),
			doing(change("one", line(5, "ours")), change("back", line(5, "5")), change("two", map[string]string{"new": "n"})),
			map[string]bool{Squash: true, Merged: true, Rebase: false},
		},
		// A rebase loses the changes made by a merge commit in the head.
		"a merge with a change of its own": {
			change("base", line(1, "theirs")),
			func(w *world) {
				from := w.commit("one", line(5, "ours"))
				w.at("side", from)
				w.commit("aside", map[string]string{"side": "s"})
				w.at("topic", from)
				w.cmd(w.person, "merge", "-q", "--no-ff", "--no-commit", "side")
				w.write(filepath.Join(w.person, "evil"), "x")
				w.cmd(w.person, "add", "-A")
				w.cmd(w.person, "commit", "-q", "-m", "evil")
			},
			map[string]bool{Squash: true, Merged: true, Rebase: false},
		},
		"no history in common": {
			change("base", line(1, "theirs")),
			func(w *world) {
				w.cmd(w.person, "checkout", "-q", "--orphan", "alone")
				w.commit("alone", map[string]string{"new": "n"})
				w.at("topic", "alone")
			}, all,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, f := forked(t, c.base, c.head)
			for method, want := range c.clean {
				tree, clean, err := w.mirror.ExpectedTree(t.Context(), f.base, f.head, method)
				if err != nil || clean != want || (tree != "") != want {
					t.Errorf("%s: tree %q, clean %v, %v; want %v", method, tree, clean, err, want)
				}
			}
		})
	}
}

func TestExpectOfNothing(t *testing.T) {
	w, f := forked(t, func(*world) {}, change("one", line(5, "ours")))
	for _, method := range []string{Squash, Merged, Rebase} {
		if tree, clean, err := w.mirror.ExpectedTree(t.Context(), f.head, f.base, method); err != nil || !clean || tree != w.treeOf(f.head) {
			t.Errorf("%s of what is there: %q %v %v", method, tree, clean, err)
		}
	}
	if _, clean, err := w.mirror.ExpectedTree(t.Context(), f.base, f.head, "octopus"); err == nil || clean {
		t.Error("a method that is none")
	}
	gone := "1234567890123456789012345678901234567890"
	for _, pair := range [][2]string{{gone, f.head}, {f.base, gone}, {f.base, "--all"}, {"", f.head}} {
		_, clean, err := w.mirror.ExpectedTree(t.Context(), pair[0], pair[1], Squash)
		if _, missing := errors.AsType[*MissingError](err); !missing || clean {
			t.Errorf("%q: %v %v", pair, clean, err)
		}
	}
}

// Merge drivers of the operator or the tree are not used.
func TestExpectRunsNothing(t *testing.T) {
	w, f := forked(t, change("base", line(1, "theirs")), doing(change("one", line(5, "ours")), change("two", map[string]string{".gitattributes": "* merge=evil\n"})))
	script, sprung := w.trap()
	w.write(filepath.Join(w.home, ".gitconfig"), "[merge \"evil\"]\n\tdriver = "+script+" %A\n[merge]\n\trenames = false\n")
	w.write(filepath.Join(w.home, ".config", "git", "attributes"), "* merge=evil\n")
	w.open(Options{})
	for _, method := range []string{Squash, Rebase} {
		if _, clean, err := w.mirror.ExpectedTree(t.Context(), f.base, f.head, method); err != nil || !clean {
			t.Errorf("%s: %v %v", method, clean, err)
		}
	}
	if _, err := os.Stat(sprung); err == nil {
		t.Error("the merge driver ran")
	}
}
