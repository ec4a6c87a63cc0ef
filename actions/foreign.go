package actions

import (
	"context"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// ForeignError says that an action was refused because it would touch somebody else's
// pull request by more than words. Nothing plans one: this is the last wall.
type ForeignError struct {
	Kind   work.ActionKind
	Number int // of the pull request
}

func (e *ForeignError) Error() string {
	return fmt.Sprintf("%s refused: pull request #%d is somebody else's, and is only reviewed", e.Kind, e.Number)
}

// ownOnly refuses what would push to somebody else's pull request, open or close one for it,
// or merge it.
func (r *Runner) ownOnly(ctx context.Context, a work.Action) error {
	touches := a.Kind == work.ActionPush || a.Kind == work.ActionPullRequest || a.Kind == work.ActionClose || a.Kind.Merging()
	if !touches || a.ItemID == 0 {
		return nil
	}
	return r.Store.View(ctx, func(tx *store.Tx) error {
		item, err := tx.GetItem(ctx, a.ItemID)
		if err == nil && item.Flow == work.FlowReview {
			err = &ForeignError{Kind: a.Kind, Number: item.Number}
		}
		return err
	})
}
