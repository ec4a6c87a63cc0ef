package store

import (
	"errors"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// What one query gives of several items is what each of them gives alone.
func TestSeveralItemsAtOnce(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	repo := addRepo(t, d).ID
	bare, whole := addItem(t, d, work.Item{RepoID: repo, Number: 1}), addItem(t, d, work.Item{RepoID: repo, Number: 2})
	update(t, d, func(tx *Tx) error {
		for _, number := range []int{9, 30, 12} {
			id, err := tx.PutPull(ctx, work.PullRequest{RepoID: repo, ItemID: whole.ID, Number: number, State: work.PullOpen})
			if err == nil && number == 9 {
				err = tx.PutThreads(ctx, id, []work.Thread{{NodeID: "n", Top: 4, Resolved: true}})
			}
			if err != nil {
				return err
			}
		}
		return tx.PutStop(ctx, work.Stop{ItemID: whole.ID, Number: 2, Token: "t"})
	})
	ids := []int64{whole.ID, bare.ID, 99}
	items := inTx(t, d, func(tx *Tx) ([]work.Item, error) { return tx.GetItems(ctx, ids) })
	equal(t, items, []work.Item{bare, whole})
	pulls := inTx(t, d, func(tx *Tx) (map[int64]work.PullRequest, error) { return tx.FindPullsOfItems(ctx, ids) })
	newest := inTx(t, d, func(tx *Tx) (work.PullRequest, error) {
		p, _, err := tx.FindPullOfItem(ctx, whole.ID)
		return p, err
	})
	equal(t, pulls, map[int64]work.PullRequest{whole.ID: newest})
	equal(t, newest.Number, 30)
	beside := inTx(t, d, func(tx *Tx) (map[int64]RelatedRows, error) { return tx.ListRelatedRows(ctx, ids[:2]) })
	equal(t, beside, map[int64]RelatedRows{bare.ID: {}, whole.ID: {Stop: true, Threads: true}})

	update(t, d, func(tx *Tx) error {
		_, err := tx.AddTurn(ctx, work.Turn{RepoID: repo, ItemID: bare.ID, Kind: work.KindFix, Key: "k", Step: work.StepClaimed})
		return errors.Join(err, tx.PutFollowup(ctx, work.Followup{ItemID: bare.ID}))
	})
	beside = inTx(t, d, func(tx *Tx) (map[int64]RelatedRows, error) { return tx.ListRelatedRows(ctx, ids[1:2]) })
	equal(t, beside, map[int64]RelatedRows{bare.ID: {Followup: true, Turns: true}})
}
