//go:build unix

package bench

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/testdb"
	"github.com/mergexo/gh-mergexo/internal/testpg"
)

// fleetMachines are the machines of the fleet.
const fleetMachines = 8

func measureFleet(t *testing.T, l *lab) []figure {
	if !testpg.Set() {
		t.Skip("no PostgreSQL: on Debian apt-get install postgresql")
	}
	return slices.Concat(measureFar(t, l), measureFleetPass(t, l), measureFleetTurns(t, l))
}

// measureFleetPass is an idle pass on PostgreSQL beside one on SQLite.
func measureFleetPass(t *testing.T, l *lab) []figure {
	few, proxy := newFleetWorld(t, l.program(), shape{repos: 20, pulls: 10})
	fewTrips := few.roundTrips(t, l, proxy)
	many, proxy := newFleetWorld(t, l.program(), shape{repos: 80, pulls: 10})
	manyTrips := many.roundTrips(t, l, proxy)
	local := newManyWorldOf(t, l.program(), many.shape)
	now := func(w *world) reading { return w.measure(t, "/nonexistent", l.binary(), "tick", "--now") }
	var here, there []reading
	for range l.runs {
		here, there = append(here, now(local)), append(there, now(many))
	}
	return []figure{
		count("round trips of an idle pass, 20 repositories", fewTrips),
		count("round trips of an idle pass, 80 repositories", manyTrips).atMost(float64(fewTrips) * 1.1),
		milliseconds("wall of an idle pass, SQLite", median(here, wall)),
		milliseconds("wall of an idle pass, PostgreSQL behind a proxy", median(there, wall)),
		milliseconds("CPU of an idle pass, SQLite", median(here, used)),
		milliseconds("CPU of an idle pass, PostgreSQL", median(there, used)),
	}
}

// newFleetWorld is newManyWorldOf on a server, which machines reach by a proxy that counts.
func newFleetWorld(t *testing.T, p program, s shape) (*world, *testpg.Proxy) {
	t.Helper()
	at := testdb.Postgres(t)
	proxy, err := testpg.OpenProxy(at)
	must(t, err)
	t.Cleanup(func() { _ = proxy.Close() })
	return fillMany(t, newEmptyFleet(t, p, s, fleet{2, 1}, proxy.Through(at))), proxy
}

// roundTrips counts those to the database of an idle pass.
func (w *world) roundTrips(t *testing.T, l *lab, proxy *testpg.Proxy) int {
	t.Helper()
	w.measure(t, "/nonexistent", l.binary(), "tick", "--now")
	proxy.Reset()
	w.measure(t, "/nonexistent", l.binary(), "tick", "--now")
	return proxy.Flights()
}

// measureFleetTurns is how turns a minute grow with the machines. Agents sleep: on one computer they must
// take no processor from one another. The shorter they sleep, the more it is what a turn costs beside its
// agent, for which eight machines would have eight computers.
func measureFleetTurns(t *testing.T, l *lab) (all []figure) {
	for _, sleep := range []time.Duration{30 * time.Second, 5 * time.Second} {
		one, eight := turnsAMinute(t, l.program(), 1, sleep), turnsAMinute(t, l.program(), fleetMachines, sleep)
		progress("agents that sleep %s: %.1f turns a minute on one machine, %.1f on %d: × %.1f", sleep, one, eight, fleetMachines, eight/one)
		f := figure{what: fmt.Sprintf("turns of 1 machine × 8 / of 8 machines, %s", sleep), value: one * fleetMachines / eight, unit: "×"}
		if sleep == 30*time.Second {
			f = f.keep().atMost(fleetMachines / 6.0)
		}
		all = append(all, f)
	}
	return all
}

// turnsAMinute is how many turns begin on machines with two slots each, when their mirrors are there.
func turnsAMinute(t *testing.T, p program, machines int, sleep time.Duration) float64 {
	t.Helper()
	warm, long := sleep*2, sleep*4
	w := newFleetOfWorkers(t, p, fleet{machines, 1}, 24, 2*machines*6*2/24+2, sleep/6, fmt.Sprint("sleep ", sleep.Seconds()))
	ctx, cancel := context.WithTimeout(t.Context(), warm+long)
	defer cancel()
	begin := time.Now().Add(warm)
	w.run(ctx, t, sleep/6)
	n := w.count(t, fmt.Sprintf(`SELECT count(*) FROM runs WHERE began_at >= %d AND began_at < %d`, begin.UnixMilli(), begin.Add(long).UnixMilli()))
	if left := w.count(t, `SELECT count(*) FROM work_items`) - w.count(t, `SELECT count(*) FROM turns`); left <= 0 {
		t.Errorf("%d machines ran out of issues", machines)
	}
	return float64(n) / long.Minutes()
}
