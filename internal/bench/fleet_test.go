//go:build unix

package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/testdb"
	"github.com/mergexo/gh-mergexo/internal/testpg"
)

// fleet is machines on one database, and the accounts that they are logged in with in turn.
type fleet struct{ machines, accounts int }

// alone is one machine.
var alone = fleet{1, 1}

// account returns that of a machine.
func (f fleet) account(machine int) int { return machine % f.accounts }

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
