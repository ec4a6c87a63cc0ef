package snapshot

import (
	"context"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/plan"
)

// fillPaused reads which items people have taken over. Each of them that is
// open has its line in the plan, whether anything waits or not.
func fillPaused(ctx context.Context, tx *store.Tx, v *plan.Snapshot) error {
	v.Paused = map[int64]work.Pause{}
	open, err := tx.ListOpenPauses(ctx, v.Repo.ID)
	if err != nil || len(open) == 0 {
		return err
	}
	items, err := tx.ListOpenItems(ctx, v.Repo.ID)
	if err != nil {
		return err
	}
	for _, i := range items {
		numbers, err := env.StandsOn(ctx, tx, i)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(open, func(p work.Pause) bool { return slices.Contains(numbers, p.Number) })
		if at < 0 {
			continue
		}
		v.Paused[i.ID] = open[at]
	}
	return nil
}
