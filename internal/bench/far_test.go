//go:build unix

package bench

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/testdb"
	"github.com/mergexo/gh-mergexo/internal/testpg"
)

// far is a machine with one repository and 25 pull requests, whose database is reached by a proxy.
type far struct {
	*world
	proxy *testpg.Proxy
}

func newFar(t *testing.T, p program) *far {
	t.Helper()
	at := testdb.Postgres(t)
	proxy, err := testpg.OpenProxy(at)
	must(t, err)
	t.Cleanup(func() { _ = proxy.Close() })
	w := &far{newEmptyFleet(t, p, shape{repos: 1, pulls: 25, comments: 1}, alone, proxy.Through(at)), proxy}
	w.agentText = worker
	w.writeConfig(t, quiet)
	w.tick(t)
	w.past.Store(true)
	numbers := w.populate(t)
	w.past.Store(false)
	w.track(t, numbers)
	w.untilQuiet(t)
	w.settle(t)
	w.writeConfig(t, listening)
	w.untilQuiet(t)
	w.openIssue(t)
	w.passes(t, 3) // the first one clones
	return w
}

// trips runs the program and returns what its round trips to the database were about, without the opening and the end
// of connections, and without what is asked every other second.
func (w *far) trips(t *testing.T, args ...string) (asked []string) {
	t.Helper()
	w.proxy.OnFlight(func(f testpg.Flight) string {
		if !f.Done && !strings.HasPrefix(f.SQL, "[open]") && !strings.HasPrefix(f.SQL, "[end]") && !strings.HasPrefix(f.SQL, "SELECT count(*) FROM pg_locks") {
			asked = append(asked, strings.Join(strings.Fields(f.SQL), " "))
		}
		return ""
	})
	defer w.proxy.OnFlight(nil)
	c := exec.CommandContext(t.Context(), w.program.path, args...)
	c.Env = slices.Concat(w.environ(), w.program.env, []string{"PATH=" + os.Getenv("PATH")})
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return asked
}

// mostFar is how many round trips to a database far away commands and passes make at most. At 50 ms each, those of
// status take 0.4 s, those of a dry run and an idle pass 1.1 s.
var mostFar = map[string]int{"status": 8, "a dry run": 22, "an idle pass": 22, "a pass that reads again": 96, "a pass with a turn": 78}

// mostOfTurn is how many a turn adds to an idle pass at most: at 50 ms each, 2.9 s.
const mostOfTurn = 58

// farTrips counts them.
func (w *far) farTrips(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{"an idle pass": w.trips(t, "tick", "--now"), "status": w.trips(t, "status"), "a dry run": w.trips(t, "tick", "--dry-run")}
	w.openIssue(t)
	w.later.Add(int64(2 * time.Minute))
	all["a pass with a turn"] = w.trips(t, "tick", "--now")
	w.passes(t, 2) // what the turn changed is read
	w.ageDetails(t)
	all["a pass that reads again"] = w.trips(t, "tick", "--now")
	return all
}

// TestTripsToADatabaseFarAway: what waits for each answer of a database far away is bounded.
func TestTripsToADatabaseFarAway(t *testing.T) {
	if !testpg.Set() {
		t.Skip("no PostgreSQL: script/postgres runs it")
	}
	all := newFar(t, self(t)).farTrips(t)
	if more := len(all["a pass with a turn"]) - len(all["an idle pass"]); more > mostOfTurn {
		t.Errorf("a turn adds %d round trips, not %d", more, mostOfTurn)
	}
	for what, asked := range all {
		t.Logf("%s: %d round trips", what, len(asked))
		if len(asked) > mostFar[what] {
			t.Errorf("%s makes %d round trips, not %d:\n%s", what, len(asked), mostFar[what], strings.Join(asked, "\n"))
		}
	}
}

// measureFar is how long they take where each takes 50 ms.
func measureFar(t *testing.T, l *lab) (all []figure) {
	w := newFar(t, l.program())
	for what, asked := range w.farTrips(t) {
		all = append(all, count("round trips, 25 items: "+what, len(asked)).atMost(float64(mostFar[what])))
	}
	w.proxy.Delay(25 * time.Millisecond) // each way
	for what, args := range map[string][]string{"status": {"status"}, "a dry run": {"tick", "--dry-run"}, "an idle pass": {"tick", "--now"}} {
		began := time.Now()
		w.trips(t, args...)
		all = append(all, milliseconds("wall, 50 ms away: "+what, time.Since(began)))
	}
	slices.SortFunc(all, func(a, b figure) int { return strings.Compare(a.what, b.what) })
	return all
}
