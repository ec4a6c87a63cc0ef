package tell

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/store"
)

// Move moves an item and plans what GitHub shows of its new state. It returns store.ErrStale if the
// cause may not move the item from its current state.
func (p *Notices) Move(ctx context.Context, tx *store.Tx, m work.Move, now time.Time) error {
	from := work.StatesBefore(m.Cause, m.To)
	if len(from) == 0 {
		return fmt.Errorf("move item %d: nothing %s becomes %q", m.Item, m.Cause, m.To)
	}
	says := explain.Reason(m.Reason, explain.Place{Comments: true, Spending: true}).Here()
	if err := tx.MoveItem(ctx, m.Item, from, m.To, m.Reason, says, now); err != nil {
		return err
	}
	return p.Show(ctx, tx, m, now)
}

// MovedOrGone ignores store.ErrStale: somebody merged or closed the item meanwhile, and that state
// is final for the caller.
func MovedOrGone(err error) error {
	if errors.Is(err, store.ErrStale) {
		return nil
	}
	return err
}
