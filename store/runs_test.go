package store

import (
	"errors"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// A run counts as an attempt from before its start, until it is given back; one
// that ended with its pass stays open until somebody says what it used.
func TestRunsAreStoredBeforeTheyStart(t *testing.T) {
	ctx, d := t.Context(), openAt(t, newPath(t))
	r := addRepo(t, d)
	i := addItem(t, d, work.Item{RepoID: r.ID, Number: 1, State: work.StateRunning})
	u := addTurn(t, d, work.Turn{RepoID: r.ID, ItemID: i.ID, Number: 1, Key: "turn"})
	turn := func() work.Turn {
		return inTx(t, d, func(tx *Tx) (work.Turn, error) { return tx.GetTurn(ctx, u.ID) })
	}
	open := func() []work.Run { return inTx(t, d, func(tx *Tx) ([]work.Run, error) { return tx.ListOpenRuns(ctx) }) }
	begin := func(attempt bool) (id int64) {
		update(t, d, func(tx *Tx) (err error) {
			id, err = tx.BeginRun(ctx, work.Run{Turn: u.ID, Attempt: attempt, Agent: "codex", Began: t0})
			return err
		})
		return id
	}
	first, repair := begin(true), begin(false)
	if got := turn(); got.Attempts != 1 || got.Runs != 2 {
		t.Errorf("after a run and a repair: %d attempts, %d runs", got.Attempts, got.Runs)
	}
	known := work.Known{Tokens: true}
	used := work.Usage{InputTokens: 3, OutputTokens: 2, CostUSD: 1.5}
	update(t, d, func(tx *Tx) error { return tx.NoteRun(ctx, first, "session", used, known) })
	if all := open(); len(all) != 2 || all[0].Usage != used || all[0].Known != known || all[1].Known != (work.Known{}) || all[0].Session != "session" || all[0].Agent != "codex" || !all[0].Began.Equal(t0) {
		t.Errorf("open: %+v", all)
	}
	update(t, d, func(tx *Tx) error {
		if err := tx.EndRun(ctx, work.Run{ID: first, Usage: used, Ended: t0.Add(time.Minute)}); err != nil {
			return err
		}
		if err := tx.EndRun(ctx, work.Run{ID: first}); !errors.Is(err, ErrStale) {
			t.Errorf("it ended twice: %v", err)
		}
		return tx.NoteRun(ctx, first, "late", work.Usage{}, work.Known{})
	})
	if all := open(); len(all) != 1 || all[0].ID != repair {
		t.Errorf("open: %+v", all)
	}
	update(t, d, func(tx *Tx) error { return tx.AddTurnUsage(ctx, u.ID, used, known) })
	for range 2 {
		update(t, d, func(tx *Tx) error { return tx.RefundAttempt(ctx, u.ID) })
	}
	if got := turn(); got.Attempts != 0 || got.Used != (work.UsageSum{Usage: used, UnknownCost: 1}) {
		t.Errorf("given back: %d attempts, %+v", got.Attempts, got.Used)
	}
	update(t, d, func(tx *Tx) error { return tx.EndTurn(ctx, u.ID, u.Step, work.StepCancelled, "", t0) })
	err := d.Update(ctx, func(tx *Tx) error { _, err := tx.BeginRun(ctx, work.Run{Turn: u.ID}); return err })
	if !errors.Is(err, ErrStale) || len(open()) != 1 {
		t.Errorf("a turn that has ended ran: %v", err)
	}
}
