package merge

import (
	"context"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/store"
)

// checkIssue checks once whether GitHub closed the issue with the pull request. If not, it plans a
// comment.
func (o round) checkIssue(ctx context.Context, row merging.Merge) error {
	var item work.Item
	err := o.Store.View(ctx, func(tx *store.Tx) (err error) {
		item, err = tx.GetItem(ctx, row.ItemID)
		return err
	})
	if err != nil {
		return err
	}
	is, ok, err := o.r.GitHub.Issue(ctx, o.r.Row.Current, item.Number)
	if err != nil {
		return err
	}
	a := o.comment(&job{row: row}, item.Number, "merged "+row.Commit, o.openText(row))
	if !ok || is.State != "open" {
		a.State, a.LastError = work.ActionVoid, "the issue was closed"
	}
	return o.Store.Update(ctx, func(tx *store.Tx) error {
		_, err := tx.AddAction(ctx, a)
		return err
	})
}

func (o round) openText(row merging.Merge) string {
	why := "the pull request's text does not say any more that it fixes this issue, or GitHub did not act on it"
	if row.Base != o.r.Row.DefaultBranch {
		why = fmt.Sprintf("`%s` is not the default branch, and GitHub closes issues only for that one", row.Base)
	}
	return fmt.Sprintf("#%d is merged into `%s` as %s, and GitHub did not close this issue: %s. Close it if nothing is left to do.", row.Number, row.Base, work.Short(row.Commit), why)
}
