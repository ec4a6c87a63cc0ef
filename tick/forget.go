package tick

import (
	"context"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// memory is how long the database and the mirrors remember what is over. Keys
// of open items are kept for as long as they are open.
const memory = 30 * 24 * time.Hour

// forgetEvery is how often what is over is looked for: the search goes through
// all that is remembered, and a pass shall not.
const forgetEvery = 24 * time.Hour

// forgot is the name under which the database keeps when that last was.
const forgot = "forgot"

// forget drops what is over for long. Only passes that worked do: an idle one
// writes its heartbeat and nothing else.
func (p *Pass) forget(ctx context.Context, worked int) {
	if worked == 0 || ctx.Err() != nil {
		return
	}
	now := p.Now()
	due, err := p.forgetting(ctx, now)
	if err == nil && due {
		err = p.dropOldTurns(ctx, now.Add(-memory))
	}
	if err == nil && due {
		dropMerged(ctx, p.Env, now.Add(-memory))
		_, err = p.Store.Prune(ctx, now.Add(-memory))
	}
	if err == nil && due {
		err = p.turns.Restorer.DropAllHomes(ctx)
	}
	if err != nil {
		p.Log.WarnContext(ctx, "could not forget what is over", "error", err)
	}
}

// forgetting reports whether it is time to forget, and notes that it is done.
func (p *Pass) forgetting(ctx context.Context, now time.Time) (due bool, err error) {
	err = p.Store.Update(ctx, func(tx *store.Tx) error {
		v, known, err := tx.GetValidator(ctx, 0, forgot)
		if due = !known || now.Sub(v.SeenAt) >= forgetEvery; err != nil || !due {
			return err
		}
		return tx.PutValidator(ctx, work.Validator{URL: forgot, SeenAt: now})
	})
	return due, err
}

// dropBatch is how many turns a mirror forgets in one git call.
const dropBatch = 500

// dropOldTurns drops the commits and journals of turns that are over for long,
// before their rows are: the rows say which they are.
func (p *Pass) dropOldTurns(ctx context.Context, before time.Time) error {
	var after int64
	for {
		var old []work.Turn
		err := p.Store.View(ctx, func(tx *store.Tx) (err error) {
			old, err = tx.ListOldTurns(ctx, before, after, dropBatch)
			return err
		})
		if err != nil {
			return err
		}
		keys := map[int64][]string{}
		for _, t := range old {
			keys[t.RepoID] = append(keys[t.RepoID], t.Key)
			after = t.ID
		}
		for id, some := range keys {
			r := p.RemoteByID(id)
			if r == nil {
				continue // not in the config any more
			}
			if err := r.Git().DropTurns(ctx, some...); err != nil {
				return fmt.Errorf("forget turns of %s: %w", r.Name.FullName(), err)
			}
		}
		if len(old) < dropBatch {
			return nil
		}
	}
}

// dropMerged drops the heads that were approved and merged long ago. A mirror that is
// broken keeps nothing else from being forgotten.
func dropMerged(ctx context.Context, p *env.Env, before time.Time) {
	for _, r := range p.Repositories() {
		if err := r.Git().DropMerged(ctx, before); err != nil {
			p.Log.WarnContext(ctx, "could not forget what was merged", "repo_full_name", r.Name.FullName(), "error", err)
		}
	}
}
