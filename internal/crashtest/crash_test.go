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
//	go test ./internal/crashtest     a few random histories; with MERGEXO_TEST=long also one thing that happens to each
//	                                 scenario, and one guard of the program taken out
//	script/crash                     every place where one pass can die
//	script/crash --lost              every place, and the database deleted after each kill
//	script/crash --ci                that, and a sample of the rest
//	script/crash --all               that, and the rest: lost answers, 502, no connection, lists that lag, the database
//	                                 and the whole state folder deleted at every place, 20 passes at once; of two kills
//	                                 and of kills at some millisecond a sample, as there is no end of them
//	script/crash --controls          the program with one guard after the other taken out: each time it must be noticed
//	script/crash --fleet             three machines on one PostgreSQL, see fleet_test.go; with --ci, --all or --controls, too
//	script/crash SCENARIO/POINT      one point again, as a failure names it
//
// MERGEXO_CRASH_BIN names a binary to be killed instead of one that is built (with the same -ldflags)
// from this tree. What is sampled follows from the seed, which is printed.
package crashtest

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/testhome"
)

var (
	mode   = cmp.Or(os.Getenv("MERGEXO_CRASH"), "sample") // sample, single, lost, ci, all, or one point: SCENARIO/POINT
	only   = regexp.MustCompile(os.Getenv("MERGEXO_CRASH_ONLY"))
	seed   = flag.Uint64("seed", newSeed(), "of what is sampled")
	worlds chan *world // idle ones
)

// newSeed is the same one every time for the few points of go test: a change is to
// be what makes them fail. script/crash takes others.
func newSeed() uint64 {
	if mode == "sample" {
		return 1
	}
	return uint64(time.Now().UnixNano()) //nolint:gosec // a moment after 1970
}

func TestMain(m *testing.M) {
	flag.Parse()
	if testing.Short() {
		fmt.Println("nothing is killed with -short")
		return
	}
	debug.SetGCPercent(400) // the simulators are small
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
		defer w.closeFleet()
		worlds <- w
	}
	return testhome.Waiting{M: m}.Run(), nil
}

// timings names the variable with the timings of passes, see config.TimingsVariable; linked has the
// program read it.
const (
	timings = "MERGEXO_TIMINGS"
	linked  = "-ldflags=-X github.com/mergexo/gh-mergexo/internal/config.TimingsVariable=" + timings
)

// build makes the binary that is killed, and the helper.
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
		c := exec.Command("go", "build", linked, "-o", out, from)
		c.Env = append(os.Environ(), "CGO_ENABLED=0") // as in a release
		if text, err := c.CombinedOutput(); err != nil {
			return p, fmt.Errorf("go build %s: %w\n%s", from, err, text)
		}
	}
	return p, nil
}

// TestCrash kills a pass wherever it can die; the next passes repeat nothing and
// lose nothing.
func TestCrash(t *testing.T) {
	testhome.OnlyLong(t)
	t.Logf("-seed=%d", *seed)
	if fleets && serverPrograms() == "" {
		fmt.Fprintln(os.Stderr, "SKIPPED: several machines: no PostgreSQL server is installed; on Debian: apt-get install postgresql")
		t.Skip("no PostgreSQL server is installed")
	}
	chosen := slices.DeleteFunc(scenarios(), func(s scenario) bool {
		name, _, one := strings.Cut(mode, "/")
		return s.control || s.fleet != fleets || !only.MatchString(slug(s.name)) || one && slug(s.name) != name
	})
	var table table
	defer table.report(os.Stderr)()
	wants := unharmed(t, chosen, &table)
	points := make([][]point, len(chosen))
	for i, s := range chosen {
		points[i] = s.points(t, wants[i], rand.New(rand.NewPCG(*seed, uint64(i))), &table)
	}
	t.Run("points", func(t *testing.T) {
		for i, s := range chosen {
			t.Run(slug(s.name), func(t *testing.T) {
				t.Parallel() // no scenario waits for the last points of the one before
				for _, p := range points[i] {
					t.Run(p.String(), func(t *testing.T) {
						t.Parallel()
						withWorld(t, func(w *world) { w.check(t, s, p, wants[i], &table) })
					})
				}
			})
		}
	})
	table.print(os.Stdout)
}

// unharmed runs every scenario with nothing happening to it.
func unharmed(t *testing.T, all []scenario, out *table) []outcome {
	wants := make([]outcome, len(all))
	var runs sync.WaitGroup
	for i, s := range all {
		runs.Go(func() {
			begin := time.Now()
			withWorld(t, func(w *world) { wants[i] = w.play(t, s, point{}) })
			out.unharmed(s.name, time.Since(begin))
		})
	}
	runs.Wait()
	for i, want := range wants {
		if want.err != nil {
			t.Fatalf("%s, with nothing happening to it: %v", all[i].name, want.err)
		}
	}
	return wants
}

// points are those that are run of a scenario, as the mode says.
func (s scenario) points(t *testing.T, want outcome, r *rand.Rand, out *table) (points []point) {
	_, name, one := strings.Cut(mode, "/")
	if s.fleet && !one {
		points = s.fleetPoints(want, r, out)
		out.planned(len(points))
		return points
	}
	points, enumerated := kills(want.counts)
	out.enumerated(s.name, kindKill, enumerated)
	if mode != "all" && !s.beside {
		points = distinct(points, want.found, r)
	}
	if mode == "lost" {
		points = without(points, database)
		out.planned(len(points))
		return points
	}
	points = append(points, overlaps(want.counts)...)
	switch {
	case one:
		p, err := parsePoint(name)
		if err != nil {
			t.Fatal(err)
		}
		points = []point{p}
	case mode == "sample":
		points = sample(append(sample(points, 1, r), sample(faults(want.counts), 1, r)...), 1, r)
	case mode == "ci" && s.sampled:
		points = append(some(points, s, r), sample(more(want, r, 1), mostBeyond, r)...)
	case mode == "ci":
		points = append(points, more(want, r, 2)...)
	case mode == "all":
		points = append(points, more(want, r, -1)...)
	}
	out.planned(len(points))
	return points
}

// mostOfSampled is at how many places CI kills a sampled scenario, and how many other things happen to it.
const mostOfSampled, mostBeyond = 3, 1

// some are the points at which CI kills a sampled scenario: all of those that only it has.
func some(points []point, s scenario, r *rand.Rand) []point {
	most := mostOfSampled
	if s.plans { // a roadmap makes many requests
		most = 2
	}
	isOwn := func(p point) bool { return p.at == s.own && p.when == after }
	own := slices.DeleteFunc(slices.Clone(points), func(p point) bool { return !isOwn(p) })
	return append(spread(slices.DeleteFunc(points, isOwn), most, r), own...)
}

// more are the points beyond every single kill: so many of each kind, or all.
func more(o outcome, r *rand.Rand, of int) (points []point) {
	for _, all := range [][]point{faults(o.counts), losses(o.counts, database), losses(o.counts, wholeState)} {
		if of >= 0 {
			all = sample(all, of, r)
		}
		points = append(points, all...)
	}
	if of < 0 {
		of = 15 // of what has no end
	}
	for range of {
		points = append(points, twice(o.counts, r),
			point{act: actKill, at: atTime, n: 1 + r.IntN(max(1, int(o.took.Milliseconds()))), when: before})
	}
	return append(points, point{act: actCrowd, n: 20})
}

// spread takes one of each of n equal stretches. The points stand by kind, in the order in
// which they are reached: no kind is left out, and no long stretch of a pass.
func spread(points []point, n int, r *rand.Rand) (some []point) {
	n = min(n, len(points))
	for i := range n {
		from, until := i*len(points)/n, (i+1)*len(points)/n
		some = append(some, points[from+r.IntN(until-from)])
	}
	return some
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
