package git

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestSameButForCase(t *testing.T) {
	for paths, want := range map[string]string{
		"a b/c":               "",
		"B/x b/y":             "",
		"Read.me a read.me":   "Read.me read.me",
		"d/A d/a":             "d/A d/a",
		"D/a d/A":             "D/a d/A",
		"Src src/a/b":         "Src src/a/b",
		"src/a/b x/y/src src": "src src/a/b",
		"Ä.txt ä.txt":         "Ä.txt ä.txt",
		"\u00e4 A\u0308":      "\u00e4 A\u0308",
		"straße STRASSE/x":    "straße STRASSE/x",
		"\u017f s":            "\u017f s",
	} {
		var entries []treeEntry
		for name := range strings.FieldsSeq(paths) {
			entries = append(entries, treeEntry{Path: name})
		}
		one, other, found := sameButForCase(entries)
		if got := strings.TrimSpace(one + " " + other); got != want || found != (want != "") {
			t.Errorf("%s: %q, %v", paths, got, found)
		}
	}
}

// Where the file system folds case, as the mirror's configuration says, a commit with two such names
// is not checked out.
func TestNamesThatDifferByCase(t *testing.T) {
	w := newWorld(t, map[string]string{"Readme.md": "1", "readme.md": "2"})
	w.restore()
	w.cmd(w.mirror.Dir(), "config", "core.ignorecase", "true")
	err := w.mirror.Restore(t.Context(), w.wanted())
	var refused *CheckoutError
	if !errors.As(err, &refused) || !strings.Contains(refused.Why, `"Readme.md" and "readme.md"`) {
		t.Errorf("restored: %v", err)
	}
	w.cmd(w.mirror.Dir(), "config", "core.ignorecase", "false")
	w.check(w.mirror.Restore(t.Context(), w.wanted()))
}

// The mirror has no branches of others.
func TestOnlyBranchesThatAreNeededAreFetched(t *testing.T) {
	w := newWorld(t, tree)
	others := []string{"Feature", "feature", "Main", "main-Feature", "main-feature", "agent/Mine", "agent/mine", "agent/bugfixes/1-x"}
	for _, branch := range append(others, "agent/bugfix/1-x", "release/1") {
		w.cmd(w.person, "push", "-q", "origin", "HEAD:refs/heads/"+branch)
	}
	w.check(w.mirror.Ensure(t.Context()))
	w.check(w.mirror.Fetch(t.Context()))
	w.heads("agent/bugfix/1-x main")
	w.check(w.mirror.Fetch(t.Context(), "release/1", "not-there"))
	w.heads("agent/bugfix/1-x main release/1")
	w.cmd(w.person, "push", "-q", "origin", ":release/1", ":agent/bugfix/1-x")
	w.check(w.mirror.Fetch(t.Context(), "release/1"))
	w.heads("main")
}

// A branch that is gone is not in the way of another, though git stores both as files.
func TestABranchTakesThePlaceOfAFolder(t *testing.T) {
	w := newWorld(t, tree)
	w.fetch()
	for _, step := range [][]string{{"release"}, {"release/1/a", "release/1/b"}, {"release/1"}, {"release"}} {
		for _, branch := range step {
			w.cmd(w.person, "push", "-q", "origin", "HEAD:refs/heads/"+branch)
		}
		for _, branch := range step {
			w.check(w.mirror.Fetch(t.Context(), branch))
		}
		w.heads("main " + strings.Join(step, " "))
		for _, branch := range step {
			w.cmd(w.person, "push", "-q", "origin", ":refs/heads/"+branch)
		}
		w.cmd(w.mirror.Dir(), "pack-refs", "--all")
	}
}

// heads checks which branches the mirror knows.
func (w *world) heads(want string) {
	w.t.Helper()
	heads, err := w.mirror.Heads(w.t.Context())
	w.check(err)
	if got := strings.Join(slices.Sorted(maps.Keys(heads)), " "); got != want {
		w.t.Errorf("branches = %q, want %q", got, want)
	}
}
