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
	update(t, d, func(tx *Tx) error { return tx.DropFollowup(t.Context(), i.ID) })
	equal(t, inTx(t, d, func(tx *Tx) (bool, error) {
		_, ok, err := tx.FindFollowup(t.Context(), i.ID)
		return ok, err
	}), false)
}
