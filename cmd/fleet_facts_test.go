package cmd

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/status"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// reads decodes what a command prints as JSON.
func reads[T any](t *testing.T, p place, args ...string) (v T) {
	t.Helper()
	_, stdout, stderr := p.shared(t, args...)
	if err := json.Unmarshal([]byte(stdout), &v); err != nil {
		t.Fatalf("%q: %v: %s%s", args, err, stdout, stderr)
	}
	return v
}

// What machines did and spent is said from any of them, in text and JSON: whose turns and runs those
// are, what they cost together, who paused them all.
func TestFactsOfAllMachines(t *testing.T) {
	p := fleetOf(t)
	self := here(t, p)
	spend := func(machine string, usd float64) {
		t.Helper()
		p.update(t, machine, func(tx *store.Tx) error {
			turns, err := tx.ListUnfinishedTurns(t.Context())
			if err != nil {
				return err
			}
			_, err = tx.AddRun(t.Context(), work.Run{Turn: turns[0].ID, Agent: "mine", Began: p.now, Ended: p.now, Usage: work.Usage{CostUSD: usd}, Known: work.Known{Tokens: true, Cost: true}})
			return err
		})
	}
	spend(self, 1)
	spend("build2", 2)
	p.says(t, []string{"report", "cost", "--by", "machine"}, "build2\t2\t1\t", self+"\t1\t0\t")
	costs := reads[struct {
		Lines []struct {
			Machine string
			CostUSD float64
		}
		Total struct{ CostUSD float64 }
	}](t, p, "report", "cost", "--by", "machine", "--json", "lines,total")
	if costs.Total.CostUSD != 3 || len(costs.Lines) != 2 || costs.Lines[0].Machine != "build2" || costs.Lines[0].CostUSD != 2 {
		t.Errorf("%+v", costs)
	}

	p.update(t, "build2", func(tx *store.Tx) error { return tx.PauseFleet(t.Context(), p.now, "ann", "the bill") })
	board := reads[struct {
		Day    struct{ CostUSD float64 }
		Paused cli.HaltView
	}](t, p, "status", "--json", "day,paused")
	if board.Day.CostUSD != 3 || board.Paused.Machine != "build2" || board.Paused.By != "ann" || !board.Paused.Fleet || board.Paused.Reason != "the bill" {
		t.Errorf("%+v", board)
	}
	machines := reads[struct{ Machines []status.Machine }](t, p, "machines", "--json", "machines").Machines
	at := slices.IndexFunc(machines, func(m status.Machine) bool { return m.Name == "build2" })
	if len(machines) != 3 || at < 0 || !slices.Equal(machines[at].Turns, []string{"octo/app#13"}) {
		t.Errorf("%+v", machines)
	}
	story := reads[struct{ Turns []struct{ Machine string } }](t, p, "show", "octo/app#12", "--json", "turns")
	if last := story.Turns[len(story.Turns)-1]; last.Machine != "build2" {
		t.Errorf("%+v", story)
	}

	p.update(t, "build2", func(tx *store.Tx) error {
		_, err := tx.ForgetMachine(t.Context(), "build3")
		_, second := tx.ForgetMachine(t.Context(), self)
		if err != nil {
			return err
		}
		return second
	})
	p.says(t, []string{"report", "cost", "--by", "machine"}, self+"\t1\t0\t") // forgotten, but what it spent stays
}

// A machine that fails is a warning on the others, as a silent one is; one that was stopped is none.
func TestMachinesThatFailOrAreStopped(t *testing.T) {
	p := fleetOf(t)
	put := func(change func(*work.Machine)) {
		t.Helper()
		p.update(t, "build2", func(tx *store.Tx) error {
			all, err := tx.ListMachines(t.Context())
			if err != nil {
				return err
			}
			m := all[slices.IndexFunc(all, func(m work.Machine) bool { return m.Name == "build2" })]
			change(&m)
			return tx.PutMachine(t.Context(), m)
		})
	}
	const fails = "machine build2 (host-of-build2): the last 3 passes failed: no room"
	put(func(m *work.Machine) { m.Failures, m.Why = 2, "no room" })
	if _, stdout, stderr := p.shared(t, "status"); strings.Contains(stdout+stderr, "no room") {
		t.Errorf("two failures may pass by themselves:\n%s%s", stdout, stderr)
	}
	put(func(m *work.Machine) { m.Failures = 3 })
	p.says(t, []string{"status"}, fails)
	p.says(t, []string{"machines"}, "passes fail: no room")

	p.update(t, "build3", func(tx *store.Tx) error { return tx.StopMachine(t.Context(), work.MachineUnscheduled) })
	if _, stdout, stderr := p.shared(t, "status"); strings.Contains(stdout+stderr, "is silent") {
		t.Errorf("a machine that was stopped is missed:\n%s%s", stdout, stderr)
	}
	p.says(t, []string{"machines"}, "\tunscheduled\t")
}

// A machine that is paused alone says so in the database as soon as it can be reached.
func TestAMachinePausedAloneIsNotMissed(t *testing.T) {
	p := fleetOf(t)
	if _, _, err := (folder.Dirs{State: p.state}).HaltAll("the cable", p.now); err != nil {
		t.Fatal(err)
	}
	state := func() status.MachineState {
		t.Helper()
		all := reads[struct{ Machines []status.Machine }](t, p, "machines", "--json", "machines").Machines
		return all[slices.IndexFunc(all, func(m status.Machine) bool { return m.This })].State
	}
	if got := state(); got == "paused" {
		t.Fatalf("it is %s before a pass", got)
	}
	p.says(t, []string{"tick"}, "the cable")
	if got := state(); got != "paused" {
		t.Errorf("it is %q", got)
	}
}

// Under a scheduler a pass reports a silent machine once for each silence, on a terminal each time.
func TestAPassReportsMachinesOnce(t *testing.T) {
	var problems bytes.Buffer
	a := &app{App: &cli.App{Env: cli.Env{Stderr: &problems, Stdout: &bytes.Buffer{}}}}
	dirs, now := folder.Dirs{State: t.TempDir()}, time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	printed := func(once outcomeFilter, began time.Time) int {
		problems.Reset()
		rep := env.NewReport(now)
		rep.EndedAt = now
		rep.Machines = []work.Machine{{Name: "b", BeganAt: began}}
		a.printMachines(rep, once)
		now = now.Add(time.Minute)
		return strings.Count(problems.String(), "machine b is silent")
	}
	first, second := now.Add(-time.Hour), now.Add(-time.Minute)
	for i, want := range []int{1, 0, 0} {
		if n := printed(dirs.OutcomesToReport, first); n != want {
			t.Errorf("pass %d printed it %d times", i, n)
		}
	}
	if n := printed(dirs.OutcomesToReport, second); n != 1 {
		t.Errorf("the next silence was printed %d times", n)
	}
	for range 2 {
		if n := printed(nil, second); n != 1 {
			t.Errorf("on a terminal it was printed %d times", n)
		}
	}
}
