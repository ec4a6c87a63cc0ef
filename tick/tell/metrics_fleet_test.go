package tell

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/metrics"
	"github.com/mergexo/gh-mergexo/internal/testdb"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// Each of several machines exports what it did, so that their sum counts everything once, and no
// counter falls when another machine continues its turn. What is true of all of them, each exports.
func TestMetricsOfMachinesAddUp(t *testing.T) {
	w := newWorld(t)
	ctx, at := t.Context(), testdb.At(t, filepath.Join(w.dir, "state.db"))
	machines := map[string]*store.DB{}
	for _, name := range []string{"a", "b"} {
		db, err := store.Open(ctx, at, store.Options{Now: func() time.Time { return w.now }, RunTwice: true, Machine: name, Shared: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		machines[name] = db
	}
	on := func(name string, fn func(*store.Tx) error) { t.Helper(); w.update(machines[name], fn) }
	began := w.now.Add(-time.Minute)
	var turns [2]work.Turn
	on("a", func(tx *store.Tx) (err error) {
		for i := range turns {
			item := work.Item{RepoID: w.repo.ID, Number: i + 1, Flow: work.FlowBugfix, State: work.StateRunning}
			if item.ID, err = tx.AddItem(ctx, item); err != nil {
				return err
			}
			turns[i] = work.Turn{RepoID: w.repo.ID, ItemID: item.ID, Number: i + 1, Kind: work.KindBugfixStart, Key: string(rune('k' + i)), Step: work.StepClaimed, Agent: "codex", ClaimedAt: began}
			if turns[i].ID, err = tx.AddTurn(ctx, turns[i]); err != nil {
				return err
			}
		}
		return nil
	})
	run := func(name string, turn int, usd float64, ends bool) {
		on(name, func(tx *store.Tx) error {
			r := work.Run{Turn: turns[turn].ID, Agent: "codex", Began: began, Usage: work.Usage{CostUSD: usd}, Known: work.Known{Tokens: true, Cost: true}}
			if ends {
				r.Ended = w.now
			}
			_, err := tx.AddRun(ctx, r)
			return err
		})
	}
	run("a", 0, 1, true)
	run("a", 1, 2, true)
	on("a", func(tx *store.Tx) error { return tx.CountFailure(ctx, turns[1].ID, work.WhyFailed) })

	shown := func(name string) (v metrics.Values) {
		t.Helper()
		e := w.env(machines[name])
		v, err := values(ctx, &PassEnd{Config: e.Config, Store: e.Store, Machine: work.Machine{Name: name}, Report: env.NewReport(w.now), dirs: e.Dirs, now: e.Now})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	type counted struct {
		turns, failures, runs, took int
		usd                         float64
	}
	count := func(v metrics.Values) (c counted) {
		for _, x := range v.Turns {
			c.turns += x.Count
		}
		for _, x := range v.Failures {
			c.failures += x.Count
		}
		for _, x := range v.Used {
			c.runs, c.usd = c.runs+x.Runs, c.usd+x.CostUSD
		}
		for _, n := range v.TurnTime.Counts {
			c.took += n
		}
		return c
	}
	if a, b := count(shown("a")), count(shown("b")); a != (counted{failures: 1, runs: 2, usd: 3}) || b != (counted{}) {
		t.Errorf("before b continues a turn: a %+v, b %+v", a, b)
	}

	run("b", 1, 4, true)
	run("b", 0, 8, false)
	for i, name := range []string{"a", "b"} {
		on(name, func(tx *store.Tx) error {
			if err := tx.SaveTurn(ctx, turns[i]); err != nil {
				return err
			}
			return tx.EndTurn(ctx, turns[i].ID, work.StepClaimed, work.StepFailed, "", w.now)
		})
	}
	for name, m := range map[string]work.Machine{"a": {}, "b": {}, "c": {BeganAt: began.Add(-time.Hour)}} {
		m.Name, m.SilentAfter = name, time.Minute
		on("a", func(tx *store.Tx) error { return tx.PutMachine(ctx, m) })
	}
	a, b := shown("a"), shown("b")
	if got := count(a); got != (counted{turns: 1, failures: 1, runs: 2, took: 1, usd: 3}) {
		t.Errorf("a %+v", got)
	}
	if got := count(b); got != (counted{turns: 1, runs: 1, took: 1, usd: 4}) {
		t.Errorf("b %+v", got)
	}
	for name, v := range map[string]metrics.Values{"a": a, "b": b} {
		if len(v.Machines) != 3 || v.Machines[0].Silent || v.Machines[1].Silent || !v.Machines[2].Silent {
			t.Errorf("%s: %+v", name, v.Machines)
		}
	}
}
