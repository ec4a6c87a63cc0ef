package notice

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/store"
)

// Move carries out a move, and has GitHub show where the item stands now. It is
// store.ErrStale when the item is not in a state that the cause may move it from.
func (p *Notices) Move(ctx context.Context, tx *store.Tx, m work.Move, now time.Time) error {
	from := work.ComeFrom(m.Cause, m.To)
	if len(from) == 0 {
		return fmt.Errorf("move item %d: nothing %s becomes %q", m.Item, m.Cause, m.To)
	}
	says := explain.Reason(m.Reason, explain.Place{Comments: true, Spending: true}).Here()
	if err := tx.MoveItem(ctx, m.Item, from, m.To, m.Reason, says, now); err != nil {
		return err
	}
	return p.Show(ctx, tx, m, now)
}

// MovedOrGone takes a lost compare-and-set for what it is here: somebody
// merged or closed the item in between, and that stands.
func MovedOrGone(err error) error {
	if errors.Is(err, store.ErrStale) {
		return nil
	}
	return err
}
