package tick

import (
	"context"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/plan"
)

// beginAnew forgets what the item waited for when the label was set anew.
func beginAnew(ctx context.Context, tx *store.Tx, planned plan.PlannedTurn) error {
	f, waited, err := tx.FindFollowup(ctx, planned.Item.ID)
	if err != nil || !waited {
		return err
	}
	anew := func(e work.Event) bool { return work.Begins(planned.Item, e) && e.ID > f.EventCursor }
	if !slices.ContainsFunc(planned.Events, anew) {
		return nil
	}
	return tx.DropFollowup(ctx, planned.Item.ID)
}
