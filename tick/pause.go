package tick

import (
	"context"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// People pause a work item by the label agent:ignore on its issue or its pull
// request, or by a command, and resume it in the same way. Until then
// nothing is begun for it, and what is said is skipped for good. The label on
// GitHub is enough to know, also of pauses that are over: timelines show them.

// storePauses begins and ends pauses by commands. They stand on the issue; an
// end is also one for a label that will be taken away.
func storePauses(ctx context.Context, tx *store.Tx, pauses []work.PauseChange) error {
	for _, p := range pauses {
		item, err := tx.GetItem(ctx, p.Item)
		if err != nil {
			return err
		}
		if !p.Began.IsZero() {
			if err := tx.BeginPause(ctx, work.Pause{RepoID: item.RepoID, Number: item.Number, Began: p.Began, By: p.By}); err != nil {
				return err
			}
		}
		if p.Ended.IsZero() {
			continue
		}
		numbers, err := env.StandsOn(ctx, tx, item)
		if err != nil {
			return err
		}
		for _, n := range numbers {
			if err := tx.EndPauses(ctx, item.RepoID, n, store.PausesAll, p.Ended); err != nil {
				return err
			}
		}
	}
	return nil
}
