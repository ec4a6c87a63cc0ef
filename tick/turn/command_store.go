package turn

import (
	"context"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// unobeyed reports whether a command on a turn's item waits to be carried out.
func unobeyed(ctx context.Context, tx *store.Tx, l *env.Lease) (bool, error) {
	pending, err := tx.ListPendingCommands(ctx, l.Item.RepoID)
	for _, e := range pending {
		if e.ItemID != l.Item.ID || e.State == work.SaidLocally {
			continue
		}
		_, planned, err := tx.GetAction(ctx, work.NoticeToken(l.Repo.Row.Key(), e.Number, e.Key))
		if err != nil || !planned {
			return !planned, err
		}
	}
	return false, err
}
