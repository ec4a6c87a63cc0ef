package store

import (
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// A branch that lost a commit waits, in whatever snapshots come, until its
// head is accepted or it loses one again.
func TestRewrittenPulls(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	i := addItem(t, d, work.Item{RepoID: addRepo(t, d).ID, Number: 1})
	snapshot := work.PullRequest{RepoID: i.RepoID, ItemID: i.ID, Number: 2, State: work.PullOpen, HeadOID: "b"}
	put := func() int64 { return inTx(t, d, func(tx *Tx) (int64, error) { return tx.PutPull(ctx, snapshot) }) }
	id := put()
	wait := func(want ...int64) {
		t.Helper()
		equal(t, inTx(t, d, func(tx *Tx) ([]int64, error) { return tx.ListRewritten(ctx, i.RepoID) }), want)
	}
	wait()
	wantErr(t, d, ErrStale, func(tx *Tx) error { return tx.AcceptHead(ctx, id, "b") })

	update(t, d, func(tx *Tx) error { return tx.SetLost(ctx, id, "a") })
	put()
	wait(i.ID)
	update(t, d, func(tx *Tx) error { return tx.AcceptHead(ctx, id, "b") })
	put()
	wait()
	update(t, d, func(tx *Tx) error { return tx.SetLost(ctx, id, "a") })
	wait(i.ID)
	snapshot.State = work.PullClosed
	put()
	wait()
	update(t, d, func(tx *Tx) error { return tx.SetLost(ctx, id, "") })
	wantErr(t, d, ErrStale, func(tx *Tx) error { return tx.AcceptHead(ctx, id, "b") })
	wantErr(t, d, ErrNotFound, func(tx *Tx) error { return tx.SetLost(ctx, 99, "a") })
}
