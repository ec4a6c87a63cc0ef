//go:build unix

package bench

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// row is one line of work that is measured: a world, and what the program does in it.
type row struct {
	name    string
	what    string
	measure func(*testing.T, *lab) []figure
}

// rows are in the order of the table.
var rows = []row{
	{"burst-one", "4,980 new comments on one pull request, and the pass after it", burst{pulls: 10, on: 1, comments: 4980, cpu: time.Second}.measure},
	{"burst-many", "20,000 new comments on 200 pull requests, and the pass after it", burst{pulls: 200, on: 200, comments: 20_000, cpu: 2500 * time.Millisecond}.measure},
	{"first-read", "the first read of 3,000 pull requests", measureFirstRead},
	{"idle-10", "an idle pass over 10 pull requests, beside gh api user", measureIdleFew},
	{"idle-1000", "an idle pass over 1,000 pull requests, beside a bare program that sends the same requests", measureIdleMany},
	{"idle-50x10", "an idle pass over 50 repositories with 10 pull requests each", measureIdleRepos},
	{"idle-server", "an idle pass over 10 repositories on PostgreSQL, beside SQLite", measureServer},
	{"label", "from a label to its pull request, 150 ms a request", measureLabel},
	{"comment", "from a comment to its reply and commit, 150 ms a request", measureComment},
	{"turn", "a turn from a label to its pull request: CPU beside gh api user, calls of the file system", measureTurn},
	{"git", "processes of git that a turn starts", measureGit},
	{"lost", "the database is lost, 100 pull requests, 150 ms a request", measureLost},
	{"fleet", "eight machines on one PostgreSQL: passes, turns", measureFleet},
	{"version", "gh-mergexo version, beside gh api user", measureVersion},
}

// lab is what rows measure with: a checkout that script/bench made and built, and gh.
type lab struct {
	checkout string
	gh       string
	runs     int // of what is short
}

func (l *lab) binary() string   { return filepath.Join(l.checkout, "bin", "gh-mergexo") }
func (l *lab) bare() string     { return filepath.Join(l.checkout, "bin", "bare") }
func (l *lab) launcher() string { return filepath.Join(l.checkout, "gh-mergexo") }
func (l *lab) program() program { return program{path: l.binary()} }

// TestMeasure measures the program of a checkout: MERGEXO_BENCH is its folder,
// MERGEXO_BENCH_ROWS are the rows, all of them if empty, MERGEXO_BENCH_RUNS how often what
// is short is run. With MERGEXO_BENCH_WRITE what it finds is the baseline from now on, but for rows
// that are above a limit.
func TestMeasure(t *testing.T) {
	l := newLab(t)
	known, err := readBaseline(baselineFile)
	must(t, err)
	var worse, above []string
	for _, r := range chosen(t, os.Getenv("MERGEXO_BENCH_ROWS")) {
		fmt.Printf("%s: %s\n", r.name, r.what)
		begin := time.Now()
		var figures []figure
		if !t.Run(r.name, func(t *testing.T) { figures = r.measure(t, l) }) {
			continue
		}
		fmt.Println(head)
		for _, f := range figures {
			fmt.Println(f.line(known[r.name]))
		}
		fmt.Printf("  (%.0f s)\n\n", time.Since(begin).Seconds())
		too := missed(r.name, figures)
		above = append(above, too...)
		if os.Getenv("MERGEXO_BENCH_WRITE") != "" {
			if len(too) > 0 {
				continue // the baseline is not made to fit
			}
			known.set(r.name, figures)
			must(t, known.write(baselineFile))
			continue
		}
		worse = append(worse, known.worse(r.name, figures)...)
	}
	if len(above) > 0 {
		t.Errorf("above a limit:\n  %s", strings.Join(above, "\n  "))
	}
	if len(worse) > 0 {
		t.Errorf("worse than %s by more than a third:\n  %s", baselineFile, strings.Join(worse, "\n  "))
	}
}

// script/bench reads the rows from a file, so as to list them and to refuse others before it
// builds anything.
func TestRowsAreThoseThatTheScriptLists(t *testing.T) {
	var want strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&want, "%-12s %s\n", r.name, r.what)
	}
	listed, err := os.ReadFile("rows.txt")
	must(t, err)
	if string(listed) != want.String() {
		t.Errorf("rows.txt has\n%snot\n%s", listed, &want)
	}
}

// script runs script/bench with what a folder has in it as its programs.
func script(t *testing.T, programs string, args ...string) (out string, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join("..", "..", "script", "bench"), args...)
	cmd.Env = []string{"PATH=" + programs, "TMPDIR=" + t.TempDir()}
	all, err := cmd.CombinedOutput()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		t.Fatal(err)
	}
	return string(all), cmd.ProcessState.ExitCode()
}

// What cannot be measured is refused before anything is built.
func TestScriptRefusesAtOnce(t *testing.T) {
	without := func(missing string) string {
		dir := t.TempDir()
		for _, name := range []string{"bash", "env", "dirname", "mktemp", "rm", "cut", "grep", "sed", "cat", "go", "gh"} {
			if name == missing {
				continue
			}
			real := name
			if name == "go" || name == "gh" {
				real = "false" // started, they fail
			}
			path, err := exec.LookPath(real)
			must(t, err)
			must(t, os.Symlink(path, filepath.Join(dir, name)))
		}
		return dir
	}
	for _, c := range []struct {
		missing string
		args    []string
		want    string
		code    int
	}{
		{"", []string{"nosuchrow"}, "script/bench: there is no row nosuchrow: script/bench --list\n", 2},
		{"", []string{"git", "git.*"}, "script/bench: there is no row git.*: script/bench --list\n", 2},
		{"go", []string{"git"}, "script/bench: go is missing: https://go.dev/dl has it\n", 1},
		{"gh", []string{"git"}, "script/bench: gh is missing, and it is what the program is compared with: https://cli.github.com has it\n", 1},
	} {
		if out, code := script(t, without(c.missing), c.args...); out != c.want || code != c.code {
			t.Errorf("%q without %q gives %d: %s", c.args, c.missing, code, out)
		}
	}
	listed, err := os.ReadFile("rows.txt")
	must(t, err)
	if out, code := script(t, without("go"), "--list"); out != string(listed) || code != 0 {
		t.Errorf("--list gives %d: %s", code, out)
	}
}

func newLab(t *testing.T) *lab {
	t.Helper()
	l := &lab{checkout: os.Getenv("MERGEXO_BENCH"), runs: 15}
	if l.checkout == "" {
		t.Skip("takes minutes: script/bench runs it")
	}
	var err error
	l.gh, err = exec.LookPath("gh")
	must(t, err)
	if text := os.Getenv("MERGEXO_BENCH_RUNS"); text != "" {
		l.runs, err = strconv.Atoi(text)
		must(t, err)
	}
	return l
}

// chosen are the rows of these names.
func chosen(t *testing.T, names string) []row {
	t.Helper()
	if names == "" {
		return rows
	}
	var out []row
	for name := range strings.FieldsSeq(names) {
		i := slices.IndexFunc(rows, func(r row) bool { return r.name == name })
		if i < 0 {
			t.Fatalf("there is no row %q: script/bench --list", name)
		}
		out = append(out, rows[i])
	}
	return out
}

// progress tells what a row is about to do: some take minutes.
func progress(format string, args ...any) { fmt.Printf("  … "+format+"\n", args...) }

// median is that of one field of readings.
func median[N cmp.Ordered](all []reading, field func(reading) N) N {
	list := make([]N, len(all))
	for i, r := range all {
		list[i] = field(r)
	}
	slices.Sort(list)
	return list[len(list)/2]
}

func wall(r reading) time.Duration { return r.Wall }
func used(r reading) time.Duration { return r.CPU }
func peak(r reading) int64         { return r.Peak }

// pass measures one pass, in which no program is found: an idle one starts none.
func (l *lab) pass(t *testing.T, w *world) reading {
	t.Helper()
	return w.measure(t, "/nonexistent", l.binary(), "tick")
}

// ghUser measures one gh api user.
func (l *lab) ghUser(t *testing.T, w *world) reading {
	t.Helper()
	return w.measure(t, "/usr/bin:/bin", l.gh, "api", "user")
}

// yardstick is what gh api user uses here and now: some runs, for one alone may be unlucky.
func (l *lab) yardstick(t *testing.T, w *world) time.Duration {
	t.Helper()
	var all []reading
	for range 5 {
		all = append(all, l.ghUser(t, w))
	}
	return median(all, used)
}
