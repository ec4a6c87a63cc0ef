package tick

import (
	"context"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/plan"
)

// startOver forgets what the item waited for when the label was set again.
func startOver(ctx context.Context, tx *store.Tx, planned plan.PlannedTurn) error {
	f, waited, err := tx.FindFollowup(ctx, planned.Item.ID)
	if err != nil || !waited {
		return err
	}
	again := func(e work.Event) bool { return work.Begins(planned.Item, e) && e.ID > f.EventCursor }
	if !slices.ContainsFunc(planned.Events, again) {
		return nil
	}
	return tx.DropFollowup(ctx, planned.Item.ID)
}
