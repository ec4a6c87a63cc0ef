//go:build unix

package crashtest

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/mergexo/gh-mergexo/internal/testhome"
)

// TestControls shows that the rig can fail: with each guard taken out of the
// real code, one of a few points must find a difference that the real program
// does not show at the same point; or, where people do in the scenario what the
// guard is for, the scenario itself. A guard whose absence nobody notices is not
// tested.
//
// MERGEXO_CRASH_CONTROLS=1, which script/crash --controls sets, takes them all
// out; otherwise one.
func TestControls(t *testing.T) {
	testhome.OnlyLong(t)
	testhome.NotRest(t)
	var said verdicts
	t.Run("without", func(t *testing.T) {
		for _, m := range mutants() {
			if os.Getenv("MERGEXO_CRASH_CONTROLS") == "" && !m.quick || scenarioNamed(t, m.scenario).fleet != fleets {
				continue
			}
			t.Run(slug(m.guard), func(t *testing.T) {
				t.Parallel()
				control(t, m, &said)
			})
		}
	})
	said.print(os.Stdout)
}

// TestControlsFit: every control still finds its guard in the source, says so
// when it does not, and what is left is a program.
func TestControlsFit(t *testing.T) {
	testhome.OnlyLong(t)
	checks := newTypeChecks(t)
	for _, m := range mutants() {
		source, err := os.ReadFile(filepath.Join(module, filepath.FromSlash(m.file)))
		if err != nil {
			t.Fatal(err)
		}
		without, err := m.apply(string(source))
		if err != nil {
			t.Error(err)
		}
		if err := checks.check(m.file, without); err != nil {
			t.Errorf("without %q: %v", m.guard, err)
		}
		if without == string(source) {
			t.Errorf("%s: nothing is taken out", m.guard)
		}
		for _, other := range []string{"", string(source) + string(source)} {
			if _, err := m.apply(other); err == nil {
				t.Errorf("%s: a guard that does not stand there once went unnoticed", m.guard)
			}
		}
	}
	if checks.check("actions/actions.go", "package actions\n\nimport \"fmt\"\n") == nil {
		t.Error("a package that does not compile went unnoticed")
	}
}

// typeChecks checks packages as the compiler does, with one file instead of another. What they import
// is compiled once for all.
type typeChecks struct {
	files    *token.FileSet
	imported types.Importer
	sources  map[string][]string // by the folder of a package
}

func newTypeChecks(t *testing.T) typeChecks {
	c := typeChecks{files: token.NewFileSet(), sources: map[string][]string{}}
	folders := map[string]bool{}
	for _, m := range mutants() {
		folders["./"+path.Dir(m.file)] = true
	}
	list := exec.Command("go", append([]string{"list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}\t{{.Dir}}\t{{join .GoFiles \" \"}}"}, slices.Sorted(maps.Keys(folders))...)...)
	list.Dir = module
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	exported := map[string]string{}
	for line := range strings.Lines(string(out)) {
		one := strings.Split(strings.TrimSpace(line), "\t")
		exported[one[0]] = one[1]
		if len(one) > 3 {
			c.sources[one[2]] = strings.Fields(one[3])
		}
	}
	c.imported = importer.ForCompiler(c.files, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exported[path]) })
	return c
}

func (c typeChecks) check(file, text string) error {
	full, err := filepath.Abs(filepath.Join(module, filepath.FromSlash(file)))
	if err != nil {
		return err
	}
	var parsed []*ast.File
	for _, name := range c.sources[filepath.Dir(full)] {
		path, instead := filepath.Join(filepath.Dir(full), name), any(nil)
		if path == full {
			instead = text
		}
		one, err := parser.ParseFile(c.files, path, instead, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		parsed = append(parsed, one)
	}
	_, err = (&types.Config{Importer: c.imported}).Check(path.Dir(file), c.files, parsed, nil)
	return err
}

// control takes one guard out.
func control(t *testing.T, m mutant, out *verdicts) {
	begin := time.Now()
	binary, err := m.build(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := scenarioNamed(t, m.scenario)
	want, seen := once(t, "", s, point{})
	if want.err != nil {
		t.Fatalf("the run that nothing happens to: %v", want.err)
	}
	idle, _ := once(t, binary, s, point{})
	if m.points == nil {
		err := differs(idle, want, point{})
		if err == nil {
			t.Fatalf("nobody notices that it is gone: %q ends as with it", m.scenario)
		}
		t.Logf("%s shows it: %v", m.scenario, err)
		out.add(m, point{}, time.Since(begin))
		return
	}
	if err := differs(idle, want, point{act: actKill}); err != nil {
		t.Fatalf("without the guard it fails though nothing happens to it, which shows nothing: %v", err)
	}
	tried := 0
	for _, p := range m.points(seen) {
		whole, _ := once(t, "", s, p)
		if err := differs(whole, want, p); err != nil {
			t.Fatalf("%s: the real program fails: %v", p, err)
		}
		tried++
		got, _ := once(t, binary, s, p)
		if err := differs(got, want, p); err != nil && got.struck {
			t.Logf("%s shows it: %v", p, err)
			out.add(m, p, time.Since(begin))
			return
		}
	}
	t.Errorf("nobody notices that it is gone: %d points of %q passed without it", tried, m.scenario)
}

// differs says what a run came to that it should not have.
func differs(got, want outcome, p point) error {
	if got.err != nil {
		return got.err
	}
	return got.ended.compare(want.ended, p, got.lost)
}

// once plays a scenario in a lent world, with another program than the world's
// if one is given.
func once(t *testing.T, binary string, s scenario, p point) (o outcome, h history) {
	w := <-worlds
	defer func() { worlds <- w }()
	real := w.programs.mergexo
	defer func() { w.programs.mergexo = real }()
	w.programs.mergexo = cmp.Or(binary, real)
	o = w.play(t, s, p)
	if w.rig != nil {
		w.rig.mu.Lock()
		h = history{counts: o.counts, said: slices.Clone(w.rig.said)}
		w.rig.mu.Unlock()
	}
	o.err = errors.Join(o.err, w.end())
	return o, h
}

func scenarioNamed(t *testing.T, name string) scenario {
	all := scenarios()
	at := slices.IndexFunc(all, func(s scenario) bool { return s.name == name })
	if at < 0 {
		t.Fatalf("no scenario %q", name)
	}
	return all[at]
}

// history is what a run did to the outside, in order.
type history struct {
	counts counts
	said   []string
}

// numbers gives what a pattern's group finds in what was done.
func (h history) numbers(pattern string) (numbers []int) {
	re := regexp.MustCompile(pattern)
	for _, line := range h.said {
		if found := re.FindStringSubmatch(line); found != nil {
			n, _ := strconv.Atoi(found[1])
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// onReplies are points at the replies to review comments: nothing on GitHub
// keeps a second one out.
func (h history) onReplies(p point) (points []point) {
	p.at, p.when = atWrite, after
	for _, p.n = range h.numbers(`/replies, write (\d+)$`) {
		points = append(points, p)
	}
	return points
}

func diesAfterReplies(h history) []point     { return h.onReplies(point{act: actKill}) }
func losesAllAfterReplies(h history) []point { return h.onReplies(point{act: actKill, gone: "."}) }
func repliesUnlisted(h history) []point      { return h.onReplies(point{act: actLag}) }
func diesRepliesUnlisted(h history) []point  { return h.onReplies(point{act: actKill, lag: true}) }

// diesAfterReviews is at the reviews that are posted.
func diesAfterReviews(h history) (points []point) {
	for _, n := range h.numbers(`/reviews, write (\d+)$`) {
		points = append(points, point{act: actKill, at: atWrite, when: after, n: n})
	}
	return points
}

// diesAfterChildren is at the sub-issues that are opened.
func diesAfterChildren(h history) (points []point) {
	for _, n := range h.numbers(`/graphql, write (\d+)$`) {
		points = append(points, point{act: actKill, at: atWrite, when: after, n: n})
	}
	return points
}

// edgesRefused is at the edges between sub-issues.
func edgesRefused(h history) (points []point) {
	for _, n := range h.numbers(`^request (\d+): POST \S*/dependencies/blocked_by`) {
		points = append(points, point{act: actRefuse, at: atRequest, n: n, when: before})
	}
	return points
}

func diesBeforePushes(h history) (points []point) {
	for _, n := range h.numbers(`^git (\d+): push`) {
		points = append(points, point{act: actKill, at: atGit, n: n, when: before})
	}
	return points
}

// diesInIngest is where a slice was read and is being judged: when GitHub is asked what
// people may do.
func diesInIngest(h history) (points []point) {
	asked := h.numbers(`^request (\d+): GET \S*/collaborators/bob/permission$`)
	for _, n := range asked[:min(2, len(asked))] {
		points = append(points, point{act: actKill, at: atRequest, n: n, when: before})
	}
	return points
}

func diesWithAnswers(h history) []point {
	return upTo(h.counts.agents, point{act: actKill, at: atAgent, when: after})
}

func diesAfterTheTool(h history) []point {
	return upTo(h.counts.answers, point{act: actKill, at: atAnswer, when: after})
}

func stopsWithAnswers(h history) []point {
	return upTo(h.counts.agents, point{act: actStop, at: atAgent, when: after})
}

func awakesDuringTheNextTurn(h history) []point {
	return upTo(h.counts.agents, point{act: actRouse, at: atAgent, when: after})
}

func stopsAfterIntents(h history) []point {
	return upTo(h.counts.intents, point{act: actStop, at: atIntent, when: after})
}

func diesWithSetup(h history) []point {
	return upTo(h.counts.setups, point{act: actKill, at: atSetup, when: after})
}

// diesAtEvenWrites is where the machine dies, see plantSetup.
func diesAtEvenWrites(h history) (points []point) {
	for n := 2; n <= h.counts.writes; n += 2 {
		points = append(points, point{act: actKill, at: atWrite, when: after, n: n})
	}
	return points
}

func meetsOthers(h history) []point { return overlaps(h.counts) }

// verdicts is the table of the controls.
type verdicts struct {
	mu    sync.Mutex
	lines []string
}

func (v *verdicts) add(m mutant, p point, took time.Duration) {
	v.mu.Lock()
	defer v.mu.Unlock()
	by := "the scenario itself"
	if m.points != nil {
		by = p.String()
	}
	v.lines = append(v.lines, fmt.Sprintf("%s\t%s\t%s\t%s\t%.0f", m.guard, m.file, m.scenario, by, took.Seconds()))
}

func (v *verdicts) print(out io.Writer) {
	v.mu.Lock()
	defer v.mu.Unlock()
	slices.Sort(v.lines)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "guard taken out\tof\tscenario\tshown by\tseconds")
	for _, line := range v.lines {
		fmt.Fprintln(w, line)
	}
	_ = w.Flush()
}
