package store

import (
	"fmt"
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
			RepoID: r.ID, ItemID: item.ID, Number: item.Number, Key: key, Kind: work.KindFix, ClaimedAt: claimed, Head: "head", Commit: "commit",
		})
		for n := range runs {
			update(t, d, func(tx *Tx) error {
				_, err := tx.BeginRun(t.Context(), work.Run{Turn: u.ID, Attempt: n < 2, Began: claimed, Known: work.Known{Cost: n != 1}, Usage: work.Usage{CostUSD: 0.25}})
				return err
			})
		}
		if end {
			update(t, d, func(tx *Tx) error { return tx.EndTurn(t.Context(), u.ID, u.Step, work.StepFailed, "", claimed) })
		}
		return u
	}
	turn(i, "long ago", 1, t0.Add(-25*time.Hour), true)
	turn(i, "never ran", 0, t0.Add(-2*time.Hour), true)
	turn(i, "lately", 3, t0.Add(-time.Hour), true)
	turn(j, "elsewhere", 0, t0, false)
	says := func(spent []work.Spent) (all []string) {
		for _, s := range spent {
			u := inTx(t, d, func(tx *Tx) (work.Turn, error) { return tx.GetTurn(t.Context(), s.Turn) })
			all = append(all, fmt.Sprintf("%s: %d attempts, %.2f USD, %d unknown", u.Key, s.Attempts, s.CostUSD, s.UnknownCost))
			if s.Kind != work.KindFix || s.Head != "head" || s.Commit != "commit" || s.Step != u.Step || !s.At.Equal(u.ClaimedAt) {
				t.Errorf("%s: %+v", u.Key, s)
			}
		}
		return all
	}
	spent := func() []string {
		return says(inTx(t, d, func(tx *Tx) ([]work.Spent, error) { return tx.ListSpent(t.Context(), i.ID) }))
	}
	equalLists(t, "the item's", spent(), "long ago: 1 attempts, 0.25 USD, 0 unknown", "lately: 2 attempts, 0.75 USD, 1 unknown")
	equalLists(t, "the day's", says(inTx(t, d, func(tx *Tx) ([]work.Spent, error) {
		return tx.ListSpentSince(t.Context(), t0.Add(-24*time.Hour))
	})), "lately: 1 attempts, 0.25 USD, 0 unknown", "lately: 1 attempts, 0.25 USD, 1 unknown", "lately: 0 attempts, 0.25 USD, 0 unknown", "elsewhere: 0 attempts, 0.00 USD, 0 unknown")

	update(t, d, func(tx *Tx) error { return tx.RenewAllowance(t.Context(), i.ID) })
	equalLists(t, "after it was renewed", spent())
	next := turn(i, "next", 1, t0, false)
	equalLists(t, "the next", spent(), "next: 1 attempts, 0.25 USD, 0 unknown")

	// A turn that waits when it is renewed counts what its agent uses from then on.
	update(t, d, func(tx *Tx) error { return tx.RenewAllowance(t.Context(), i.ID) })
	equalLists(t, "renewed while it waits", spent(), "next: 0 attempts, 0.00 USD, 0 unknown")
	run := func() (id int64) {
		update(t, d, func(tx *Tx) (err error) {
			id, err = tx.BeginRun(t.Context(), work.Run{Turn: next.ID, Attempt: true, Began: t0, Known: work.Known{Cost: true}, Usage: work.Usage{CostUSD: 2}})
			return err
		})
		return id
	}
	first := run()
	equalLists(t, "which runs again", spent(), "next: 1 attempts, 2.00 USD, 0 unknown")
	run()
	update(t, d, func(tx *Tx) error { return tx.RefundTurn(t.Context(), first) })
	equalLists(t, "of which one is given back", spent(), "next: 1 attempts, 4.00 USD, 0 unknown")
	update(t, d, func(tx *Tx) error { return tx.EndTurn(t.Context(), next.ID, next.Step, work.StepFailed, "", t0) })
	equalLists(t, "which ends", spent(), "next: 1 attempts, 4.00 USD, 0 unknown")
	update(t, d, func(tx *Tx) error { return tx.RenewAllowance(t.Context(), i.ID) })
	equalLists(t, "renewed after it ended", spent())

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
