package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/testhome"
)

// link makes a link in the checkout.
func (w *world) link(at, target string) {
	w.t.Helper()
	full := filepath.Join(w.dir, filepath.FromSlash(at))
	w.mkdir(filepath.Dir(full))
	w.check(os.RemoveAll(full))
	w.check(os.Symlink(target, full))
}

// bare makes a folder that git takes for a repository.
func (w *world) bare(at string) {
	w.put(at+"/HEAD", "ref: refs/heads/main\n")
	w.put(at+"/config", "[core]\n\tfsmonitor = ./evil\n")
	w.put(at+"/objects/keep", "")
	w.put(at+"/refs/keep", "")
}

// Names that some system or git version takes for a repository, or a link out of it, are refused
// before the push, and the agent learns why.
func TestWhatOtherSystemsFallForIsRefused(t *testing.T) {
	testhome.NotShort(t)
	w := newWorld(t, map[string]string{
		"a/b/c": "", "deep/dir/x": "", "half/HEAD": "x", "half/objects/k": "", "fixture.git/HEAD": "x", "fixture.git/objects/k": "", "fixture.git/refs/k": "",
	})
	w.check(os.Symlink(".", filepath.Join(w.person, "old")))
	w.check(os.Symlink("dir/../..", filepath.Join(w.person, "deep", "old")))
	w.check(os.Symlink("/usr/share/x", filepath.Join(w.person, "away"))) // people may do this
	w.commit("links", nil)
	w.restore()
	for name, c := range map[string]struct {
		do   func(w *world)
		want string
	}{
		"a link out through a link":            {func(w *world) { w.link("a/b/up", "../.."); w.link("a/b/l", "up/..") }, `the link "a/b/l" leads out of the repository through another link`},
		"through two":                          {func(w *world) { w.link("x", "a"); w.link("a/y", ".."); w.link("l", "x/y/../../etc") }, `the link "l" leads out`},
		"through one that was there":           {func(w *world) { w.link("l", "old/..") }, `the link "l" leads out of the repository through another link`},
		"one that was there, by a new one":     {func(w *world) { w.link("deep/dir", "..") }, `the link "deep/old" leads out of the repository through another link`},
		"into .git through a link":             {func(w *world) { w.link("dot", "."); w.link("l", "dot/.git/config") }, `the link "l" leads out`},
		"through a link in other letters":      {func(w *world) { w.link("a/b/Up", "../.."); w.link("a/b/l", "uP/..") }, `the link "a/b/l" leads out`},
		"a link with a drive":                  {func(w *world) { w.link("l", `C:\x`) }, `the link "l" leads out`},
		"a link with backslashes":              {func(w *world) { w.link("l", `..\x`) }, `the link "l" leads out`},
		"a bare repository":                    {func(w *world) { w.bare("docs") }, `"docs" is a repository within the repository`},
		"a bare repository in other letters":   {func(w *world) { w.put("d/head", "x"); w.put("d/OBJECTS/k", ""); w.put("d/Refs/k", "") }, `"d" is a repository`},
		"a bare repository that is elsewhere":  {func(w *world) { w.put("d/HEAD", "x"); w.put("d/commondir", "/x") }, `"d" is a repository`},
		"one that becomes one":                 {func(w *world) { w.put("half/refs/k", "") }, `"half" is a repository`},
		"the configuration of one":             {func(w *world) { w.put("fixture.git/config", "[core]\n\tfsmonitor = ./evil\n") }, `"fixture.git/config" is of a repository within the repository`},
		"a hook of one":                        {func(w *world) { w.put("fixture.git/hooks/post-checkout", "x") }, `"fixture.git/hooks/post-checkout" is of a repository`},
		"an ignorable character in .git":       {func(w *world) { w.put(".g\u200cit/config", "x") }, `some operating systems treat as .git`},
		"deeper":                               {func(w *world) { w.put("a/.gi\ufefft/config", "x") }, `some operating systems treat as .git`},
		".GIT":                                 {func(w *world) { w.put(".GIT/config", "x") }, `some operating systems treat as .git`},
		"git~1":                                {func(w *world) { w.put("git~1/config", "x") }, `some operating systems treat as .git`},
		"a stream":                             {func(w *world) { w.put(".git::$INDEX_ALLOCATION/config", "x") }, `some operating systems treat as .git`},
		"a dot at the end":                     {func(w *world) { w.put("a/.git. ./config", "x") }, `some operating systems treat as .git`},
		"behind a backslash":                   {func(w *world) { w.put(`a\.git\config`, "x") }, `some operating systems treat as .git`},
		"a link in the place of .gitmodules":   {func(w *world) { w.link(".gitmodules", "a") }, `".gitmodules" is a link`},
		"a path over the limit":                {func(w *world) { w.put(strings.Repeat("deep/", 300)+"f", "x") }, `is longer than 1000 bytes`},
		"a path that the system cannot follow": {func(w *world) { w.dig(strings.Repeat("d", 200), 30) }, `is longer than`},
	} {
		before := w.objects()
		c.do(w)
		got, err := w.commitTree()
		var refused *RefusedError
		if !errors.As(err, &refused) || !strings.Contains(refused.Reason, c.want) {
			t.Errorf("%s: %+v, %v; want a refusal with %q", name, got, err, c.want)
		}
		if after := w.objects(); after != before && refused != nil {
			t.Errorf("%s: refused objects reached the mirror: %s, then %s", name, before, after)
		}
		w.check(w.mirror.Restore(t.Context(), w.wanted())) // leftovers do not block the next turn
	}
}

// dig makes nested folders deeper than the longest path.
func (w *world) dig(name string, depth int) {
	w.t.Helper()
	root, err := os.OpenRoot(w.dir)
	w.check(err)
	for range depth {
		w.check(root.Mkdir(name, 0o755))
		next, err := root.OpenRoot(name)
		w.check(err)
		w.check(root.Close())
		root = next
	}
	w.check(root.WriteFile("f", []byte("x"), 0o644))
	w.check(root.Close())
}

// Harmless names that only look similar are committed.
func TestWhatOtherSystemsTakeWellIsCommitted(t *testing.T) {
	testhome.NotShort(t)
	w := newWorld(t, map[string]string{"a/b/c": "", "fixture.git/HEAD": "x", "fixture.git/objects/k": "", "fixture.git/refs/k": ""})
	w.check(os.Symlink("/usr/share/x", filepath.Join(w.person, "away")))
	w.commit("a link of people's", nil)
	w.restore()
	w.link("a/b/up", "../..")
	w.link("a/b/l", "up/a")
	w.link("loop", "loop")
	w.link("gone", "nowhere/at/all")
	w.put(".github/x", "")
	w.put("git~10/x", "")
	w.put(".gitignore", "*.o\n")
	w.put("src/HEAD", "x")
	w.put("src/refs/x", "x")
	w.put("fixture.git/refs/heads/main", "x")
	w.put(strings.Repeat("deep/", 100)+"f", "x")
	if c := w.mustCommit(); len(c.Files) != 11 {
		t.Errorf("files %q", c.Files)
	}
}

// slowPatterns writes patterns that take git hours.
func (w *world) slowPatterns(file string) {
	for _, end := range []string{"1", "2", "3"} {
		w.put(strings.Repeat("a", 200)+end, "x")
	}
	w.put(file, strings.Repeat("*a", 20)+"b"+map[string]string{".gitattributes": " -diff"}[file]+"\n")
}

func TestPatternsThatTakeForEverAreRefused(t *testing.T) {
	testhome.OnlyLong(t)
	for _, file := range []string{".gitignore", ".gitattributes"} {
		t.Run(file, func(t *testing.T) {
			w := newWorld(t, tree)
			w.open(Options{PatternTimeout: 500 * time.Millisecond})
			w.restore()
			w.slowPatterns(file)
			start := time.Now()
			_, err := w.commitTree()
			var refused *RefusedError
			if !errors.As(err, &refused) || !strings.Contains(refused.Reason, "patterns in .gitignore or .gitattributes") {
				t.Errorf("error %v", err)
			}
			if _, err := w.mirror.KeepPartial(t.Context(), Partial{Key: key1, Dir: w.dir, Index: w.index, Parent: w.main(), Date: day}); err == nil {
				t.Error("kept")
			}
			if took := time.Since(start); took > 30*time.Second {
				t.Errorf("it took %s", took)
			}
			w.check(w.mirror.Restore(t.Context(), w.wanted()))
		})
	}
}

func TestAnInterruptEndsGit(t *testing.T) {
	w := newWorld(t, tree)
	w.restore()
	w.slowPatterns(".gitignore")
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	start := time.Now()
	if _, err := w.mirror.CommitTree(ctx, w.change()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	if took := time.Since(start); took > time.Minute {
		t.Errorf("it took %s", took)
	}
}
