package restore

import (
	"context"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// TakeIn gives a start, right before its agent is asked, what people said since
// it was claimed: making the checkout may have taken minutes.
func (p *Restorer) TakeIn(ctx context.Context, l *env.Lease) error {
	if !l.Turn.Kind.Start() {
		return nil
	}
	return p.Store.Update(ctx, func(tx *store.Tx) error {
		queued, err := env.QueuedComments(ctx, tx, l.Item)
		if err != nil || len(queued) == 0 {
			return err
		}
		if err := tx.AssignEvents(ctx, l.Turn.ID, work.EventIDs(queued)); err != nil {
			return err
		}
		l.Turn.EventKeys = slices.Sorted(slices.Values(append(l.Turn.EventKeys, work.EventKeys(queued)...)))
		if l.Events, err = env.TurnEvents(ctx, tx, l.Turn); err != nil {
			return err
		}
		return tx.SaveTurn(ctx, l.Turn)
	})
}
