//go:build unix

package crashtest

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"
)

// table is what script/crash prints.
type table struct {
	mu    sync.Mutex
	lines []*line
	plan  int // runs that are to be made
}

type line struct {
	scenario, kind string
	enumerated     int // points; what is sampled has no number of its own
	points, runs   int // points that were run, and runs, the one without harm among them
	missed, failed int
	twice          int // runs of an agent that was paid again: what it answered first was not stored
	seconds        time.Duration
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

func (t *table) planned(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.plan += n
}

func (t *table) unharmed(scenario string, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.line(scenario, kindKill)
	l.runs++
	l.seconds += took
}

func (t *table) ran(scenario, kind string, got outcome, failed bool, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.line(scenario, kind)
	l.points++
	l.runs++
	l.seconds += took
	l.twice += got.twice
	if !got.struck {
		l.missed++
	}
	if failed {
		l.failed++
	}
}

// report says twice a minute how far it is, until it is stopped.
func (t *table) report(to io.Writer) (stop func()) {
	begin, end := time.Now(), make(chan struct{})
	var told sync.WaitGroup
	told.Go(func() {
		tick := time.NewTicker(30 * time.Second)
		defer tick.Stop()
		for {
			select {
			case <-end:
				return
			case <-tick.C:
				sum := t.sum()
				fmt.Fprintf(to, "crash: %d of %d points in %.0f s, failures: %d, agents paid twice: %d\n", sum.points, t.plan, time.Since(begin).Seconds(), sum.failed, sum.twice)
			}
		}
	})
	return func() {
		close(end)
		told.Wait()
	}
}

func (t *table) sum() (sum line) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range t.lines {
		sum.enumerated += max(l.enumerated, l.points)
		sum.points, sum.runs, sum.missed, sum.failed = sum.points+l.points, sum.runs+l.runs, sum.missed+l.missed, sum.failed+l.failed
		sum.twice, sum.seconds = sum.twice+l.twice, sum.seconds+l.seconds
	}
	return sum
}

func (t *table) print(out io.Writer) {
	sum := t.sum()
	slices.SortStableFunc(t.lines, func(a, b *line) int {
		return cmp.Or(strings.Compare(a.kind, b.kind), strings.Compare(a.scenario, b.scenario))
	})
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "what happens\tscenario\tcrash points\tpoints run\truns\tnot reached\tfailures\tagents paid twice\tseconds")
	for _, l := range append(t.lines, &line{kind: "all", enumerated: sum.enumerated, points: sum.points, runs: sum.runs, missed: sum.missed, failed: sum.failed, twice: sum.twice, seconds: sum.seconds}) {
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%.0f\n", l.kind, l.scenario, max(l.enumerated, l.points), l.points, l.runs, l.missed, l.failed, l.twice, l.seconds.Seconds())
	}
	_ = w.Flush()
}
