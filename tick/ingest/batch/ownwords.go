package batch

import (
	"context"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// EditedByPerson reports whether a comment by our account is one that we sent, and
// says something else now. One that is kept up to date changes by our own edits, so
// of that only the loss of the marker tells.
func (h *People) EditedByPerson(ctx context.Context, e work.Event) (bool, error) {
	if e.ItemID == 0 {
		return false, nil
	}
	var sent []work.Action
	err := h.View(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
		sent, err = tx.ListItemActions(ctx, e.ItemID)
		return err
	})
	if err != nil {
		return false, err
	}
	kind, id := e.Kind, e.Source
	if kind == work.EventCommand {
		plain := Versions(e)[1]
		kind, id = work.EventKind(plain[0]), plain[1]
	}
	return slices.ContainsFunc(sent, func(a work.Action) bool {
		return a.Number == e.Number && a.ResultID == id && writes(a.Kind, kind) && changed(a, e.Body)
	}), nil
}
