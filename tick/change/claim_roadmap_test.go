package change

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/testdb"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
	"github.com/mergexo/gh-mergexo/store"
)

// Machines that claim at the same moment in two repositories begin no more below a roadmap than it
// allows, issues of a nested roadmap included.
func TestARoadmapsLimitsAreThoseOfAllMachines(t *testing.T) {
	for name, c := range map[string]struct {
		limits roadmap.Limits
		pause  bool
		cost   float64 // of an earlier run below the roadmap
		want   int
	}{
		"parallel":     {roadmap.Limits{Parallel: 3}, false, 0, 3},
		"paused":       {roadmap.Limits{Parallel: 3}, true, 0, 0},
		"cost is left": {roadmap.Limits{Parallel: 9, MaxCost: 6}, false, 5, 6},
		"too dear":     {roadmap.Limits{Parallel: 9, MaxCost: 5}, false, 5, 0},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, at := t.Context(), testdb.At(t, filepath.Join(t.TempDir(), "state.db"))
			var machines []*store.DB
			for i := range 2 {
				db, err := store.Open(ctx, at, store.Options{Now: func() time.Time { return noon }, RunTwice: true, Machine: fmt.Sprint(i), Shared: true})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = db.Close() })
				machines = append(machines, db)
			}
			var repos []work.Repo
			var items []work.Item
			err := machines[0].Update(ctx, func(tx *store.Tx) error {
				repos, items = nil, nil
				for _, name := range []string{"app", "lib"} {
					repo, err := testdb.Repo(ctx, tx, work.RepoName{Host: "github.com", Owner: "octo", Name: name})
					if err != nil {
						return err
					}
					repos = append(repos, repo)
				}
				add := func(repo work.Repo, number int, flow work.Flow, state work.State, parent string) (work.Item, error) {
					item := work.Item{RepoID: repo.ID, Number: number, Flow: flow, State: state, Since: noon, SubIssueOf: parent}
					var err error
					item.ID, err = tx.AddItem(ctx, item)
					return item, err
				}
				for number, parent := range map[int]string{1: "", 2: "github.com/octo/app#1"} { // #2 is nested
					item, err := add(repos[0], number, work.FlowRoadmap, work.StateMerged, parent)
					if err == nil {
						err = tx.AddRoadmap(ctx, roadmap.Record{ItemID: item.ID, RepoID: item.RepoID, State: roadmap.Followed}, nil)
					}
					if err != nil {
						return err
					}
				}
				for n := range 6 {
					item, err := add(repos[n%2], 10+n, work.FlowBugfix, work.StatePending, fmt.Sprint("github.com/octo/app#", 1+n/3))
					if err != nil {
						return err
					}
					items = append(items, item)
				}
				if c.pause {
					return tx.BeginPause(ctx, work.Pause{RepoID: repos[0].ID, Number: 1, Began: noon, By: "bob"})
				}
				if c.cost == 0 {
					return nil
				}
				over, err := add(repos[0], 20, work.FlowBugfix, work.StateCompleted, "github.com/octo/app#2")
				if err != nil {
					return err
				}
				claimed := claimOf(over, work.Budgets{}).Turn
				claimed.Step = work.StepDone
				turn, err := tx.AddTurn(ctx, claimed)
				if err != nil {
					return err
				}
				_, err = tx.AddRun(ctx, work.Run{Turn: turn, Attempt: true, Began: noon, Ended: noon, Usage: work.Usage{CostUSD: c.cost}})
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			results := make([]error, len(items))
			var all sync.WaitGroup
			for i := range results {
				all.Go(func() {
					claim := claimOf(items[i], work.Budgets{})
					claim.Limits = func(work.RepoName) roadmap.Limits { return c.limits }
					_, results[i] = Applier{Store: machines[i%2], Show: mover{}, Now: func() time.Time { return noon }}.Apply(ctx, repos[i%2], []Change{claim})
				})
			}
			all.Wait()
			claimed := 0
			for _, err := range results {
				switch {
				case err == nil:
					claimed++
				case !errors.Is(err, store.ErrStale):
					t.Error(err)
				}
			}
			if claimed != c.want {
				t.Errorf("%d turns were claimed, want %d", claimed, c.want)
			}
		})
	}
}
