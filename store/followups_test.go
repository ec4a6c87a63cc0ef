package store

import (
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
)

func TestFollowups(t *testing.T) {
	d := newDB(t)
	r := addRepo(t, d)
	i := addItem(t, d, work.Item{RepoID: r.ID, Number: 1, State: work.StateAwaitingIssueFollowup})
	first := work.Followup{
		ItemID: i.ID, Reason: work.Reason{Kind: work.WhyQuestion, Text: "which?"}, Turn: "key", Commit: "c0ffee",
		RunStartComment: 5, CommentCursor: 7, EventCursor: 3, Since: t0,
	}
	second := first
	second.Reason, second.CommentCursor = work.Reason{Kind: work.WhyNewComments}, 9
	for _, f := range []work.Followup{first, second} {
		update(t, d, func(tx *Tx) error { return tx.PutFollowup(t.Context(), f) })
		equal(t, inTx(t, d, func(tx *Tx) (work.Followup, error) {
			got, _, err := tx.FindFollowup(t.Context(), i.ID)
			return got, err
		}), f)
	}
	standing := func(s work.State) (all []work.Followup) {
		for _, f := range inTx(t, d, func(tx *Tx) ([]IdleFollowup, error) { return tx.ListIdleFollowups(t.Context(), s) }) {
			equal(t, f.Item, inTx(t, d, func(tx *Tx) (work.Item, error) { return tx.GetItem(t.Context(), f.ItemID) }))
			all = append(all, f.Followup)
		}
		return all
	}
	equal(t, standing(work.StateAwaitingIssueFollowup), []work.Followup{second})
	equal(t, len(standing(work.StateBlocked)), 0)

	u := addTurn(t, d, work.Turn{RepoID: r.ID, ItemID: i.ID, Number: 1, Key: "live"})
	equal(t, len(standing(work.StateAwaitingIssueFollowup)), 0)
	update(t, d, func(tx *Tx) error {
		if err := tx.EndTurn(t.Context(), u.ID, work.StepClaimed, work.StepFailed, "", t0); err != nil {
			return err
		}
		_, err := tx.PutPull(t.Context(), work.PullRequest{RepoID: r.ID, ItemID: i.ID, Number: 2, State: work.PullOpen})
		return err
	})
	equal(t, len(standing(work.StateAwaitingIssueFollowup)), 0)
	update(t, d, func(tx *Tx) error { return tx.DropFollowup(t.Context(), i.ID) })
	equal(t, inTx(t, d, func(tx *Tx) (bool, error) {
		_, ok, err := tx.FindFollowup(t.Context(), i.ID)
		return ok, err
	}), false)
}
