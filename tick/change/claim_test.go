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
	"github.com/mergexo/gh-mergexo/store"
)

// Machines that claim at the same moment together begin no more turns than the day's budgets leave,
// also after what one of them spent.
func TestADaysBudgetIsThatOfAllMachines(t *testing.T) {
	for name, c := range map[string]struct {
		budgets work.Budgets
		cost    float64 // of a run on machine 0
		want    int
	}{
		"no budget":     {work.Budgets{}, 5, 6},
		"turns":         {work.Budgets{TurnsPerDay: 3}, 0, 2}, // one was begun
		"cost is left":  {work.Budgets{CostPerDay: 6}, 5, 6},
		"cost is spent": {work.Budgets{CostPerDay: 5}, 5, 0},
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
			var repo work.Repo
			var items []work.Item
			err := machines[0].Update(ctx, func(tx *store.Tx) (err error) {
				items = nil
				if repo, err = testdb.Repo(ctx, tx, work.RepoName{Host: "github.com", Owner: "octo", Name: "app"}); err != nil {
					return err
				}
				for n := range 7 {
					item := work.Item{RepoID: repo.ID, Number: n + 1, Flow: work.FlowBugfix, State: work.StateReady, Since: noon}
					if item.ID, err = tx.AddItem(ctx, item); err != nil {
						return err
					}
					items = append(items, item)
				}
				turn, err := tx.AddTurn(ctx, claimOf(items[6], c.budgets).Turn)
				if err != nil {
					return err
				}
				_, err = tx.BeginRun(ctx, work.Run{Turn: turn, Attempt: true, Began: noon, Usage: work.Usage{CostUSD: c.cost}})
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			results := make([]error, 6)
			var all sync.WaitGroup
			for i := range results {
				all.Go(func() {
					_, results[i] = Applier{Store: machines[i%2], Show: mover{}, Now: func() time.Time { return noon }}.Apply(ctx, repo, []Change{claimOf(items[i], c.budgets)})
				})
			}
			all.Wait()
			claimed := 0
			for _, err := range results {
				spent, refused := errors.AsType[*SpentError](err)
				switch {
				case err == nil:
					claimed++
				case !refused || spent.Day.Why.None() || spent.Day.Until.IsZero():
					t.Error(err)
				}
			}
			if claimed != c.want {
				t.Errorf("%d turns were claimed, want %d", claimed, c.want)
			}
		})
	}
}

func claimOf(item work.Item, b work.Budgets) *Claim {
	return &Claim{Item: item, Budgets: b, Turn: work.Turn{
		RepoID: item.RepoID, ItemID: item.ID, Number: item.Number, Kind: work.KindBugfixStart, Key: fmt.Sprint("k", item.Number), Step: work.StepClaimed, ClaimedAt: noon, UpdatedAt: noon,
	}}
}
