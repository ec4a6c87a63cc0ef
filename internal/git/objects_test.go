package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// look returns the reader's answer for a name.
func (w *world) look(name string) object {
	w.t.Helper()
	found, err := w.mirror.objects.resolve(w.t.Context(), name)
	w.check(err)
	return found[0]
}

// One git process answers all queries and sees what other processes write meanwhile: loose objects,
// packs, and new, moved, packed and deleted refs.
func TestReaderSeesWhatOthersWrite(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "a\n"})
	w.check(w.mirror.Fetch(t.Context()))
	t.Cleanup(w.mirror.Close)
	ref := "refs/mergexo/test"
	if w.look(ref).found() || w.look("refs/remotes/origin/main").Kind != "commit" {
		t.Fatal("it does not read the mirror")
	}
	git := func(in string, args ...string) string {
		c := w.mirror.command(args...)
		c.Stdin = []byte(in)
		out, err := c.text(t.Context())
		w.check(err)
		return out
	}
	one, two := git("one\n", "hash-object", "-w", "--stdin"), git("two\n", "hash-object", "-w", "--stdin")
	for _, step := range []struct {
		name, want string
		do         func()
	}{
		{"a loose ref", one, func() { git("", "update-ref", ref, one) }},
		{"it moves", two, func() { git("", "update-ref", ref, two) }},
		{"it is packed", two, func() { git("", "pack-refs", "--all") }},
		{"it moves again", one, func() { git("", "update-ref", ref, one) }},
		{"it is packed again", one, func() { git("", "pack-refs", "--all") }},
		{"it is gone", "", func() { git("", "update-ref", "-d", ref) }},
	} {
		step.do()
		if got := w.look(ref).OID; got != step.want {
			t.Errorf("%s: %q, want %q", step.name, got, step.want)
		}
	}
	three := git("three\n", "hash-object", "--stdin") // not in a pack yet
	if w.look(three).found() {
		t.Error("it finds what is not there")
	}
	w.check(os.WriteFile(filepath.Join(w.person, "three"), []byte("three\n"), 0o600))
	w.cmd(w.person, "add", "three")
	w.cmd(w.person, "commit", "--quiet", "-m", "three")
	w.cmd(w.person, "push", "--quiet", "origin", "HEAD:main")
	w.check(w.mirror.Fetch(t.Context()))
	git("", "repack", "-a", "-d", "-q")
	if got := w.look(three); got.Kind != "blob" || got.Size != 6 {
		t.Errorf("of a new pack: %+v", got)
	}
}

// A name with a line ending, or an empty one, is not sent: the rest would be a second query.
func TestReaderRefusesNamesThatAreTwoQuestions(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "a\n"})
	w.check(w.mirror.Fetch(t.Context()))
	t.Cleanup(w.mirror.Close)
	main := "refs/remotes/origin/main"
	for _, name := range []string{"", "x\ncontents " + main, main + "\x00", main + "\r", main + " x", "x\tx", strings.Repeat("x", 5000), "--help", "-z", main + "^{commit}\n"} {
		if got := w.look(name); got.found() {
			t.Errorf("%q: %+v", name, got)
		}
		if !w.look(main).found() {
			t.Fatalf("after %q its answers are others'", name)
		}
	}
}

// A dead git is restarted. If a caller gives up, its pending answers do not reach another caller.
func TestReaderSurvivesItsGit(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "a\n", "large": strings.Repeat("0123456789abcdef", 1<<16)})
	w.check(w.mirror.Fetch(t.Context()))
	t.Cleanup(w.mirror.Close)
	tree := w.look("refs/remotes/origin/main^{tree}").OID
	large, _, err := w.mirror.objects.entryAt(t.Context(), tree, "large")
	w.check(err)
	damaged := w.mirror.path("objects", "11", strings.Repeat("1", 38))
	w.check(os.MkdirAll(filepath.Dir(damaged), 0o755))
	w.check(os.WriteFile(damaged, []byte("no object"), 0o600))
	for range 3 {
		if _, err := w.mirror.objects.content(t.Context(), object{OID: strings.Repeat("1", 40)}); err == nil {
			t.Error("it reads a damaged object")
		}
		if got := w.look(tree); got.Kind != "tree" {
			t.Errorf("after its death: %+v", got)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := w.mirror.objects.content(ctx, object{OID: large.OID, Kind: "blob"}); !errors.Is(err, context.Canceled) {
			t.Errorf("given up: %v", err)
		}
		content, err := w.mirror.objects.content(t.Context(), object{OID: large.OID, Kind: "blob"})
		if err != nil || len(content) != 16<<16 {
			t.Errorf("%d bytes, %v", len(content), err)
		}
		if _, err := w.mirror.objects.content(t.Context(), object{OID: tree, Kind: "blob"}); err == nil {
			t.Error("a tree is read as a blob")
		}
		w.mirror.Close()
		w.mirror.Close()
	}
}

// A git that died after the last query is restarted.
func TestReaderStartsAgain(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "a\n"})
	w.check(w.mirror.Fetch(t.Context()))
	w.mirror.Close()
	script := filepath.Join(w.root, "git")
	text := "#!/bin/sh\ncase \"$*\" in *--batch-command) head -n 1 | " + w.git.Path() + " \"$@\" ;; *) exec " + w.git.Path() + " \"$@\" ;; esac\n"
	w.check(os.WriteFile(script, []byte(text), 0o700)) // answers one query and exits
	w.open(Options{Bin: script})
	t.Cleanup(w.mirror.Close)
	for range 3 {
		if got := w.look("refs/remotes/origin/main"); got.Kind != "commit" {
			t.Errorf("got %+v", got)
		}
	}
}

// Changes and contents of trees equal git's own output.
func TestChangesAreGits(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "a\n", "d/e/f.txt": "f\n", "d/g.txt": "g\n", "x": "file\n", "y/z": "in a folder\n", "same/1": "1\n"})
	w.check(w.mirror.Fetch(t.Context()))
	t.Cleanup(w.mirror.Close)
	before := w.look("refs/remotes/origin/main^{tree}").OID
	w.cmd(w.person, "rm", "-q", "-r", "x", "y")
	for path, text := range map[string]string{"x/now": "a folder\n", "y": "a file\n", "d/e/f.txt": "F\n", "ü\tö": "odd\n", "d.txt": "beside d\n", "new/deep/er/file": "n\n"} {
		at := filepath.Join(w.person, filepath.FromSlash(path))
		w.check(os.MkdirAll(filepath.Dir(at), 0o755))
		w.check(os.WriteFile(at, []byte(text), 0o600))
	}
	w.check(os.Symlink("a.txt", filepath.Join(w.person, "link")))
	w.check(os.Chmod(filepath.Join(w.person, "a.txt"), 0o700))
	w.cmd(w.person, "add", "-A")
	w.cmd(w.person, "update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("a", 40)+",sub/module")
	w.cmd(w.person, "commit", "--quiet", "-m", "changes")
	w.cmd(w.person, "push", "--quiet", "origin", "HEAD:main")
	w.check(w.mirror.Fetch(t.Context()))
	after := w.look("refs/remotes/origin/main^{tree}").OID
	for _, pair := range [][2]string{{before, after}, {after, before}, {emptyTree, after}, {after, emptyTree}, {after, after}} {
		fields, err := w.mirror.command("diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", "--ignore-submodules=none", pair[0], pair[1]).fields(t.Context())
		w.check(err)
		var want []string
		for i := 0; i+1 < len(fields); i += 2 {
			f := strings.Fields(strings.TrimPrefix(fields[i], ":"))
			want = append(want, fmt.Sprint(f[:4], fields[i+1]))
		}
		changes, err := w.mirror.objects.changes(t.Context(), pair[0], pair[1])
		w.check(err)
		var got []string
		for _, c := range changes {
			got = append(got, fmt.Sprint([]string{c.Old.Mode, c.New.Mode, c.Old.OID, c.New.OID}, c.Path))
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%v:\n%s\nwant:\n%s", pair, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	listed, err := w.mirror.command("ls-tree", "-r", "-z", "--name-only", "--full-tree", after).fields(t.Context())
	w.check(err)
	entries, err := w.mirror.objects.list(t.Context(), after)
	w.check(err)
	var paths []string
	for _, e := range entries {
		paths = append(paths, e.Path)
	}
	slices.Sort(listed)
	if !slices.Equal(paths, listed) {
		t.Errorf("%q, want %q", paths, listed)
	}
	for path, want := range map[string]bool{"x": true, "x/now": true, "d/e": true, "link": true, "none": false, "a.txt/b": false, "": false, "d//e": false} {
		if _, ok, err := w.mirror.objects.entryAt(t.Context(), after, path); ok != want || err != nil {
			t.Errorf("%q: %v, %v", path, ok, err)
		}
	}
}
