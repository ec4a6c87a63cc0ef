package batch

import (
	"context"
	"errors"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// OfPull is the work item of a pull request, as changed by this batch; none where it is
// not stored yet.
func (h *Batch) OfPull(ctx context.Context, pull work.PullRequest) (item work.Item, err error) {
	if pull.ItemID == 0 {
		return h.Items[h.Adopted[pull.Number]], nil
	}
	if item, ok := h.Items[pull.Number]; ok && item.ID == pull.ItemID {
		return item, nil
	}
	err = h.View(ctx, func(ctx context.Context, tx *store.Tx) error {
		item, err = tx.GetItem(ctx, pull.ItemID)
		return err
	})
	return item, err
}

// IsItemError reports whether an error may be one pull request's alone.
func IsItemError(err error) bool {
	var wait *work.WaitError
	var gone *github.UnreachableError
	switch {
	case errors.As(err, &wait), errors.As(err, &gone), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return false
	case github.IsStatus(err, 401, 403):
		return false
	}
	return true
}
