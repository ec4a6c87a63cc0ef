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

	Public  string // what GitHub is told in the reason's place; empty: the reason
	Asked   string // key of the turn whose agent asks: what it asks is a stop of its own
	Told    string // token of the comment that says it to people already: no other is made
	Passing bool   // it stands there for no person: the next turn is planned at once
}

// stands reports whether the item waits for a person from now on.
func (m Move) stands() bool { return m.To.Stands() && !m.Passing }

// move carries out a move, and has GitHub show where the item stands now. It is
// store.ErrStale when the item is not in a state that the cause may move it from.
func (p *Pass) move(ctx context.Context, tx *store.Tx, m Move, now time.Time) error {
	from := work.ComeFrom(m.Cause, m.To)
	if len(from) == 0 {
		return fmt.Errorf("move item %d: nothing %s becomes %q", m.Item, m.Cause, m.To)
	}
	if err := tx.MoveItem(ctx, m.Item, from, m.To, m.Reason, m.Hint, now); err != nil {
		return err
	}
	return p.show(ctx, tx, m, now)
}
