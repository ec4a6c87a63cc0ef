package tell

import (
	"context"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/store"
)

// While an item is paused, its stop comment must not ask for an answer that nothing will read. It
// says that the item is paused, and returns to its text on resume. The stop's row names the
// comment. If the database is lost, the next stop makes a new comment.

// ShowTakeover updates the stop comment when a pause begins or ends.
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
		unheard, err := countSkipped(ctx, tx, stop.ItemID, began)
		if err != nil {
			return err
		}
		text = s.resumedText(stop, unheard)
	}
	said.Body, said.Base, said.PlannedAt, said.NotBefore = prompts.MarkBody(text, s.marks(stop)), "", now, time.Time{}
	return tx.RenewAction(ctx, said)
}

// countSkipped counts comments on an item that were skipped since a pause began.
func countSkipped(ctx context.Context, tx *store.Tx, item int64, since time.Time) (int, error) {
	events, err := tx.ListItemEvents(ctx, item)
	n := 0
	for _, e := range events {
		if e.Outcome == work.OutcomePaused && e.Kind.IsComment() && !work.StampOf(e).Before(since) {
			n++
		}
	}
	return n, err
}

// target returns where an item is shown.
func (p *Notices) target(ctx context.Context, tx *store.Tx, id int64, now time.Time) (Target, error) {
	item, err := tx.GetItem(ctx, id)
	if err != nil {
		return Target{}, err
	}
	s := Target{item: item, Remote: p.RemoteByID(item.RepoID), now: now, redact: p.Secrets.Redact}
	return s, p.locate(ctx, tx, &s)
}
