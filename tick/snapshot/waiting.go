package snapshot

import (
	"context"
	"slices"
)

// waiting loads pending events other than comments and the ids of items with pending comments.
func (r *reading) waiting(ctx context.Context) (err error) {
	if r.facts, err = r.tx.ListPendingFacts(ctx, r.repo.ID); err != nil {
		return err
	}
	r.waits, err = r.tx.ListItemsWithComments(ctx, r.repo.ID)
	return err
}

// written reads the pending comments of some items, without their texts.
func (r *reading) written(ctx context.Context, items []int64) (err error) {
	items = slices.DeleteFunc(slices.Clone(items), func(id int64) bool { return !slices.Contains(r.waits, id) })
	r.events, err = r.tx.ListPendingCommentsOf(ctx, r.repo.ID, items)
	return err
}
