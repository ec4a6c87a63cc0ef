//go:build unix

package crashtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// outcome is what a run came to.
type outcome struct {
	ended  ended
	counts counts
	found  map[spot]found // at the places of a run that nothing happens to
	lost   map[string]int // runs of the agent whose answer died with their pass
	passes int
	twice  int           // runs of the agent beyond those of a run that nothing happens to
	took   time.Duration // of the passes that something could happen to
	struck bool
	err    error
}

// play runs a scenario with something happening to it.
func (w *world) play(t *testing.T, s scenario, p point) (o outcome) {
	o.lost = map[string]int{}
	if o.err = w.begin(s); o.err != nil {
		return o
	}
	w.plainGit.Store(mode != s.pointName(p)) // until something is to strike
	if s.setup != nil {
		if o.err = steps(s.setup, quiet)(w); o.err != nil {
			return o
		}
	}
	w.later.Add(10)
	w.before = w.rig.counts().runs
	if o.err = s.input(w); o.err != nil {
		return o
	}
	begin := time.Now()
	o.struck = true
	if p.act == "" {
		w.rig.notes()
	}
	for at := &p; at != nil && o.struck && o.err == nil; at = at.then {
		w.rig.reset(*at)
		w.plainGit.Store(at.noGit() && mode != s.pointName(p))
		o.err = w.suffer(*at, &o)
	}
	w.plainGit.Store(p.act != "" && mode != s.pointName(p))
	w.rig.disarm()
	if o.err == nil {
		o.err = w.recover(p, &o)
	}
	o.counts, o.took, o.found = w.rig.counts(), time.Since(begin), w.rig.found
	if o.err == nil {
		o.ended, o.err = w.look()
	}
	if o.err == nil {
		o.err = w.heardOfTheDead()
	}
	return o
}

// recover makes passes until everything is quiet, and once more after what
// lists did not show has appeared.
func (w *world) recover(p point, o *outcome) error {
	passes, err := w.settle()
	o.passes += passes
	switch {
	case p.act == actLag, p.lag:
		for range unlisted + 1 {
			if _, err := w.pass(); err != nil {
				break // the next ones tell
			}
		}
	case p.act == actLate:
		w.later.Add(int64(late / time.Second))
	case p.act == actStop, p.act == actRouse: // which found no agent of another
		if err := errors.Join(err, w.fleet.wake()); err != nil {
			return err
		}
	default:
		return errors.Join(err, w.sound())
	}
	_, err = w.settle()
	return errors.Join(err, w.sound())
}

// suffer makes passes until the point has struck or everything is quiet.
func (w *world) suffer(p point, o *outcome) (err error) {
	switch {
	case p.act == "":
		return nil
	case p.act == actCrowd:
		return w.crowd(p.n)
	case p.act == actSlow:
		w.fleet.slowDown(time.Duration(p.n) * time.Millisecond)
		return nil
	case p.act == actFew:
		w.fleet.rotate()
		return w.fewConnections(p.n)
	case p.at == atTime:
		err = w.killAfter(time.Duration(p.n) * time.Millisecond)
	case p.act == actFailover:
		if err = w.fleet.follow(); err != nil {
			return err
		}
		o.struck, err = w.passUntilStruck(o)
	default:
		o.struck, err = w.passUntilStruck(o)
	}
	if err != nil || !o.struck {
		return err
	}
	return w.mourn(p, o)
}

func (w *world) passUntilStruck(o *outcome) (struck bool, err error) {
	for range mostPasses {
		_, err := w.pass()
		o.passes++
		if w.rig.hasStruck() {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		if l, err := w.ledger(); err != nil || l.open == 0 && o.passes > 3 {
			return false, err // a number beyond what happens
		}
	}
	return false, nil
}

// killAfter makes one pass after the other, and kills the one that runs when
// the time is up. An idle one runs if no other does.
func (w *world) killAfter(wait time.Duration) error {
	up := time.After(wait)
	for {
		done, _, err := w.startPass()
		if err != nil {
			return err
		}
		select {
		case <-up:
			w.kill()
			return nil
		case <-done:
		}
	}
}

// mourn notes what the death may have cost, and deletes what is to be gone.
func (w *world) mourn(p point, o *outcome) (err error) {
	switch p.gone {
	case wholeState:
		err = os.RemoveAll(w.state())
	case database:
		err = loseDatabase(w)
	default:
		if p.act.hitsDatabase() {
			w.fleet.struck()
			break
		}
		err = errors.Join(w.sound(), w.plantLocks(), w.plantWork(), w.plantSetup(p))
	}
	w.fleet.rotate()
	lost, lostErr := w.lost()
	for what, n := range lost {
		o.lost[what] += n
	}
	return errors.Join(err, lostErr)
}

// plantLocks leaves in the mirror what a git that is killed may leave there: a
// lock beside whatever it may have been writing, its new refs included.
func (w *world) plantLocks() error {
	mirrors, err := filepath.Glob(w.state("repos", "*", "*.git", "HEAD"))
	if err != nil || len(mirrors) == 0 {
		return errors.Join(err, w.unlessAgentsRan("mirror")) // there is none yet
	}
	mirror := filepath.Dir(mirrors[0])
	names := []string{"packed-refs", "HEAD", "config", "index", "shallow", "objects/maintenance", "objects/info/commit-graph"}
	w.rig.mu.Lock()
	for _, r := range w.rig.runs {
		for _, of := range []string{"turns", "partial"} {
			names = append(names, "refs/mergexo/"+of+"/"+r.turn)
		}
	}
	w.rig.mu.Unlock()
	for branch := range w.repo.Branches() {
		names = append(names, "refs/remotes/origin/"+branch)
	}
	for _, name := range names {
		path := filepath.Join(mirror, filepath.FromSlash(name)) + ".lock"
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// crowd starts passes at once and waits for all. Each waits for its turn to
// plan, so that they claim and work side by side.
func (w *world) crowd(n int) error {
	var all []<-chan struct{}
	var started []*exec.Cmd
	for range n {
		done, c, err := w.startPass("--wait=5m")
		if err != nil {
			return err
		}
		all, started = append(all, done), append(started, c)
	}
	for i, done := range all {
		<-done
		if code := started[i].ProcessState.ExitCode(); code != 0 {
			return fmt.Errorf("one of %d passes at once ended with code %d", n, code)
		}
	}
	return nil
}

// check runs a point and compares.
func (w *world) check(t *testing.T, s scenario, p point, want outcome, out *table) {
	begin := time.Now()
	got := w.play(t, s, p)
	err := got.err
	if s.deadly && p.gone == "" {
		got.lost = nil // what was lost used an attempt: it is not tried once more
	}
	if err == nil {
		err = got.ended.compare(want.ended, p, got.lost)
		got.twice = got.ended.paidTwice(want.ended)
	}
	if err != nil && got.err == nil && p.gone != "" && s.recalls != nil {
		if less := s.recalls(w); less != nil {
			err = errors.Join(err, less)
		} else {
			err = nil
		}
	}
	out.ran(s.name, p.kind(), got, err != nil, time.Since(begin))
	again := s.pointName(p)
	if !got.struck && err == nil {
		fmt.Fprintln(os.Stderr, "not reached:", again)
	}
	if err == nil {
		return
	}
	fmt.Fprintf(os.Stderr, "FAIL: script/crash %s (found with --seed %d)\n%v\n", again, *seed, err) // at once: the rest may take an hour
	log, _ := os.ReadFile(w.path("log"))
	t.Errorf("%s: %v\n%s\nthe passes said:\n%s", p, err, w.story(), log)
}

// story is what the passes did, up to a little after the point.
func (w *world) story() string {
	w.rig.mu.Lock()
	said := w.rig.said
	w.rig.mu.Unlock()
	if at := slices.Index(said, "*** here"); at >= 0 {
		said = said[max(0, at-8):min(len(said), at+60)]
	}
	return "what they did:\n  " + strings.Join(said, "\n  ")
}
