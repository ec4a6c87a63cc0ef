package ingest

import (
	"context"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// A comment that begins with /mergexo is a command. It becomes an event of its own kind, on any
// issue or pull request, so that it is not feedback, gets no 👀 and no redirect, and never reaches
// an agent.

// intakeUntracked ingests commands from issues and pull requests that we do not work on. Other
// comments there are ignored.
func (h *reading) intakeUntracked(c candidate) {
	if c.event = work.AsCommand(c.event); c.event.Kind == work.EventCommand {
		c.pull = false
		h.add(c)
	}
}

// storeDeclined plans each answer to a declined person once, where it was first due: after the
// database is lost, a pass finds it there again.
func (h *reading) storeDeclined(ctx context.Context, tx *store.Tx, now time.Time) error {
	slices.SortStableFunc(h.declined, func(a, b work.Action) int { return a.Number - b.Number })
	for _, a := range h.declined {
		before, planned, err := tx.GetAction(ctx, a.Token)
		if err != nil {
			return err
		}
		a.PlannedAt = now
		switch {
		case a.Kind == work.ActionSticky:
			if err := tx.RenewAction(ctx, a); err != nil {
				return err
			}
			continue
		case planned && before.State != work.ActionVoid:
			continue
		}
		if _, err := tx.AddAction(ctx, a); err != nil {
			return err
		}
	}
	return nil
}
