package tick

import (
	"context"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// Move is a change of an item's state, as the table of its life allows it
// (work.Transitions).
type Move struct {
	Item   int64
	Cause  work.Cause
	To     work.State
	Reason string
	Hint   string
}

// move carries out a move. It is store.ErrStale when the item is not in a state
// that the cause may move it from.
func move(ctx context.Context, tx *store.Tx, m Move, now time.Time) error {
	from := work.ComeFrom(m.Cause, m.To)
	if len(from) == 0 {
		return fmt.Errorf("move item %d: nothing %s becomes %q", m.Item, m.Cause, m.To)
	}
	return tx.MoveItem(ctx, m.Item, from, m.To, m.Reason, m.Hint, now)
}
