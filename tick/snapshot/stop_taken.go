package snapshot

import (
	"context"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/plan"
)

// fillHandings reads which comments say something else than is so.
func fillHandings(ctx context.Context, tx *store.Tx, v *plan.Snapshot) error {
	for _, i := range v.Items {
		pause, paused := v.Paused[i.ID]
		if !paused || !i.State.Stands() {
			continue
		}
		stop, _, err := tx.FindStop(ctx, i.ID)
		if err != nil {
			return err
		}
		if stop.Lasts() && stop.Taken.IsZero() {
			v.Handings = append(v.Handings, work.PauseBanner{Stop: stop, Pause: pause})
		}
	}
	taken, err := tx.ListTakenStops(ctx)
	if err != nil {
		return err
	}
	for _, stop := range taken {
		if _, paused := v.Paused[stop.ItemID]; paused {
			continue
		}
		item, err := tx.GetItem(ctx, stop.ItemID)
		if err != nil {
			return err
		}
		if item.RepoID == v.Repo.ID {
			v.Handings = append(v.Handings, work.PauseBanner{Stop: stop})
		}
	}
	return nil
}
