package env

import (
	"context"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// QueuedComments returns comments on an item's issue that no turn has.
func QueuedComments(ctx context.Context, tx *store.Tx, item work.Item) ([]work.Event, error) {
	said, err := tx.ListPendingComments(ctx, item.RepoID, item.ID)
	return slices.DeleteFunc(said, func(e work.Event) bool { return e.Kind != work.EventSource }), err
}
