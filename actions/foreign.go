package actions

import (
	"context"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// ForeignError says that an action was refused because it would change somebody else's pull
// request, not only comment on it. No plan contains such an action: this check is the last defense.
type ForeignError struct {
	Kind   work.ActionKind
	Number int // of the pull request
}

func (e *ForeignError) Error() string {
	return fmt.Sprintf("%s refused: pull request #%d is somebody else's, and gh mergexo only reviews it", e.Kind, e.Number)
}

// ownOnly refuses to push to somebody else's pull request, to open or close one for it, or to merge
// it.
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
