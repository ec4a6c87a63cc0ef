//go:build unix

package bench

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/testhome"
)

// TestIdlePassThatIsObserved: with metrics an idle pass writes what counts passes and their
// requests, and the file, and nothing else.
func TestIdlePassThatIsObserved(t *testing.T) {
	testhome.OnlyLong(t)
	w := newWorld(t, self(t), 5)
	w.checkIdle(t)

	file := filepath.Join(w.dir, "mergexo.prom")
	config := filepath.Join(w.dir, "config.toml")
	text, err := os.ReadFile(config)
	must(t, err)
	must(t, os.WriteFile(config, []byte(strings.Replace(string(text), "[runtime]\n", "[runtime]\nmetrics_file = "+strconv.Quote(file)+"\n", 1)), 0o600))
	w.tick(t)
	before := w.written(t)
	w.tick(t)
	after := w.written(t)
	counted := regexp.MustCompile(`(?m)^(counters|hosts) .*\n(?:\[.*\n)*`)
	if a, b := counted.ReplaceAllString(before.tables, ""), counted.ReplaceAllString(after.tables, ""); a != b || before.tables == after.tables {
		t.Errorf("beside what counts passes an idle pass changed:\n%s", firstDifference(a, b))
	}
	if n := after.lines - before.lines; n != 1 {
		t.Errorf("an idle pass logged %d lines", n)
	}
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
}

// mostAtStart is how many bytes those packages may allocate before main, of which most
// starts use none: twice what they did when they came.
const mostAtStart = 40 << 10

// forTests matches packages that would make every start dearer, and that only tests need.
var forTests = regexp.MustCompile(`^(github\.com/prometheus|google\.golang\.org|go\.opentelemetry\.io)/`)

// TestStartPaysLittleForMetrics: what is linked in for metrics does next to nothing before main. The runtime says what each package took.
func TestStartPaysLittleForMetrics(t *testing.T) {
	p := self(t)
	c := exec.CommandContext(t.Context(), p.path, "version")
	c.Env = append(append(os.Environ(), p.env...), "GODEBUG=inittrace=1")
	out, err := c.CombinedOutput()
	must(t, err)
	line := regexp.MustCompile(`(?m)^init (\S+) @.* (\d+) bytes, \d+ allocs$`)
	all := line.FindAllStringSubmatch(string(out), -1)
	sum, seen := 0, 0
	for _, m := range all {
		for _, of := range []string{"golang.org/x/net/", "/internal/metrics"} {
			if strings.Contains(m[1], of) {
				n, err := strconv.Atoi(m[2])
				must(t, err)
				sum, seen = sum+n, seen+1
			}
		}
	}
	if sum > mostAtStart || seen == 0 || len(all) < 50 {
		t.Errorf("%d of %d packages took %d bytes at the start, want at most %d", seen, len(all), sum, mostAtStart)
	}
	for _, m := range all {
		if forTests.MatchString(m[1]) {
			t.Errorf("%s is for tests alone", m[1])
		}
	}
}
