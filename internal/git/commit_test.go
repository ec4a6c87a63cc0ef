package git

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/mergexo/gh-mergexo/internal/work"
)

func (w *world) show(oid, path string) string {
	w.t.Helper()
	b, ok, err := w.mirror.ReadFile(w.t.Context(), oid, path)
	if err != nil || !ok {
		w.t.Fatalf("%s: %v %v", path, ok, err)
	}
	return string(b)
}

func TestCommitIsTheTree(t *testing.T) {
	w := newWorld(t, tree)
	base := w.restore()
	w.put("a.txt", "new\n")
	w.put("line\nbreak \"q\".txt", "odd")
	w.put("build/ignored", "i")
	w.check(os.Remove(filepath.Join(w.dir, "dir/b.txt")))
	w.check(os.Chmod(filepath.Join(w.dir, "dir/deep/c.txt"), 0o755))
	w.check(os.Symlink("a.txt", filepath.Join(w.dir, "link")))
	change := w.change()
	change.Message = "Subject\r\n\r\nBody   \nMergexo-Turn: stolen\nmergexo-handled: 1:review:2:ff\n\n\n"
	change.Handled = []string{"1:review:2:aa", "1:issue:3:bb"}
	c, err := w.mirror.CommitTree(t.Context(), change)
	w.check(err)
	want := []string{"a.txt", "dir/b.txt", "dir/deep/c.txt", "line\nbreak \"q\".txt", "link"}
	slices.Sort(c.Files)
	if !slices.Equal(c.Files, want) || c.Empty {
		t.Errorf("files = %q", c.Files)
	}
	raw := w.cmd(w.mirror.Dir(), "cat-file", "commit", c.OID)
	_, message, _ := strings.Cut(raw, "\n\n")
	if want := "Subject\n\nBody\n\nMergexo-Turn: " + key1[:16] + "\nMergexo-Handled: 1:review:2:aa\nMergexo-Handled: 1:issue:3:bb"; message != want {
		t.Errorf("message = %q", message)
	}
	if got := w.show(c.OID, "a.txt"); got != "new\n" {
		t.Errorf("a.txt = %q", got)
	}
	log, err := w.mirror.Log(t.Context(), base, c.OID, 10)
	w.check(err)
	if len(log) != 1 || log[0].Turn != key1[:16] || log[0].Subject != "Subject" || !slices.Equal(log[0].Handled, change.Handled) {
		t.Errorf("log = %+v", log)
	}
	if log, err = w.mirror.Log(t.Context(), "", base, 10); err != nil || len(log) == 0 || log[0].Turn != "" {
		t.Errorf("a person's commit = %+v, %v", log, err)
	}
	again, err := w.mirror.CommitTree(t.Context(), change)
	if err != nil || again.OID != c.OID {
		t.Errorf("again = %+v, %v", again, err)
	}
	w.cmd(w.mirror.Dir(), "fsck", "--strict", c.OID)
}

// Git itself finds the trailers.
func TestTrailersAreTrailers(t *testing.T) {
	w := newWorld(t, tree)
	message := func(text, key string) (string, error) {
		return w.mirror.message(Commit{Message: text, Turn: key, Handled: []string{"1:review:2:aa"}})
	}
	text, err := message("Subject only", key1)
	if err != nil {
		t.Fatal(err)
	}
	w.cmd(w.person, "commit", "-q", "--allow-empty", "-m", text)
	if got := w.cmd(w.person, "log", "-1", "--format=%(trailers:key="+work.TrailerTurn+",valueonly)"); strings.TrimSpace(got) != key1[:16] {
		t.Errorf("trailer = %q", got)
	}
	for _, bad := range [][2]string{{" \n\n", key1}, {"x", "key with space"}, {"Mergexo-Turn: only", key1}} {
		if _, err := message(bad[0], bad[1]); err == nil {
			t.Errorf("assembled %q, %q", bad[0], bad[1])
		}
	}
	if text, err = message("bad \xff utf8\x00", key1); err != nil || !utf8.ValidString(text) || strings.Contains(text, "\x00") {
		t.Errorf("text = %q, %v", text, err)
	}
}

// The agent's own commits, resets and branches have no effect.
func TestTheAgentsGitDoesNotMatter(t *testing.T) {
	for name, act := range map[string]func(w *world){
		"commits":  func(w *world) { w.cmd(w.dir, "add", "-A"); w.cmd(w.dir, "commit", "-qm", "mine") },
		"switches": func(w *world) { w.cmd(w.dir, "checkout", "-q", "--orphan", "o") },
		"resets": func(w *world) {
			w.cmd(w.dir, "add", "-A")
			w.cmd(w.dir, "commit", "-qm", "mine")
			w.cmd(w.dir, "reset", "-q", "HEAD~")
		},
		"removes .git":     func(w *world) { w.check(os.RemoveAll(filepath.Join(w.dir, ".git"))) },
		"makes .git again": func(w *world) { w.check(os.RemoveAll(filepath.Join(w.dir, ".git"))); w.cmd(w.dir, "init", "-q") },
		"stages something": func(w *world) { w.cmd(w.dir, "rm", "-q", "--cached", "a.txt") },
		"excludes it":      func(w *world) { w.put(".git/info/exclude", "*\n") },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, tree)
			w.restore()
			w.put("new.txt", "new")
			act(w)
			c := w.mustCommit()
			if !slices.Equal(c.Files, []string{"new.txt"}) {
				t.Errorf("files = %q", c.Files)
			}
		})
	}
}

func TestNothingChangedIsEmpty(t *testing.T) {
	w := newWorld(t, tree)
	w.restore()
	if c := w.mustCommit(); !c.Empty || c.OID != "" || len(c.Files) != 0 {
		t.Errorf("commit = %+v", c)
	}
}

func TestCommitWithoutItsIndex(t *testing.T) {
	w := newWorld(t, tree)
	w.restore()
	w.put("a.txt", "new")
	want := w.mustCommit()
	for _, content := range []string{"", "garbage"} {
		w.write(w.index, content)
		if got := w.mustCommit(); got.OID != want.OID {
			t.Errorf("index %q: %+v, want %+v", content, got, want)
		}
	}
}

// refusedFor returns the reason for which the checkout is refused.
func (w *world) refusedFor(l Limits) string {
	w.t.Helper()
	c := w.change()
	c.Limits = l
	got, err := w.mirror.CommitTree(w.t.Context(), c)
	var refused *RefusedError
	if !errors.As(err, &refused) {
		w.t.Fatalf("not refused: %+v, %v", got, err)
	}
	return refused.Reason
}

func TestRefused(t *testing.T) {
	conflict := "a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> other\n"
	for _, c := range []struct {
		name   string
		do     func(w *world)
		limits Limits
		want   []string
	}{
		{"conflict markers", func(w *world) { w.put("dir/x.go", conflict) }, Limits{}, []string{`"dir/x.go" has conflict markers`}},
		{"nested repository", func(w *world) { w.put("in/x", "x"); w.cmd(w.dir, "init", "-q", "in") }, Limits{}, []string{`"in" is a repository`}},
		{"nested repository with a commit", func(w *world) {
			w.cmd(w.root, "clone", "-q", w.remote, filepath.Join(w.dir, "in"))
		}, Limits{}, []string{`"in" is a repository`}},
		{"a file called .git", func(w *world) { w.put("in/.git", "gitdir: /x") }, Limits{}, []string{`"in" is a repository`}},
		{"two at once", func(w *world) { w.put("x.go", conflict); w.put("y.go", conflict) }, Limits{}, []string{`"x.go"`, `"y.go"`}},
		{"large file", func(w *world) { w.put("big", repeat("x", 5000)) }, Limits{MaxFileBytes: 4999}, []string{`"big" has 5000 bytes, 4999`}},
		{"many files", func(w *world) { w.put("1", ""); w.put("2", ""); w.put("3", "") }, Limits{MaxFiles: 2}, []string{"4 files are changed, 2 are allowed"}},
		{"absolute link", func(w *world) { w.check(os.Symlink("/etc/passwd", filepath.Join(w.dir, "dir/l"))) }, Limits{}, []string{`link "dir/l"`}},
		{"link up and out", func(w *world) { w.check(os.Symlink("../../x", filepath.Join(w.dir, "dir/l"))) }, Limits{}, []string{`link "dir/l"`}},
		{"link into .git", func(w *world) { w.check(os.Symlink(".git/config", filepath.Join(w.dir, "l"))) }, Limits{}, []string{`link "l"`}},
		{"workflow", func(w *world) { w.put(".github/workflows/a/ci.yml", "on: push") }, Limits{Protected: []string{".github/workflows/**"}}, []string{"protected"}},
		{"workflow, in other letters", func(w *world) { w.put(".GitHub/WorkFlows/ci.yml", "on: push") }, Limits{Protected: []string{".github/workflows/**"}}, []string{`".GitHub/WorkFlows/ci.yml" is protected`}},
		{"a pattern in other letters", func(w *world) { w.put("secrets/a", "x") }, Limits{Protected: []string{"Secrets/**"}}, []string{"protected"}},
		{"a link in the place of a protected folder, in other letters", func(w *world) {
			w.check(os.Symlink("dir", filepath.Join(w.dir, ".GITHUB")))
		}, Limits{Protected: []string{".github/workflows/**"}}, []string{`".GITHUB" is protected`}},
		{"owners removed", func(w *world) { w.check(os.Remove(filepath.Join(w.dir, "dir/CODEOWNERS"))) }, Limits{Protected: []string{"**/CODEOWNERS"}}, []string{"protected"}},
		{"pipe over a file", func(w *world) {
			w.check(os.Remove(filepath.Join(w.dir, "a.txt")))
			w.pipe("a.txt")
		}, Limits{}, []string{`"a.txt" is no file`}},
		{"raw LFS file", func(w *world) { w.put("x.bin", "raw") }, Limits{}, []string{`"x.bin" belongs to Git LFS`}},
		{"only documents", func(w *world) { w.put("docs/a.txt", "x"); w.put("b/c.md", "x") }, Limits{NotOnly: []string{"docs/**", "**/*.md"}}, []string{"nothing but documents is changed"}},
		{"a link in the place of a protected folder", func(w *world) {
			w.put("mine/workflows/x.yml", "on: push")
			w.check(os.Symlink("mine", filepath.Join(w.dir, ".github")))
		}, Limits{Protected: []string{".github/workflows/**"}}, []string{`".github" is protected`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, map[string]string{
				"a.txt": "a\n", "dir/CODEOWNERS": "*", "docs.md": conflict, ".gitattributes": "*.bin filter=lfs\n",
				"kept.bin": "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n",
			})
			w.restore()
			w.put("docs.md", "more\n"+conflict) // had its markers before
			before := w.objects()
			c.do(w)
			got := w.refusedFor(c.limits)
			for _, want := range c.want {
				if !strings.Contains(got, want) {
					t.Errorf("reason = %q, want %q", got, want)
				}
			}
			if after := w.objects(); after != before {
				t.Errorf("refused objects reached the mirror: %s, then %s", before, after)
			}
		})
	}
}

// A .gitattributes counts in each folder above a file, also in a folder with a space in its name,
// which git's batch command cannot be asked about.
func TestAttributesOfEachFolderCount(t *testing.T) {
	for _, folder := range []string{"", "a/", "a/b/", "a b/c/"} {
		t.Run(folder, func(t *testing.T) {
			w := newWorld(t, map[string]string{"a.txt": "a\n", folder + ".gitattributes": "*.bin filter=lfs\n"})
			w.restore()
			w.put(folder+"d/e/x.bin", "raw")
			if got, want := w.refusedFor(Limits{}), fmt.Sprintf("%q belongs to Git LFS", folder+"d/e/x.bin"); !strings.Contains(got, want) {
				t.Errorf("reason = %q, want %q", got, want)
			}
		})
	}
}

func (w *world) objects() string {
	w.t.Helper()
	return w.cmd(w.mirror.Dir(), "count-objects", "-v")
}

func TestAllowedChangesPass(t *testing.T) {
	w := newWorld(t, map[string]string{"docs.md": "<<<<<<< a\n=======\n>>>>>>> b\n", ".gitattributes": "*.bin filter=lfs\n", ".gitignore": "cache/\n"})
	w.restore()
	w.put("docs.md", "x\n<<<<<<< a\n=======\n>>>>>>> b\n")
	w.put("rst.txt", "Title\n=======\n")
	w.put("p.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n")
	w.check(os.Symlink("../docs.md", filepath.Join(w.dir, "cache-not")))
	w.check(os.Remove(filepath.Join(w.dir, "cache-not")))
	w.mkdir(filepath.Join(w.dir, "sub"))
	w.check(os.Symlink("../docs.md", filepath.Join(w.dir, "sub", "l")))
	w.put("cache/dep/x", "x")
	w.cmd(w.dir, "init", "-q", "cache/dep") // an ignored folder may contain a repository
	w.put("unreadable", "u")
	w.check(os.Chmod(filepath.Join(w.dir, "unreadable"), 0o200))
	c := w.change()
	c.Limits = Limits{MaxFiles: 5, MaxFileBytes: 1000, Protected: []string{".github/**"}}
	got, err := w.mirror.CommitTree(t.Context(), c)
	w.check(err)
	slices.Sort(got.Files)
	if want := []string{"docs.md", "p.bin", "rst.txt", "sub/l", "unreadable"}; !slices.Equal(got.Files, want) {
		t.Errorf("files = %q", got.Files)
	}
}

// withSubmodule adds a submodule to the remote's main.
func (w *world) withSubmodule() {
	w.t.Helper()
	lib := filepath.Join(w.root, "lib")
	w.cmd(w.root, "init", "-q", "-b", "main", lib)
	w.cmd(lib, "commit", "-q", "--allow-empty", "-m", "lib")
	w.cmd(w.person, "submodule", "add", "-q", lib, "lib")
	w.commit("submodule", nil)
}

func TestGitlinks(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(w *world)
		want string
	}{
		"empty nested repository": {func(w *world) { w.cmd(w.dir, "init", "-q", "nested") }, `"nested" is a repository`},
		"submodule's folder removed": {func(w *world) {
			w.check(os.RemoveAll(filepath.Join(w.dir, "lib")))
		}, `submodule "lib" is removed`},
		"submodule's folder is a file": {func(w *world) {
			w.check(os.RemoveAll(filepath.Join(w.dir, "lib")))
			w.put("lib", "file")
		}, `submodule "lib" is changed`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, tree)
			w.withSubmodule()
			w.restore()
			w.put("a.txt", "x")
			c.do(w)
			if got := w.refusedFor(Limits{}); !strings.Contains(got, c.want) {
				t.Errorf("reason = %q", got)
			}
		})
	}
}

func TestSubmodulesStayAsTheyAre(t *testing.T) {
	testhome.NotShort(t)
	w := newWorld(t, tree)
	w.withSubmodule()
	w.restore()
	w.put("a.txt", "x")
	w.put("lib/built.o", "o")
	if c := w.mustCommit(); !slices.Equal(c.Files, []string{"a.txt"}) {
		t.Errorf("files = %q", c.Files)
	}
}

func TestCommitFilesWithoutACheckout(t *testing.T) {
	w := newWorld(t, tree)
	w.fetch()
	c := Commit{Parents: []string{w.main()}, Message: "Doc", Date: day, Turn: key1}
	got, err := w.mirror.CommitFiles(t.Context(), c, map[string][]byte{"docs/design/1-x.md": []byte("d\r\n"), "a.txt": []byte("n")})
	w.check(err)
	slices.Sort(got.Files)
	if !slices.Equal(got.Files, []string{"a.txt", "docs/design/1-x.md"}) || w.show(got.OID, "docs/design/1-x.md") != "d\r\n" {
		t.Errorf("commit = %+v", got)
	}
	if w.show(got.OID, "dir/b.txt") != "b\n" {
		t.Error("the parent's files are gone")
	}
	same, err := w.mirror.CommitFiles(t.Context(), c, map[string][]byte{"a.txt": []byte("a\n")})
	if err != nil || !same.Empty {
		t.Errorf("same = %+v, %v", same, err)
	}
	for _, bad := range []string{".git/config", "../x", "/x", "x//y", "./x", "x/.GIT", ""} {
		if got, err := w.mirror.CommitFiles(t.Context(), c, map[string][]byte{bad: []byte("x")}); err == nil {
			t.Errorf("committed %q: %+v", bad, got)
		}
	}
	c.Limits.Protected = []string{"a*"}
	var refused *RefusedError
	if _, err := w.mirror.CommitFiles(t.Context(), c, map[string][]byte{"a.txt": []byte("z")}); !errors.As(err, &refused) {
		t.Errorf("err = %v", err)
	}
}

func TestMergeCommitJudgesOnlyItsOwn(t *testing.T) {
	testhome.NotShort(t)
	w := newWorld(t, tree)
	w.restore()
	w.put("mine.txt", "m")
	ours := w.mustCommit()
	w.commit("theirs", map[string]string{".github/workflows/ci.yml": "on: push"})
	w.restore()
	w.put("mine.txt", "m")
	w.put("merged.txt", "both")
	c := w.change()
	c.Parents = []string{ours.OID, w.main()}
	c.Limits.Protected = []string{".github/**"}
	got, err := w.mirror.CommitTree(t.Context(), c)
	w.check(err)
	if !slices.Equal(got.Files, []string{"merged.txt"}) {
		t.Errorf("files = %q", got.Files)
	}
}

func TestPartialWorkIsKept(t *testing.T) {
	w := newWorld(t, tree)
	base := w.restore()
	p := Partial{Key: key1, Dir: w.dir, Index: w.index, Parent: base, Date: day}
	if oid, err := w.mirror.KeepPartial(t.Context(), p); err != nil || oid != "" {
		t.Errorf("nothing to keep: %q, %v", oid, err)
	}
	w.put("half.go", "package half // <<<<<<< ")
	w.put("core", repeat("x", maxPartialBytes+1))
	w.put("in/x", "x")
	w.cmd(w.dir, "init", "-q", "in")
	w.check(os.Remove(filepath.Join(w.dir, "a.txt")))
	oid, err := w.mirror.KeepPartial(t.Context(), p)
	w.check(err)
	changed, err := w.mirror.ChangedFiles(t.Context(), base, oid)
	w.check(err)
	if want := []string{"a.txt", "half.go", "in/x"}; !slices.Equal(changed, want) {
		t.Errorf("kept %q", changed)
	}
	if again, err := w.mirror.PartialFiles(t.Context(), oid); err != nil || !slices.Equal(again, changed) {
		t.Errorf("files of the kept = %q, %v", again, err)
	}
	if got, ok, err := w.mirror.Partial(t.Context(), key1); got != oid || !ok || err != nil {
		t.Errorf("partial = %q %v %v", got, ok, err)
	}
	w.restore()
	if got := w.show(oid, "half.go"); got != "package half // <<<<<<< " {
		t.Errorf("half.go = %q", got)
	}
}
