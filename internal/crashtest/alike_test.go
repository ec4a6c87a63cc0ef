//go:build unix

package crashtest

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/testpg"
)

// A pass that is killed leaves what is on disk and on GitHub, and nothing else. So two places on
// its way between which neither has changed are one place to die at: the reads in a row, and all of a
// transaction up to its end. A run with nothing happening to it finds them by looking at every place
// at all that a death would leave there, and script/crash and script/crash --ci run the first of them
// alone. With --all each is run, but for several machines.
//
// A pass that loses its database lives. But none of its statements works any more, and it sends
// nothing without asking for its session, so that what is there then is what it leaves. Only where the
// answer to a transaction's end is lost it does not know what is there: that is a place of its own. The
// seed chooses which one of those that are one place is run.

// found is what a strike would have left at a place.
type found struct {
	left   string // sums up the disk and GitHub; "" where somebody else was at work, so that nobody can tell
	rows   string // the part of it that the database says
	ends   bool   // a transaction, or a statement outside of one
	writes bool   // a statement that changes rows
}

// spot names a place in a run, before or after what happens there.
type spot struct {
	at   place
	n    int
	when moment
}

// notes has the rig look at each place from now on.
func (r *rig) notes() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.found = map[spot]found{}
}

// note looks at a place, before anybody hears of it.
func (r *rig) note(at place, n int, when moment) { r.noteAs(at, n, when, found{}) }

// noteStatement looks at a place where a flight to the database comes by.
func (r *rig) noteStatement(n int, when moment, f testpg.Flight) {
	r.noteAs(atStatement, n, when, found{ends: f.Done && !f.Open, writes: writesRows.MatchString(f.SQL)})
}

func (r *rig) noteAs(at place, n int, when moment, f found) {
	r.mu.Lock()
	noting, alone := r.found != nil, r.busy == 0
	r.mu.Unlock()
	if !noting {
		return
	}
	if alone && (mode != "ci" || r.w.fleet == nil) { // CI takes a sample of all there
		var err error
		if f.left, f.rows, err = r.w.left(); err != nil {
			r.fault(err)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.busy > 0 {
		f.left = "" // somebody began while we looked
	}
	r.found[spot{at, n, when}] = f
}

// begins and ends count what is under way and changes something: a request, a call of git, a
// transaction's end, a run of the agent.
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

// distinct takes one of the points that are one.
func distinct(points []point, all map[spot]found, r *rand.Rand) (some []point) {
	at, like := map[string]int{}, map[string]int{}
	for _, p := range points {
		f := all[spot{p.at, p.n, p.when}]
		strike := fmt.Sprintln(p.act, p.gone, p.lag, f.left)
		if p.act.hitsDatabase() {
			strike += fmt.Sprint(f.ends && f.rows != all[spot{p.at, p.n, before}].rows)
		}
		if p.act == actFailover {
			strike += all[p.lags()].rows // what the replica has
		}
		i, known := at[strike]
		switch like[strike]++; {
		case f.left == "", !known:
			at[strike] = len(some)
			some = append(some, p)
		case p.act.hitsDatabase() && r.IntN(like[strike]) == 0:
			some[i] = p
		}
	}
	return some
}

// lags is the place from which on a replica gets nothing more.
func (p point) lags() spot { return spot{p.at, max(1, p.n-p.less), before} }

// left sums up the disk and GitHub: every file that a next pass may read, with its content and its
// times, for git goes by those; and all that is on GitHub. Logs are for people, and the index of
// the database's log is made again.
func (w *world) left() (all, rows string, err error) {
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
			return "", "", err
		}
	}
	fmt.Fprint(sum, w.hub.Dump())
	if rows, err = w.fleet.committed(); err != nil {
		return "", "", err
	}
	fmt.Fprint(sum, rows)
	return string(sum.Sum(nil)), rows, nil
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
// time of a file has; and where nobody hears of a transaction's end.
func TestPlacesThatAreOne(t *testing.T) {
	all := map[spot]found{
		{atRequest, 1, before}:   {left: "a", rows: "1"},
		{atStatement, 1, before}: {left: "a", rows: "1"},
		{atStatement, 1, after}:  {left: "a", rows: "1", ends: true},
		{atStatement, 2, before}: {left: "a", rows: "1"},
		{atStatement, 2, after}:  {left: "b", rows: "2", ends: true},
		{atRequest, 2, before}:   {left: "b", rows: "2"},
		{atRequest, 3, before}:   {left: "b", rows: "2"},
		{atRequest, 4, before}:   {},
		{atRequest, 5, before}:   {},
		{atStatement, 3, before}: {left: "b", rows: "2"},
	}
	for seed := range uint64(20) {
		for act, want := range map[deed]string{actKill: "a b ? ?", actCut: "a b ? ? b, unheard"} {
			points := upTo(5, point{act: act, at: atRequest, when: before})
			points = append(points, upTo(3, point{act: act, at: atStatement, when: before})...)
			if act == actCut {
				points = append(points, upTo(2, point{act: act, at: atStatement, when: after})...)
			}
			var got []string
			for _, p := range distinct(points, all, rand.New(rand.NewPCG(seed, 1))) {
				what := cmp.Or(all[spot{p.at, p.n, p.when}].left, "?")
				if p.n == 2 && p.when == after {
					what += ", unheard"
				}
				got = append(got, what)
			}
			if strings.Join(got, " ") != want {
				t.Errorf("%s: got %v", act, got)
			}
		}
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
			left, _, err := w.left()
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
