//go:build unix

package crashtest

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// A pass that is killed leaves what is on disk and on GitHub, and nothing else. So two places on
// its way between which neither has changed are one place to die at: the reads in a row. A run with
// nothing happening to it finds them by looking at every place at all that a death would leave
// there, and only the first of them is run by script/crash and script/crash --ci. With --all each
// is run.

// found is what a death would have left at a place.
type found struct {
	at   place
	n    int
	left string // sums up the disk and GitHub; "" where somebody else was at work, so that nobody can tell
}

// spot names a place in a run.
type spot struct {
	at place
	n  int
}

// notes has the rig look at each place from now on.
func (r *rig) notes() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.noting = true
}

// note looks at a place, before it has its effect.
func (r *rig) note(at place, n int) {
	r.mu.Lock()
	noting, alone := r.noting, r.busy == 0
	r.mu.Unlock()
	if !noting {
		return
	}
	f := found{at: at, n: n}
	if alone {
		left, err := r.w.left()
		if err != nil {
			r.fault(err)
		}
		f.left = left
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.busy > 0 {
		f.left = "" // somebody began while we looked
	}
	r.found = append(r.found, f)
}

// begins and ends count what is under way: a request, a call of git, a run of the agent.
func (r *rig) begins() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.busy++
}

func (r *rig) ends() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.busy--
}

// alike are the places at which a death leaves what it leaves at the one before.
func alike(all []found) map[spot]bool {
	same := map[spot]bool{}
	for i := 1; i < len(all); i++ {
		if all[i].left != "" && all[i].left == all[i-1].left {
			same[spot{all[i].at, all[i].n}] = true
		}
	}
	return same
}

// distinct leaves out the points that are one with the point before.
func distinct(points []point, alike map[spot]bool) []point {
	return slices.DeleteFunc(points, func(p point) bool { return p.when == before && alike[spot{p.at, p.n}] })
}

// left sums up the disk and GitHub: every file that a next pass may read, with its content and its
// times, for git goes by those; and all that is on GitHub. Logs are for people, and the index of
// the database's log is made again.
func (w *world) left() (string, error) {
	sum := sha256.New()
	for _, dir := range []string{w.state(), w.path("home"), w.repo.GitDir()} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil // before the first pass, or a file that has just been taken away
			}
			if err != nil {
				return err
			}
			if path == w.state("logs") {
				return filepath.SkipDir
			}
			if strings.HasSuffix(path, "-shm") {
				return nil
			}
			return describe(sum.Write, path, d)
		})
		if err != nil {
			return "", err
		}
	}
	fmt.Fprint(sum, w.hub.Dump())
	seen, err := w.fleet.committed()
	if err != nil {
		return "", err
	}
	fmt.Fprint(sum, seen)
	return string(sum.Sum(nil)), nil
}

func describe(write func([]byte) (int, error), path string, d fs.DirEntry) error {
	info, err := d.Info()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s %d %s\n", path, info.Mode(), info.Size(), info.ModTime())
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		fmt.Fprintln(&b, s.Ino)
	}
	if info.Mode().IsRegular() {
		text, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		b.Write(text)
	}
	_, err = write(b.Bytes())
	return err
}

// Places are one when nothing has changed in between, and two when a file, a pull request or the
// time of a file has.
func TestPlacesThatAreOne(t *testing.T) {
	all := []found{{atRequest, 1, "a"}, {atRequest, 2, "a"}, {atGit, 1, "a"}, {atRequest, 3, "b"}, {atGit, 2, ""}, {atGit, 3, ""}, {atRequest, 4, "a"}}
	if got := alike(all); len(got) != 2 || !got[spot{atRequest, 2}] || !got[spot{atGit, 1}] {
		t.Errorf("got %v", got)
	}
	withWorld(t, func(w *world) {
		if err := w.begin(scenario{}); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(w.state(), "file")
		last := ""
		for _, step := range []struct {
			name    string
			do      func() error
			changes bool
		}{
			{"first", func() error { return os.MkdirAll(filepath.Dir(file), 0o700) }, true},
			{"nothing", func() error { return nil }, false},
			{"a file", func() error { return os.WriteFile(file, []byte("one"), 0o600) }, true},
			{"reading it", func() error { _, err := os.ReadFile(file); return err }, false},
			{"its content", func() error { return os.WriteFile(file, []byte("two"), 0o600) }, true},
			{"its time", func() error { return os.Chtimes(file, w.now(), w.now()) }, true},
			{"an issue", func() error { _, err := w.repo.OpenIssue("ann", "It crashes", ""); return err }, true},
			{"a branch", func() error { return w.repo.CreateBranch("more", branchHead(w, "main")) }, true},
			{"a log", func() error {
				dir := w.state("logs")
				if err := os.MkdirAll(dir, 0o700); err != nil {
					return err
				}
				return os.WriteFile(filepath.Join(dir, "today.jsonl"), []byte("{}\n"), 0o600)
			}, true}, // the folder is made
		} {
			if err := step.do(); err != nil {
				t.Fatal(err)
			}
			left, err := w.left()
			if err != nil {
				t.Fatal(err)
			}
			if (left != last) != step.changes {
				t.Errorf("%s: seen as changed: %v", step.name, left != last)
			}
			last = left
		}
	})
}

func branchHead(w *world, name string) string {
	oid, _ := w.repo.Head(name)
	return oid
}
