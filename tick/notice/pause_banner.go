package notice

import (
	"context"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/store"
)

// While people have an item, the comment that says why it is stopped must not
// ask them for an answer that nobody will see. It says so instead, and is what
// it was when they have resumed the item. Where the comment stands is known
// from the stop; with the database lost it is made again when the item stops again.

// ShowTakeover has the comment say who has the item now.
func (p *Notices) ShowTakeover(ctx context.Context, tx *store.Tx, h work.PauseBanner, now time.Time) error {
	stop, known, err := tx.FindStop(ctx, h.Stop.ItemID)
	if err != nil || !known {
		return err
	}
	began := stop.Taken
	stop.Taken = h.Pause.Began
	if err := tx.PutStop(ctx, stop); err != nil || !stop.Lasts() {
		return err
	}
	said, ok, err := tx.GetAction(ctx, stop.Token)
	if err != nil || !ok || said.Kind != work.ActionSticky {
		return err
	}
	s, err := p.target(ctx, tx, stop.ItemID, now)
	if err != nil {
		return err
	}
	text := s.pausedText(stop, h.Pause)
	if stop.Taken.IsZero() {
		unheard, err := countUnheard(ctx, tx, stop.ItemID, began)
		if err != nil {
			return err
		}
		text = s.resumedText(stop, unheard)
	}
	said.Body, said.Base, said.PlannedAt, said.NotBefore = prompts.MarkBody(text, s.marks(stop)), "", now, time.Time{}
	return tx.RenewAction(ctx, said)
}

// countUnheard counts what was said about an item since a pause began, and
// skipped.
func countUnheard(ctx context.Context, tx *store.Tx, item int64, since time.Time) (int, error) {
	events, err := tx.ListItemEvents(ctx, item)
	n := 0
	for _, e := range events {
		if e.Outcome == work.OutcomePaused && e.Kind.Said() && !work.StampOf(e).Before(since) {
			n++
		}
	}
	return n, err
}

// target is where an item is shown whose comment stands.
func (p *Notices) target(ctx context.Context, tx *store.Tx, id int64, now time.Time) (Target, error) {
	item, err := tx.GetItem(ctx, id)
	if err != nil {
		return Target{}, err
	}
	s := Target{item: item, Remote: p.RemoteByID(item.RepoID), now: now, redact: p.Secrets.Redact}
	return s, p.locate(ctx, tx, &s)
}
