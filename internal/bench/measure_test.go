//go:build unix

package bench

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"
)

// TestMeasure measures the program of a checkout that script/bench made and
// built: MERGEXO_BENCH is its folder, MERGEXO_BENCH_RUNS the number of runs.
func TestMeasure(t *testing.T) {
	checkout := os.Getenv("MERGEXO_BENCH")
	if checkout == "" {
		t.Skip("takes minutes: script/bench runs it")
	}
	gh, err := exec.LookPath("gh")
	must(t, err)
	runs := 20
	if text := os.Getenv("MERGEXO_BENCH_RUNS"); text != "" {
		runs, err = strconv.Atoi(text)
		must(t, err)
	}
	var rows []*row
	for _, pulls := range []int{10, 1000} {
		begin := time.Now()
		r := &row{world: newWorld(t, program{path: filepath.Join(checkout, "bin", "gh-mergexo")}, pulls)}
		r.idle = r.world.checkIdle(t)
		t.Logf("%d pull requests with %d comments each: made and read in %.0f s", pulls, comments, time.Since(begin).Seconds())
		rows = append(rows, r)
	}
	// Side by side in time, so that a busy moment strikes all alike.
	for range runs {
		for _, r := range rows {
			r.run(t, checkout, gh)
		}
	}
	for _, r := range rows {
		r.rotation = r.world.checkRotation(t)
	}
	fmt.Print(table(rows, runs))
}

// row is what was measured for one number of pull requests.
type row struct {
	world    *world
	idle     counts
	rotation counts
	pass     []reading // the binary
	launched []reading // the same through the launcher
	gh       []reading // gh api user
	start    []reading // the binary, doing nothing
}

func (r *row) run(t *testing.T, checkout, gh string) {
	t.Helper()
	r.world.hub.ResetLog()
	r.pass = append(r.pass, r.world.measure(t, "/nonexistent", filepath.Join(checkout, "bin", "gh-mergexo"), "tick"))
	r.start = append(r.start, r.world.measure(t, "/nonexistent", filepath.Join(checkout, "bin", "gh-mergexo"), "version"))
	r.gh = append(r.gh, r.world.measure(t, "/usr/bin:/bin", gh, "api", "user"))
	r.launched = append(r.launched, r.world.measure(t, os.Getenv("PATH"), filepath.Join(checkout, "gh-mergexo"), "tick"))
}

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

// table prints what was measured, and which goals were met.
func table(rows []*row, runs int) string {
	var b []byte
	line := func(name string, cell func(*row) string) {
		b = fmt.Appendf(b, "%-44s", name)
		for _, r := range rows {
			b = fmt.Appendf(b, " %26s", cell(r))
		}
		b = append(b, '\n')
	}
	ms := func(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }
	both := func(all []reading) string { return ms(median(all, wall)) + " / " + ms(median(all, used)) }
	ratio := func(part, whole []reading, goal float64) string {
		x := float64(median(part, wall)) / float64(median(whole, wall))
		verdict := ""
		switch {
		case goal == 0:
		case x <= goal:
			verdict = fmt.Sprintf(" (goal ≤ %.1f: met)", goal)
		default:
			verdict = fmt.Sprintf(" (goal ≤ %.1f: MISSED)", goal)
		}
		return fmt.Sprintf("%.2f%s", x, verdict)
	}
	only := func(r *row, goal float64) float64 { // the goals of time are for few pull requests
		if r.world.pulls > 10 {
			return 0
		}
		return goal
	}
	line("open tracked pull requests", func(r *row) string { return fmt.Sprint(r.world.pulls) })
	line("REST requests of an idle pass (304)", func(r *row) string { return fmt.Sprintf("%d (%d)", r.idle.rest, r.idle.notModified) })
	line("GraphQL requests of an idle pass (points)", func(r *row) string { return fmt.Sprintf("%d (%d)", r.idle.sweeps, r.idle.points) })
	line("GraphQL for rotation, when it is due (points)", func(r *row) string {
		return fmt.Sprintf("%d (%d)", r.rotation.rotations, r.rotation.points-r.idle.points)
	})
	b = fmt.Appendf(b, "wall / CPU time, medians of %d alternating runs\n", runs)
	line("  gh-mergexo tick", func(r *row) string { return both(r.pass) })
	line("  ./gh-mergexo tick (launcher)", func(r *row) string { return both(r.launched) })
	line("  gh api user", func(r *row) string { return both(r.gh) })
	line("  gh-mergexo version", func(r *row) string { return both(r.start) })
	line("tick : gh api user", func(r *row) string { return ratio(r.pass, r.gh, only(r, 0.5)) })
	line("launcher : gh api user", func(r *row) string { return ratio(r.launched, r.gh, only(r, 1)) })
	line("peak memory", func(r *row) string {
		mb := float64(median(r.pass, peak)) / (1 << 20)
		verdict := "met"
		if mb >= 60 {
			verdict = "MISSED"
		}
		return fmt.Sprintf("%.0f MB (goal < 60 MB: %s)", mb, verdict)
	})
	return string(b)
}
