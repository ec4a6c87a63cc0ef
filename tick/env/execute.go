package env

import (
	"context"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// StoreAnswered stores the row of a turn whose answer the journal has, with
// its planned actions.
func (p *Env) StoreAnswered(ctx context.Context, l *Lease, planned []work.Action) error {
	now := p.Now()
	err := p.Store.Update(ctx, func(tx *store.Tx) error {
		if err := tx.SaveTurn(ctx, l.Turn); err != nil {
			return err
		}
		if err := tx.GiveBackAttempt(ctx, l.Turn.ID); err != nil { // it answered
			return err
		}
		for _, a := range planned {
			a.PlannedAt = now
			if _, err := tx.AddAction(ctx, a); err != nil {
				return err
			}
		}
		return tx.AdvanceTurn(ctx, l.Turn.ID, work.StepClaimed, work.StepAnswered, now)
	})
	if err != nil {
		return fmt.Errorf("store the answer: %w", err)
	}
	l.Turn.Step, l.Turn.Attempts, l.Attempted = work.StepAnswered, max(l.Turn.Attempts-1, 0), false
	return nil
}
