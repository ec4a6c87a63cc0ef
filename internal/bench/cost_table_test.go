//go:build unix

package bench

import (
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/testhome"
)

// costLine is a line of the table of docs/guarantees.md about an idle pass, by the number
// of repositories.
type costLine struct{ idle, requests, points, hourly float64 }

// costTable reads that table: what an idle pass asks of which nothing has its turn, and what a
// pass asks on average.
func costTable(t *testing.T) map[int]costLine {
	t.Helper()
	b, err := os.ReadFile("../../docs/guarantees.md")
	must(t, err)
	_, rest, ok := strings.Cut(string(b), "## An idle pass is nearly free")
	if !ok {
		t.Fatal("docs/guarantees.md has no such table")
	}
	table, _, _ := strings.Cut(rest, "\n#")
	lines := map[int]costLine{}
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) < 8 {
			continue
		}
		n, err := strconv.Atoi(number(cells[1]))
		if err != nil {
			continue
		}
		var of [4]float64
		for i, at := range []int{2, 4, 5, 6} {
			of[i], _ = strconv.ParseFloat(number(cells[at]), 64) // in words: 0
		}
		lines[n] = costLine{of[0], of[1], of[2], of[3]}
	}
	return lines
}

// number is the number that a cell begins with.
func number(cell string) string {
	cell = strings.ReplaceAll(strings.TrimSpace(cell), ",", "")
	if end := strings.IndexFunc(cell, func(r rune) bool { return (r < '0' || r > '9') && r != '.' }); end >= 0 {
		cell = cell[:end]
	}
	return cell
}

// ofTheProgram is the largest number of repositories whose line is measured by the program; the
// lines of more are the model's.
const ofTheProgram = 100

// measurable is for how many repositories the program is run at most: each night for all that
// its lines are about, which takes minutes.
func measurable() int {
	if os.Getenv("MERGEXO_NIGHTLY") != "" {
		return ofTheProgram
	}
	return 10
}

// leastAsked is how many requests the pass made that asked least.
func leastAsked(l *ledger) int {
	least := math.MaxInt
	for _, a := range l.passes {
		least = min(least, a.requests())
	}
	return least
}

// quietHours is how long nothing happens before the hour of the table.
const quietHours = 6

// TestCostTable: the table says what the model counts and, for as many repositories as can be
// run, what the program asks of the simulated GitHub, by its own accounting.
func TestCostTable(t *testing.T) {
	testhome.OnlyLong(t)
	table := costTable(t)
	for _, n := range []int{10, 100, 1000, 2000} {
		want, ok := table[n]
		if !ok {
			t.Errorf("%d repositories are not in the table", n)
			continue
		}
		s := shape{repos: n, pulls: 50}
		most := 1.1
		if n <= ofTheProgram {
			most = agreement
		}
		near(t, n, "by the model", want, modelHour(s), most)
		if n > measurable() {
			continue
		}
		l := programHour(t, s)
		near(t, n, "by the program", want, l, 1.1)
		if least := float64(leastAsked(l)); least != want.idle {
			t.Errorf("%d repositories: a pass in which nothing has its turn asks %.0f requests; the table says %.0f", n, least, want.idle)
		}
	}
}

// near compares an hour with a line of the table.
func near(t *testing.T, n int, who string, want costLine, l *ledger, most float64) {
	t.Helper()
	sum, passes := l.sum(), float64(len(l.passes))
	t.Logf("%d repositories, %s: %.1f requests of a pass, %.1f points, %d in the hour", n, who, float64(sum.requests())/passes, float64(sum.points)/passes, sum.points)
	for _, c := range []struct {
		what      string
		said, got float64
	}{
		{"requests of a pass", want.requests, float64(sum.requests()) / passes},
		{"points of a pass", want.points, float64(sum.points) / passes},
		{"points in the hour", want.hourly, float64(sum.points)},
	} {
		if c.got > c.said*most || c.got < c.said/most {
			t.Errorf("%d repositories, %s: %.1f %s; the table says %.1f", n, who, c.got, c.what, c.said)
		}
	}
}

// modelHour is the last of some hours in which nothing happens, by the model.
func modelHour(s shape) *ledger {
	m := newQuietModel(s)
	m.play(nil, 0, quietHours*time.Hour)
	return m.play(nil, quietHours*time.Hour, (quietHours+1)*time.Hour)
}

// programHour is the same by the program.
func programHour(t *testing.T, s shape) *ledger {
	t.Helper()
	f := newField(t, s, 0)
	for at := time.Duration(0); at < quietHours*time.Hour; at += 10 * time.Minute {
		f.standAt(at)
		f.tick(t)
	}
	return f.play(t, nil, quietHours*time.Hour, (quietHours+1)*time.Hour)
}

// newQuietModel is a model in which nothing happened for some hours.
func newQuietModel(s shape) *model {
	m := newModel(s, alone, 0, usual)
	m.changedAt(daybreak.Add(-time.Hour))
	return m
}
