//go:build unix

// Package crashtest kills the real binary everywhere it can die, makes passes
// until nothing is left to do, and compares what is on GitHub, in the branches
// and in the database with a run that nothing happened to. It holds tests only:
// no crash hook ships in the program.
//
// The simulated GitHub holds a numbered request while the pass is killed and
// then drops it, or applies it and drops the answer. Git is reached through a
// helper on PATH that asks the rig first, so its calls are numbered and held in
// the same way; so is the agent.
//
//	go test ./internal/crashtest     a sample, with its seed printed
//	script/crash                     every place where one pass can die
//	script/crash --all               that, lost answers and 502, the database deleted at every place, and samples of
//	                                 the state folder deleted, two kills, kills at some millisecond, and 20 passes at once
//	script/crash --controls          the program with one guard after the other taken out: each time it must be noticed
//
// MERGEXO_CRASH_BIN names a binary to be killed instead of one that is built
// from this tree. One point is run again by its name, for example
// MERGEXO_CRASH=all go test ./internal/crashtest -run 'TestCrash/feedback/kill-git-12-before$'.
package crashtest

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"
)

var (
	mode   = cmp.Or(os.Getenv("MERGEXO_CRASH"), "sample") // sample, single or all
	seed   = flag.Uint64("seed", uint64(time.Now().UnixNano()), "of what is sampled")
	worlds chan *world // idle ones
)

func TestMain(m *testing.M) {
	flag.Parse()
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	dir, err := os.MkdirTemp(fast(), "mxbin")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	p, err := build(dir)
	if err != nil {
		return 1, err
	}
	n := runtime.GOMAXPROCS(0)
	if f := flag.Lookup("test.parallel"); f != nil {
		_, _ = fmt.Sscan(f.Value.String(), &n)
	}
	worlds = make(chan *world, n)
	for range n {
		w, err := openWorld(p)
		if err != nil {
			return 1, err
		}
		defer os.RemoveAll(w.dir)
		worlds <- w
	}
	return m.Run(), nil
}

// build makes the binary that is killed, as it is released, and the helper.
func build(dir string) (p programs, err error) {
	p = programs{mergexo: os.Getenv("MERGEXO_CRASH_BIN"), helper: filepath.Join(dir, "helper")}
	if p.git, err = exec.LookPath("git"); err != nil {
		return p, err
	}
	if p.git, err = filepath.Abs(p.git); err != nil {
		return p, err
	}
	packages := map[string]string{p.helper: "./testdata/helper"}
	if p.mergexo == "" {
		p.mergexo = filepath.Join(dir, "gh-mergexo")
		packages[p.mergexo] = "../../cmd/gh-mergexo"
	}
	for out, from := range packages {
		c := exec.Command("go", "build", "-o", out, from)
		c.Env = append(os.Environ(), "CGO_ENABLED=0")
		if text, err := c.CombinedOutput(); err != nil {
			return p, fmt.Errorf("go build %s: %w\n%s", from, err, text)
		}
	}
	return p, nil
}

// TestCrash is P1 to P4, L01 to L04, L11 to L13, L60, L115, L116, L125, L126.
func TestCrash(t *testing.T) {
	t.Logf("-seed=%d", *seed)
	var table table
	t.Run("points", func(t *testing.T) {
		for _, s := range scenarios() {
			t.Run(slug(s.name), func(t *testing.T) {
				t.Parallel()
				crash(t, s, &table)
			})
		}
	})
	table.print(os.Stdout)
}

// crash runs a scenario un-killed, then at its points.
func crash(t *testing.T, s scenario, out *table) {
	var want outcome
	withWorld(t, func(w *world) { want = w.play(t, s, point{}) })
	if want.err != nil {
		t.Fatalf("the run that nothing happens to: %v", want.err)
	}
	points, enumerated := kills(want.counts)
	out.enumerated(s.name, kindKill, enumerated)
	points = append(points, overlaps(want.counts)...)
	r := rand.New(rand.NewPCG(*seed, 0))
	if mode == "all" {
		points = append(points, more(want, r)...)
	}
	if mode == "sample" {
		points = sample(append(points, faults(want.counts)...), 3, r)
	}
	for _, p := range points {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			withWorld(t, func(w *world) { w.check(t, p, want, out) })
		})
	}
}

// more are the points beyond every single kill.
func more(o outcome, r *rand.Rand) []point {
	points := slices.Concat(faults(o.counts), losses(o.counts, "state.db"), sample(losses(o.counts, "."), 10, r))
	once, _ := kills(o.counts)
	for range 15 {
		first, second := once[r.IntN(len(once))], once[r.IntN(len(once))]
		first.then = &second
		points = append(points, first)
	}
	for range 15 {
		points = append(points, point{act: actKill, at: atTime, n: 1 + r.IntN(max(1, int(o.took.Milliseconds()))), when: before})
	}
	return append(points, point{act: actCrowd, n: 20})
}

func sample(points []point, n int, r *rand.Rand) []point {
	r.Shuffle(len(points), func(i, j int) { points[i], points[j] = points[j], points[i] })
	return points[:min(n, len(points))]
}

// withWorld lends a world.
func withWorld(t *testing.T, do func(*world)) {
	w := <-worlds
	defer func() { worlds <- w }()
	do(w)
	if err := w.end(); err != nil {
		t.Error(err)
	}
}

// outcome is what a run came to.
type outcome struct {
	ended  ended
	counts counts
	lost   map[string]int // runs of the agent whose answer died with their pass
	passes int
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
	if s.setup != nil {
		if o.err = steps(s.setup, quiet)(w); o.err != nil {
			return o
		}
	}
	w.later.Add(10)
	if o.err = s.input(w); o.err != nil {
		return o
	}
	begin := time.Now()
	for at := &p; at != nil && o.err == nil; at = at.then {
		w.rig.reset(*at)
		o.err = w.suffer(*at, &o)
	}
	if o.err != nil {
		return o
	}
	passes, err := w.settle()
	if p.act == actLag || p.lag { // what was not listed comes to light
		for range unlisted + 1 {
			if _, err := w.pass(); err != nil {
				break // the next ones tell
			}
		}
		passes, err = w.settle()
	}
	o.passes += passes
	o.counts, o.took = w.rig.counts(), time.Since(begin)
	if o.err = err; err != nil {
		return o
	}
	if o.err = w.sound(); o.err == nil {
		o.ended, o.err = w.look()
	}
	return o
}

// suffer makes passes until the point has struck or everything is quiet.
func (w *world) suffer(p point, o *outcome) error {
	switch {
	case p.act == "":
		return nil
	case p.act == actCrowd:
		o.struck = true
		return w.crowd(p.n)
	case p.at == atTime:
		o.struck = true
		if _, _, err := w.startPass(); err != nil {
			return err
		}
		time.Sleep(time.Duration(p.n) * time.Millisecond)
		w.kill()
		return w.mourn(p, o)
	}
	for range mostPasses {
		_, err := w.pass()
		o.passes++
		w.rig.mu.Lock()
		struck := w.rig.struck
		w.rig.mu.Unlock()
		if struck {
			o.struck = true
			return w.mourn(p, o)
		}
		if err != nil {
			return err
		}
		if l, err := w.ledger(); err != nil || l.open == 0 && o.passes > 3 {
			return err // a number beyond what happens
		}
	}
	return nil
}

// mourn notes what the death may have cost, and deletes what is to be gone.
func (w *world) mourn(p point, o *outcome) error {
	if p.gone == "." {
		if err := os.RemoveAll(w.path("state")); err != nil {
			return err
		}
	} else if p.gone != "" {
		for _, suffix := range []string{"", "-wal", "-shm"} {
			if err := os.RemoveAll(w.path("state", p.gone+suffix)); err != nil {
				return err
			}
		}
	}
	if p.gone == "" {
		if err := errors.Join(w.plantLocks(), w.plantWork()); err != nil {
			return err
		}
	}
	lost, err := w.lost()
	for what, n := range lost {
		o.lost[what] += n
	}
	return err
}

// plantLocks leaves in the mirror what a git that is killed may leave there.
func (w *world) plantLocks() error {
	mirror := w.path("state", "repos", repoName+".git")
	if _, err := os.Stat(mirror); err != nil {
		return nil //nolint:nilerr // there is none yet
	}
	for _, name := range []string{"packed-refs.lock", "HEAD.lock", "config.lock", "index.lock"} {
		if err := os.WriteFile(filepath.Join(mirror, name), nil, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// crowd starts passes at once and waits for all.
func (w *world) crowd(n int) error {
	var all []<-chan struct{}
	var started []*exec.Cmd
	for range n {
		done, c, err := w.startPass()
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
func (w *world) check(t *testing.T, p point, want outcome, out *table) {
	begin := time.Now()
	got := w.play(t, w.scenarioOf(t), p)
	err := got.err
	if err == nil {
		err = got.ended.compare(want.ended, p, got.lost)
	}
	out.ran(w.scenario.name, p.kind(), got.struck, err != nil, time.Since(begin))
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "FAIL", t.Name()) // at once: the rest may take an hour
	log, _ := os.ReadFile(w.path("log"))
	t.Errorf("%s: %v\n%s\nthe passes said:\n%s", p, err, w.story(), log)
}

// scenarioOf finds the scenario by the test's name.
func (w *world) scenarioOf(t *testing.T) scenario {
	parts := strings.Split(t.Name(), "/")
	for _, s := range scenarios() {
		if slices.Contains(parts, slug(s.name)) {
			return s
		}
	}
	t.Fatalf("no scenario in %s", t.Name())
	return scenario{}
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

// table is what script/crash prints.
type table struct {
	mu    sync.Mutex
	lines []*line
}

type line struct {
	scenario, kind                  string
	enumerated, run, missed, failed int
	seconds                         time.Duration
}

func (t *table) line(scenario, kind string) *line {
	for _, l := range t.lines {
		if l.scenario == scenario && l.kind == kind {
			return l
		}
	}
	l := &line{scenario: scenario, kind: kind}
	t.lines = append(t.lines, l)
	return l
}

func (t *table) enumerated(scenario, kind string, n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.line(scenario, kind).enumerated += n
}

func (t *table) ran(scenario, kind string, struck, failed bool, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.line(scenario, kind)
	l.run++
	l.seconds += took
	if !struck {
		l.missed++
	}
	if failed {
		l.failed++
	}
}

func (t *table) print(out io.Writer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	slices.SortStableFunc(t.lines, func(a, b *line) int {
		return cmp.Or(strings.Compare(a.kind, b.kind), strings.Compare(a.scenario, b.scenario))
	})
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "what happens\tscenario\tpoints\trun\tnot reached\tfailures\tseconds")
	sum := line{}
	for _, l := range t.lines {
		l.enumerated = max(l.enumerated, l.run)
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%d\t%.0f\n", l.kind, l.scenario, l.enumerated, l.run, l.missed, l.failed, l.seconds.Seconds())
		sum.enumerated, sum.run, sum.missed, sum.failed = sum.enumerated+l.enumerated, sum.run+l.run, sum.missed+l.missed, sum.failed+l.failed
		sum.seconds += l.seconds
	}
	fmt.Fprintf(w, "all\t\t%d\t%d\t%d\t%d\t%.0f\n", sum.enumerated, sum.run, sum.missed, sum.failed, sum.seconds.Seconds())
	_ = w.Flush()
}
