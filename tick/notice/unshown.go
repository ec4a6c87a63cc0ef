package notice

import (
	"context"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// What shows where an item stands, its labels and the comment about a stop, is made by
// the item's moves. After the last one nothing would make it again: what GitHub refused
// is kept, and tried again later.

// How long it is waited first before something is shown again, and how often it is
// tried: for a day and a half or so.
const (
	showAfter = time.Minute
	showTries = 40
)

// showsState reports whether an action shows where an item stands.
func showsState(a work.Action) bool {
	return a.Kind == work.ActionLabels || a.Kind == work.ActionSticky || a.Kind == work.ActionStatus
}

// showLater has an action tried again that was given up.
func (p *Notices) showLater(ctx context.Context, a work.Action) error {
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

// Waiting reports whether there is anything to send of a repository; also where that cannot be
// found out.
func (p *Notices) Waiting(ctx context.Context, r *env.Repo) bool {
	if !r.Ready {
		return false
	}
	due, err := p.DueNotices(ctx, r)
	if err != nil || len(due) > 0 {
		return true
	}
	ids, err := p.unshown(ctx, r)
	return err != nil || len(ids) > 0
}

// unshown are those that were not shown and whose time has come.
func (p *Notices) unshown(ctx context.Context, r *env.Repo) (ids []int64, err error) {
	err = p.Store.View(ctx, func(tx *store.Tx) error {
		ids, err = tx.ListDroppedDue(ctx, r.Row.ID, p.Now())
		return err
	})
	return ids, err
}

// showAgain plans again what was not shown and whose time has come.
func (p *Notices) showAgain(ctx context.Context, r *env.Repo) error {
	ids, err := p.unshown(ctx, r)
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
