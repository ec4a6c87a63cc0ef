package change

import (
	"context"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
)

// Table makes the comment that shows a roadmap on its issue, and keeps which of its issues nobody works
// on.
type Table struct {
	Item   int64 // of the roadmap
	Action work.Action
	Idle   []roadmap.Neglected
	Next   time.Time // when it is made again, even if nothing changes; zero: never
	Words
}

// Apply is part of Change.
func (c Table) Apply(ctx context.Context, tx *Tx) error {
	a := c.Action
	a.PlannedAt = tx.Now
	if err := tx.RenewAction(ctx, a); err != nil {
		return err
	}
	if err := tx.SetIdle(ctx, c.Item, c.Idle); err != nil {
		return err
	}
	return tx.SetTableAt(ctx, c.Item, c.Next)
}
