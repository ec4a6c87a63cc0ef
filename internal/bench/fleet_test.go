//go:build unix

package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/testdb"
	"github.com/mergexo/gh-mergexo/internal/testpg"
	"github.com/mergexo/gh-mergexo/store"
)

// newFleetField is newField with machines on a server.
func newFleetField(t *testing.T, s shape, f fleet, begin time.Duration) *field {
	t.Helper()
	w := newEmptyFleet(t, self(t), s, f, testdb.Postgres(t))
	w.minInterval = "10s"
	return newFieldOf(w, t, begin)
}

// A day that a fleet sees: by the program, and by the model that counts as it does.
func fleetSideBySide(t *testing.T, s shape, f fleet, minutes int) (program, counted *ledger) {
	t.Helper()
	const from = 9 * time.Hour
	until := from + time.Duration(minutes)*time.Minute
	morning := dayOf(seeded(), s, from, until-5*time.Minute)
	program = newFleetField(t, s, f, from).play(t, morning, from, until)
	const before = 2 * time.Hour
	m := newModel(s, f, from-before, usual)
	for at := from - before; at < from; at += 10 * time.Minute {
		m.pass(&ledger{}, 0, at)
	}
	return program, m.play(morning, from, until)
}

// TestMachinesShareTheLimitsOfAnAccount: some machines with one account together ask what the model
// counts, and see what happens.
func TestMachinesShareTheLimitsOfAnAccount(t *testing.T) {
	program, counted := fleetSideBySide(t, shape{repos: 30, pulls: 4}, fleet{4, 1}, 12)
	if a, b := program.sum().requests(), counted.sum().requests(); apart("", a, b).value > agreement {
		t.Errorf("the machines ask %d times, the model counts %d", a, b)
	}
	if late := quantile(program.latencies(true), 1); late > soon || program.lost(true) > 0 || len(program.latencies(true)) == 0 {
		t.Errorf("of %d changes one is seen after %s, and %d are not", len(program.latencies(true)), late, program.lost(true))
	}
	t.Logf("the program: %s\nthe model: %s", program, counted)
}

// A machine for which others have left a few repositories does not read these as if there were no
// others: what a quiet one is asked depends on how many share the account's limits.
func TestAFewOfManyRepositoriesAreReadByThePulse(t *testing.T) {
	f := newFleetField(t, shape{repos: 12, pulls: 1}, fleet{2, 1}, 9*time.Hour)
	at := 9 * time.Hour
	f.standAt(at)
	f.pass(t, 0, at)
	db, err := store.Open(t.Context(), f.server, store.Options{Now: time.Now})
	must(t, err)
	defer func() { must(t, db.Close()) }()
	other, err := db.Session(t.Context())
	must(t, err)
	defer other.Close(t.Context())
	for _, id := range f.ids[2:] {
		got, err := other.TryLock(t.Context(), store.LockOf("planning", strconv.Itoa(id)))
		if err != nil || len(got) != 1 {
			t.Fatalf("lock the planning of %d: %v, %v", id, got, err)
		}
	}
	at += time.Minute
	f.standAt(at)
	if a := f.pass(t, 1, at); a.pulses != 1 || a.requests() != 1 {
		t.Errorf("it asks %+v", a)
	}
}

// newFleetOfWorkers is machines with two slots each that begin a pass so often, and repositories with so
// many issues that each ask for a turn of an agent, which runs a line of shell first.
func newFleetOfWorkers(t *testing.T, p program, f fleet, repos, issues int, every time.Duration, first string) *world {
	t.Helper()
	w := newEmptyFleet(t, p, shape{repos: repos}, f, testdb.Postgres(t))
	w.agentText, w.minInterval, w.moreConfig = strings.Replace(worker, "input=$(cat)", "input=$(cat)\n"+first, 1), every.String(), "workers = 2\n"
	w.writeConfig(t, listening)
	for range 1 + repos/40 { // first looks are spread over passes
		w.work(t, "PATH="+os.Getenv("PATH"))
	}
	for _, r := range w.all {
		must(t, r.SeedIssues(reviewer, "Please.", issues, label))
	}
	return w
}

// meeting is a line of shell that ends when agents of so many machines are there at once. After a minute
// it fails.
func meeting(machines int) string {
	return fmt.Sprintf(`state=${PWD%%%%/checkouts/*}
mkdir -p "${state%%/*}/met"
: >"${state%%/*}/met/${state##*/}"
tries=0
while [ $(ls "${state%%/*}/met" | wc -l) -lt %d ]; do tries=$((tries+1)); [ $tries -lt 600 ] || exit 1; sleep 0.1; done`, machines)
}

// run has each machine begin a pass now and then, whether an earlier one works on or not, as a scheduler
// does, until the context ends. Then it waits for the passes.
func (w *world) run(ctx context.Context, t *testing.T, every time.Duration) {
	t.Helper()
	var passes sync.WaitGroup
	for machine := range w.fleet.machines {
		passes.Go(func() {
			time.Sleep(every * time.Duration(machine) / time.Duration(w.fleet.machines))
			for ; ctx.Err() == nil; time.Sleep(every) {
				passes.Go(func() {
					c := exec.CommandContext(t.Context(), w.program.path, "tick")
					c.Env = slices.Concat(w.environOf(machine), w.program.env, []string{"PATH=" + os.Getenv("PATH")})
					if out, err := c.CombinedOutput(); err != nil {
						t.Errorf("machine %d: %v\n%s", machine+1, err, out)
					}
				})
			}
		})
	}
	passes.Wait()
}

// TestMachinesWorkSideBySide: each machine works, each issue gets one pull request, and each turn's agent
// is paid once.
func TestMachinesWorkSideBySide(t *testing.T) {
	if !testpg.Set() {
		t.Skip("no PostgreSQL: script/postgres runs it")
	}
	const machines, repos, issues = 3, 6, 2
	w := newFleetOfWorkers(t, self(t), fleet{machines, 1}, repos, issues, 200*time.Millisecond, meeting(machines))
	w.moreConfig += "sandbox = \"none\"\n" // agents meet in a folder of none of them
	w.writeConfig(t, listening)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	go func() {
		defer cancel()
		for ctx.Err() == nil && w.count(t, `SELECT count(*) FROM turns WHERE step = 'done'`) < repos*issues {
			time.Sleep(300 * time.Millisecond)
		}
	}()
	w.run(ctx, t, 500*time.Millisecond)
	if n := w.count(t, `SELECT count(DISTINCT machine) FROM turns`); n != machines {
		t.Errorf("%d machines worked", n)
	}
	if runs := w.count(t, `SELECT count(*) FROM runs`); runs != repos*issues {
		t.Errorf("%d runs of agents for %d issues", runs, repos*issues)
	}
	for _, r := range w.all {
		if n := len(r.Pulls()); n != issues {
			t.Errorf("%s has %d pull requests", r.FullName(), n)
		}
	}
}
