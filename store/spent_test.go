package store

import (
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// What an item and a day have spent: turns whose agent ran or is going to run.
func TestSpent(t *testing.T) {
	d := openAt(t, newPath(t))
	r := addRepo(t, d)
	i := addItem(t, d, work.Item{RepoID: r.ID, Number: 1, State: work.StateRunning})
	j := addItem(t, d, work.Item{RepoID: r.ID, Number: 2, State: work.StateRunning})
	turn := func(item work.Item, key string, runs int, claimed time.Time, end bool) work.Turn {
		u := addTurn(t, d, work.Turn{
			RepoID: r.ID, ItemID: item.ID, Number: item.Number, Key: key, Kind: work.KindFix, Runs: runs, ClaimedAt: claimed,
			Head: "head", Commit: "commit", Usage: work.Usage{CostUSD: 0.25},
		})
		if end {
			update(t, d, func(tx *Tx) error { return tx.EndTurn(t.Context(), u.ID, u.Step, work.StepFailed, "", claimed) })
		}
		return u
	}
	turn(i, "long ago", 1, t0.Add(-25*time.Hour), true)
	turn(i, "never ran", 0, t0.Add(-2*time.Hour), true)
	turn(i, "lately", 2, t0.Add(-time.Hour), true)
	turn(j, "elsewhere", 0, t0, false)
	keys := func(spent []work.Spent) (all []string) {
		for _, s := range spent {
			u := inTx(t, d, func(tx *Tx) (work.Turn, error) { return tx.GetTurn(t.Context(), s.Turn) })
			all = append(all, u.Key)
			if s.Kind != work.KindFix || s.Head != "head" || s.Commit != "commit" || s.CostUSD != 0.25 || s.Step != u.Step || !s.At.Equal(u.ClaimedAt) {
				t.Errorf("%s: %+v", u.Key, s)
			}
		}
		return all
	}
	spent := func(after int64) []string {
		return keys(inTx(t, d, func(tx *Tx) ([]work.Spent, error) { return tx.ListSpent(t.Context(), i.ID, after) }))
	}
	equalLists(t, "the item's", spent(0), "long ago", "lately")
	equalLists(t, "the day's", keys(inTx(t, d, func(tx *Tx) ([]work.Spent, error) {
		return tx.ListSpentSince(t.Context(), t0.Add(-24*time.Hour))
	})), "lately", "elsewhere")

	update(t, d, func(tx *Tx) error { return tx.RenewAllowance(t.Context(), i.ID) })
	item := inTx(t, d, func(tx *Tx) (work.Item, error) { return tx.GetItem(t.Context(), i.ID) })
	equalLists(t, "after it was renewed", spent(item.AllowanceFrom))
	turn(i, "next", 1, t0, false)
	equalLists(t, "the next", spent(item.AllowanceFrom), "next")

	last := func(kind work.Kind) int64 {
		return inTx(t, d, func(tx *Tx) (int64, error) { return tx.LastTurn(t.Context(), r.ID, kind) })
	}
	if last(work.KindFix) != 5 || last(work.KindReview) != 0 {
		t.Errorf("the newest turns are %d, %d", last(work.KindFix), last(work.KindReview))
	}
}

func equalLists(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %v, want %v", what, got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
}
