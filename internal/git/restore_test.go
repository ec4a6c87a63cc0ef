package git

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/testhome"
)

var tree = map[string]string{
	"a.txt": "a\n", "dir/b.txt": "b\n", "dir/deep/c.txt": "c\n", ".gitignore": "*.o\nbuild/\n",
	"name\nwith \"quotes\" and ü.txt": "odd\n",
}

// clean returns the files of a restored checkout of tree.
func clean() map[string]string {
	want := maps.Clone(tree)
	want["dir/"], want["dir/deep/"] = "", ""
	return want
}

func (w *world) wantFiles(want map[string]string) {
	w.t.Helper()
	if got := contents(w.t, w.dir); !maps.Equal(got, want) {
		w.t.Errorf("checkout = %q\nwant %q", got, want)
	}
}

func TestRestoreGivesTheAgentARepository(t *testing.T) {
	w := newWorld(t, tree)
	main := w.restore()
	w.wantFiles(clean())
	if got := w.cmd(w.dir, "rev-parse", "HEAD", "origin/main"); got != main+"\n"+main {
		t.Errorf("HEAD, origin/main = %q", got)
	}
	if got := w.cmd(w.dir, "symbolic-ref", "HEAD"); got != "refs/heads/agent/small/1-x" {
		t.Errorf("branch = %q", got)
	}
	if got := w.cmd(w.dir, "status", "--porcelain", "--ignored"); got != "" {
		t.Errorf("status = %q", got)
	}
	if got := w.cmd(w.dir, "remote"); got != "" {
		t.Errorf("remotes = %q", got)
	}
	w.cmd(w.dir, "fsck", "--connectivity-only")
}

// A checkout damaged in any of these ways is repaired.
func TestRestoreAfterAnything(t *testing.T) {
	testhome.NotShort(t)
	ways := map[string]func(w *world){
		"dirty": func(w *world) {
			w.put("a.txt", "changed")
			w.put("new/x", "x")
			w.put("build/y.o", "y")
			w.check(os.Remove(filepath.Join(w.dir, "dir/b.txt")))
		},
		"same size and time": func(w *world) {
			p := filepath.Join(w.dir, "a.txt")
			info, err := os.Stat(p)
			w.check(err)
			w.put("a.txt", "z\n")
			w.check(os.Chtimes(p, info.ModTime(), info.ModTime()))
		},
		"a file where a folder was": func(w *world) {
			w.check(os.RemoveAll(filepath.Join(w.dir, "dir")))
			w.put("dir", "file")
		},
		"a folder where a file was": func(w *world) {
			w.check(os.Remove(filepath.Join(w.dir, "a.txt")))
			w.put("a.txt/inner/x", "x")
		},
		"a link out where a folder was": func(w *world) {
			w.mkdir(filepath.Join(w.root, "outside"))
			w.write(filepath.Join(w.root, "outside", "b.txt"), "precious")
			w.check(os.RemoveAll(filepath.Join(w.dir, "dir")))
			w.check(os.Symlink(filepath.Join(w.root, "outside"), filepath.Join(w.dir, "dir")))
		},
		"folders that forbid": func(w *world) {
			w.put("locked/in/x", "x")
			w.check(os.Chmod(filepath.Join(w.dir, "locked/in"), 0o500))
			w.check(os.Chmod(filepath.Join(w.dir, "locked"), 0))
		},
		"executable, pipe, mode": func(w *world) {
			w.check(os.Chmod(filepath.Join(w.dir, "a.txt"), 0o755))
			w.pipe("pipe")
		},
		"index.lock left":   func(w *world) { w.write(w.index+".lock", "") },
		"index is garbage":  func(w *world) { w.write(w.index, "no index") },
		"index is gone":     func(w *world) { w.check(os.Remove(w.index)) },
		"index is a folder": func(w *world) { w.check(os.Remove(w.index)); w.mkdir(w.index + "/x") },
		"no .git":           func(w *world) { w.check(os.RemoveAll(filepath.Join(w.dir, ".git"))) },
		".git is a file": func(w *world) {
			w.check(os.RemoveAll(filepath.Join(w.dir, ".git")))
			w.put(".git", "gitdir: /nowhere")
		},
		".git is half": func(w *world) { w.check(os.Remove(filepath.Join(w.dir, ".git", "HEAD"))) },
		"empty":        func(w *world) { w.check(os.RemoveAll(w.dir)); w.mkdir(w.dir) },
		"gone":         func(w *world) { w.check(os.RemoveAll(w.dir)) },
		"a link": func(w *world) {
			w.check(os.Rename(w.dir, w.dir+".real"))
			w.check(os.Symlink(w.dir+".real", w.dir))
		},
		"the agent's own commits": func(w *world) {
			w.put("a.txt", "mine")
			w.cmd(w.dir, "checkout", "-q", "-b", "elsewhere")
			w.cmd(w.dir, "commit", "-qam", "mine")
		},
		"a repository within": func(w *world) {
			w.put("sub/x", "x")
			w.cmd(w.dir, "init", "-q", "sub")
			w.cmd(w.dir, "init", "-q", "dir/deep")
			w.mkdir(filepath.Join(w.dir, "other", ".GIT"))
		},
	}
	for name, spoil := range ways {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, tree)
			w.restore()
			spoil(w)
			w.check(w.mirror.Restore(t.Context(), w.wanted()))
			w.wantFiles(clean())
			if got := w.cmd(w.dir, "status", "--porcelain", "--ignored"); got != "" {
				t.Errorf("status = %q", got)
			}
			if p := filepath.Join(w.root, "outside", "b.txt"); files.Exists(p) && w.read(p) != "precious" {
				t.Error("wrote through a link")
			}
			if got := w.mustCommit(); !got.Empty {
				t.Errorf("commit of a clean checkout = %+v", got)
			}
		})
	}
}

func TestRestoreMovesBetweenCommits(t *testing.T) {
	w := newWorld(t, tree)
	w.restore()
	w.cmd(w.person, "rm", "-qr", "dir")
	w.commit("second", map[string]string{"dir": "now a file", "a.txt": "two\n"})
	w.restore()
	got := contents(t, w.dir)
	if got["dir"] != "now a file" || got["a.txt"] != "two\n" || len(got) != 4 {
		t.Errorf("checkout = %q", got)
	}
}

func TestKeepIgnoredSparesCaches(t *testing.T) {
	w := newWorld(t, tree)
	w.restore()
	w.put("build/cache", "c")
	w.put("x.o", "o")
	w.put("junk", "j")
	w.cmd(w.dir, "init", "-q", "build/dep")
	r := w.wanted()
	r.Ignored = KeepIgnored
	w.check(w.mirror.Restore(t.Context(), r))
	want := clean()
	want["build/"], want["build/cache"], want["x.o"], want["build/dep/"] = "", "c", "o", ""
	w.wantFiles(want)
	w.check(w.mirror.Restore(t.Context(), w.wanted()))
	w.wantFiles(clean())
}

// Blobs are checked out and committed unchanged, whatever the tree's attributes.
func TestTreeComesBackExactly(t *testing.T) {
	w := newWorld(t, map[string]string{"x": "x"})
	w.write(filepath.Join(w.person, "crlf.txt"), "one\r\ntwo\r\n")
	w.write(filepath.Join(w.person, "id.txt"), "$Id$\n")
	w.write(filepath.Join(w.person, "run.sh"), "#!/bin/sh\n")
	w.check(os.Chmod(filepath.Join(w.person, "run.sh"), 0o755))
	w.check(os.Symlink("run.sh", filepath.Join(w.person, "link")))
	w.commit("odd", nil)
	w.write(filepath.Join(w.person, ".gitattributes"), "*.txt text eol=crlf ident\n*.sh text working-tree-encoding=UTF-16\n")
	w.cmd(w.person, "add", ".gitattributes")
	w.cmd(w.person, "commit", "-qm", "attributes")
	w.cmd(w.person, "push", "-q", "origin", "HEAD")
	w.write(filepath.Join(w.home, ".gitconfig"), "[core]\n\tautocrlf = true\n\tattributesFile = "+w.home+"/attr\n")
	w.write(filepath.Join(w.home, "attr"), "* text eol=crlf\n")
	w.open(Options{})
	w.restore()
	got := contents(t, w.dir)
	delete(got, ".gitattributes")
	want := map[string]string{"x": "x", "crlf.txt": "one\r\ntwo\r\n", "id.txt": "$Id$\n", "run.sh": "*#!/bin/sh\n", "link": "-> run.sh"}
	if !maps.Equal(got, want) {
		t.Errorf("checkout = %q", got)
	}
	now := day.AddDate(1, 0, 0)
	w.check(os.Chtimes(filepath.Join(w.dir, "crlf.txt"), now, now))
	if c := w.mustCommit(); !c.Empty {
		t.Errorf("a touched file changed: %q", c.Files)
	}
}

func TestMissingCommitIsTyped(t *testing.T) {
	w := newWorld(t, tree)
	w.restore()
	r := w.wanted()
	r.Commit = strings.Repeat("0", 39) + "1"
	var missing *MissingError
	if err := w.mirror.Restore(t.Context(), r); !errors.As(err, &missing) {
		t.Errorf("err = %v", err)
	}
	w.wantFiles(clean())
}

func TestRestoreRefusesAnIndexInTheCheckout(t *testing.T) {
	w := newWorld(t, tree)
	w.restore()
	for _, change := range []func(r *Restore){
		func(r *Restore) { r.Index = filepath.Join(r.Dir, "index") },
		func(r *Restore) { r.Dir = "relative" },
		func(r *Restore) { r.Branch = "../../config" },
		func(r *Restore) { r.Base = "x.lock" },
	} {
		r := w.wanted()
		change(&r)
		if err := w.mirror.Restore(t.Context(), r); err == nil {
			t.Errorf("accepted %+v", r)
		}
	}
}
