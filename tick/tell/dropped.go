package tell

import (
	"context"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// State labels and stop comments are planned by an item's moves. After the last move nothing plans
// them again, so those that GitHub refused are kept and tried again later.

// showAfter is the first wait before a dropped one is tried again, and showTries the number of
// tries: about a day and a half in all.
const (
	showAfter = time.Minute
	showTries = 40
)

// showsState reports whether an action shows an item's state.
func showsState(a work.Action) bool {
	return a.Kind == work.ActionLabels || a.Kind == work.ActionSticky || a.Kind == work.ActionStatus
}

// deferDropped schedules a dropped action for another try.
func (p *Notices) deferDropped(ctx context.Context, a work.Action) error {
	now := p.Now()
	return p.Store.Update(context.WithoutCancel(ctx), func(tx *store.Tx) error {
		return tx.DeferDropped(ctx, a.ID, func(dropped int) time.Time {
			if dropped > showTries {
				return time.Time{}
			}
			return now.Add(work.Backoff(showAfter, dropped))
		})
	})
}

// Waiting reports whether a repository has notices to send; true if that cannot be read.
func (p *Notices) Waiting(ctx context.Context, r *env.Repo) bool {
	if !r.Ready {
		return false
	}
	due, err := p.DueNotices(ctx, r)
	if err != nil || len(due) > 0 {
		return true
	}
	ids, err := p.droppedDue(ctx, r)
	return err != nil || len(ids) > 0
}

// droppedDue returns the ids of dropped actions that are due again.
func (p *Notices) droppedDue(ctx context.Context, r *env.Repo) (ids []int64, err error) {
	err = p.Store.View(ctx, func(tx *store.Tx) error {
		ids, err = tx.ListDroppedDue(ctx, r.Row.ID, p.Now())
		return err
	})
	return ids, err
}

// replanDropped plans them again.
func (p *Notices) replanDropped(ctx context.Context, r *env.Repo) error {
	ids, err := p.droppedDue(ctx, r)
	if err != nil || len(ids) == 0 {
		return err
	}
	return p.Store.Update(ctx, func(tx *store.Tx) error {
		for _, id := range ids {
			if err := tx.ReplanDropped(ctx, id); err != nil {
				return err
			}
		}
		return nil
	})
}
