package merge

import (
	"context"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// failedRevert is a red merge whose revert was void or dropped, and why.
type failedRevert struct {
	row merging.Merge
	why string
}

func failedRevertAbout(row merging.Merge) string { return "not reverted " + row.Commit }

// failedReverts returns the red merges whose revert failed and that have no comment about it yet.
func (m *Merging) failedReverts(ctx context.Context, tx *store.Tx, r *env.Repo) (all []failedRevert, err error) {
	rows, err := tx.ListMerges(ctx, r.Row.ID, m.Now().Add(-issueFor))
	for _, row := range rows {
		if err != nil || len(row.Red) == 0 {
			continue
		}
		var a work.Action
		var told bool
		if a, _, err = tx.GetAction(ctx, work.RevertToken(r.Row.Key(), row.Number, row.Commit)); err != nil {
			return nil, err
		}
		one := failedRevert{row: row}
		switch a.State {
		case work.ActionVoid:
			one.why = a.LastError
		case work.ActionDropped:
			one.why = "it could not be pushed or opened; the log of gh mergexo says what GitHub answered"
		default:
			continue
		}
		if _, told, err = tx.GetAction(ctx, work.NoticeToken(r.Row.Key(), row.Number, failedRevertAbout(row))); err == nil && !told {
			all = append(all, one)
		}
	}
	return all, err
}

// planRevertComment plans a comment that the revert of a red merge failed.
func (o round) planRevertComment(ctx context.Context, one failedRevert) error {
	text := fmt.Sprintf("No pull request reverts the merge %s: %s. If it must be reverted, do that by hand.", one.row.Commit, one.why)
	a := o.comment(&job{row: one.row}, one.row.Number, failedRevertAbout(one.row), text)
	return o.Store.Update(ctx, func(tx *store.Tx) error {
		_, err := tx.AddAction(ctx, a)
		return err
	})
}
