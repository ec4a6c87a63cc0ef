package env

import (
	"context"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// QueuedComments are the comments on an item's issue that no turn has.
func QueuedComments(ctx context.Context, tx *store.Tx, item work.Item) ([]work.Event, error) {
	pending, err := tx.ListPendingEvents(ctx, item.RepoID)
	return slices.DeleteFunc(pending, func(e work.Event) bool {
		return e.ItemID != item.ID || e.Kind != work.EventSource || e.TurnID != 0
	}), err
}
