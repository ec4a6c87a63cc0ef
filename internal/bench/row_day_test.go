//go:build unix

package bench

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/testhome"
)

// The days that are simulated: a large one by the model alone, and a small one by the
// program, too.
var (
	large = shape{repos: 2000, pulls: 50}
	small = shape{repos: 60, pulls: 10}
)

// soon is when a change must be seen that GitHub's stamps show.
const soon = 2 * time.Minute

// pointsOfADay are what an hour may take at most, so that people who use the same account
// have some left.
const pointsOfADay = 4600

// usual is what the program asks beside pulses, lists and light queries: what is told of an
// issue, and the details of a pull request.
var usual = costs{requests: 2.2, points: 0.75}

func seeded() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

func measureDay(t *testing.T, _ *lab) []figure {
	begin := time.Now()
	day := dayOf(seeded(), large, 0, 24*time.Hour)
	l := newModel(large, alone, 0, usual).play(day, 0, 24*time.Hour)
	progress("%d × %d, %d changes, in %.0f s: %s", large.repos, large.pulls, len(day), time.Since(begin).Seconds(), l)
	program, counted := sideBySide(t, 60)
	progress("%d × %d, by the program: %s", small.repos, small.pulls, program)
	progress("%d × %d, by the model: %s", small.repos, small.pulls, counted)
	return []figure{
		count("requests and their weight in the busiest minute", l.busiestMinute()).atMost(requestsAMinute),
		count("GraphQL points in the busiest hour", l.busiestHour()).atMost(pointsOfADay),
		seconds("a change that a stamp shows is seen after", quantile(l.latencies(true), 1)).atMost(soon.Seconds()).keep(),
		count("changes that a stamp shows and nobody saw", l.lost(true)).atMost(0),
		seconds("the end of checks is seen after, 99 in 100", quantile(l.latencies(false), 0.99)).keep(),
		seconds("the end of checks is seen after", quantile(l.latencies(false), 1)),
		count("requests of all passes", l.sum().requests()),
		count("GraphQL points of all passes", l.sum().points),
		apart("60 × 10: requests of the program beside those of the model", program.sum().requests(), counted.sum().requests()).atMost(agreement),
		apart("60 × 10: points of the program beside those of the model", program.sum().points, counted.sum().points).atMost(agreement),
	}
}

// agreement is how far the model and the program may be apart.
const agreement = 1.25

// apart says how far two counts are apart: 1 where they are the same.
func apart(what string, a, b int) figure {
	x := float64(max(a, b, 1)) / float64(max(1, min(a, b)))
	return figure{what: what, value: x, unit: "×"}
}

// sideBySide has a morning pass in a small world, by the program and by the model.
func sideBySide(t *testing.T, passes int) (program, counted *ledger) {
	t.Helper()
	const from = 9 * time.Hour
	until := from + time.Duration(passes)*time.Minute
	morning := dayOf(seeded(), small, from, until-5*time.Minute)
	program = newField(t, small, from).play(t, morning, from, until)
	// The model's quiet hours before it are those of the field.
	const before = 2 * time.Hour
	m := newModel(small, alone, from-before, usual)
	for at := from - before; at < from; at += 10 * time.Minute {
		m.pass(&ledger{}, 0, at)
	}
	counted = m.play(morning, from, until)
	return program, counted
}

// TestDayOfManyRepositories: what happens where stamps show it is seen soon, and GitHub's
// limits are kept to, with few and many repositories, and with eight machines on one account.
func TestDayOfManyRepositories(t *testing.T) {
	type one struct {
		shape
		fleet
	}
	days := []one{{shape{repos: 5, pulls: 20}, alone}, {shape{repos: 100, pulls: 10}, alone}, {shape{repos: 600, pulls: 10}, alone}}
	if testhome.Long() {
		days = append(days, one{large, alone}, one{ofAFleet, fleet{fleetMachines, 1}}) // where the pulse is asked in every second pass
	}
	for _, s := range days {
		const from, until = 6 * time.Hour, 12 * time.Hour
		day := dayOf(seeded(), s.shape, from, until-5*time.Minute)
		l := newModel(s.shape, s.fleet, from, usual).play(day, from, until)
		if n := l.busiestMinute(); n > requestsAMinute {
			t.Errorf("%+v: %d requests in a minute", s, n)
		}
		if n := l.busiestHour(); n > pointsOfADay {
			t.Errorf("%+v: %d points in an hour", s, n)
		}
		if late := quantile(l.latencies(true), 1); late > soon || l.lost(true) > 0 || len(day) == 0 {
			t.Errorf("%+v: of %d changes one is seen after %s, and %d are not", s, len(day), late, l.lost(true))
		}
		if t.Failed() {
			t.Log(l)
		}
	}
}

// TestModelCountsAsTheProgramDoes plays the same hour to both.
func TestModelCountsAsTheProgramDoes(t *testing.T) {
	testhome.OnlyLong(t)
	program, counted := sideBySide(t, 60)
	if program.sum().pulses == 0 {
		t.Skip("this program asks no pulse")
	}
	for _, c := range []struct {
		what           string
		program, model int
	}{
		{"requests", program.sum().requests(), counted.sum().requests()},
		{"points", program.sum().points, counted.sum().points},
	} {
		if x := float64(c.model) / float64(max(1, c.program)); x < 1/agreement || x > agreement {
			t.Errorf("%s: the model counts %d, the program asks %d: %.2f", c.what, c.model, c.program, x)
		}
	}
	if a, b := len(program.latencies(true)), len(counted.latencies(true)); a != b {
		t.Errorf("the program sees %d changes, the model %d", a, b)
	}
	t.Logf("the program: %s\nthe model: %s", program, counted)
}
