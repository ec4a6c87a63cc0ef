package store

import (
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

func TestWhatWasGivenUpIsShownLater(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	r := addRepo(t, d)
	a := work.Action{RepoID: r.ID, Kind: work.ActionLabels, Need: work.NeedCosmetic, Token: "t", Target: "agent:done", PlannedAt: t0}
	id := inTx(t, d, func(tx *Tx) (int64, error) {
		got, err := tx.AddAction(ctx, a)
		return got.ID, err
	})
	var tries []int
	drop := func() {
		var tried int
		update(t, d, func(tx *Tx) error {
			if err := tx.MarkDropped(ctx, id, "403", t0); err != nil {
				return err
			}
			return tx.DeferDropped(ctx, id, func(n int) time.Time {
				tried = n
				if n == 2 {
					return time.Time{}
				}
				return t0.Add(time.Minute)
			})
		})
		tries = append(tries, tried)
	}
	unshown := func(at time.Time) int {
		return len(inTx(t, d, func(tx *Tx) ([]int64, error) { return tx.ListDroppedDue(ctx, r.ID, at) }))
	}
	wantErr(t, d, ErrStale, func(tx *Tx) error { return tx.ReplanDropped(ctx, id) })
	drop()
	if unshown(t0) != 0 || unshown(t0.Add(time.Minute)) != 1 {
		t.Error("not when its time has come")
	}
	before := getAction(t, d, "t")
	update(t, d, func(tx *Tx) error { return tx.ReplanDropped(ctx, id) })
	if got := getAction(t, d, "t"); got.State != work.ActionPlanned || got.Renewals != before.Renewals+1 || !got.NotBefore.IsZero() {
		t.Errorf("shown again: %+v", got)
	}
	drop()
	if unshown(t0.Add(time.Hour)) != 0 {
		t.Error("given up for good, and due")
	}
	a.Target = "agent:blocked" // another state: it begins to count again
	update(t, d, func(tx *Tx) error { return tx.RenewAction(ctx, a) })
	drop()
	if len(tries) != 3 || tries[0] != 1 || tries[1] != 2 || tries[2] != 1 {
		t.Errorf("tries: %v", tries)
	}
}
