package tick

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// retention is how long the database and the mirrors keep finished work. Keys of open items are
// kept while they are open.
const retention = 30 * 24 * time.Hour

// forgetEvery is how often finished work is searched for. The search reads everything, so not every
// pass does it.
const forgetEvery = 24 * time.Hour

// forgot is the name under which the database stores when that last happened.
const forgot = "forgot"

// pruneFinished deletes old finished work. Only passes that ran turns do so: an idle one writes
// only its heartbeat.
func (p *Pass) pruneFinished(ctx context.Context, worked int) {
	if worked == 0 || ctx.Err() != nil {
		return
	}
	now := p.Now()
	due, err := p.pruneDue(ctx, now)
	if err == nil && due {
		err = p.dropOldTurns(ctx, now.Add(-retention))
	}
	if err == nil && due {
		dropMerged(ctx, p.Env, now.Add(-retention))
		_, err = p.Store.Prune(ctx, now.Add(-retention))
	}
	if err == nil && due {
		err = errors.Join(p.turns.Restorer.DropAllHomes(ctx), p.turns.Restorer.DropSetups(ctx))
	}
	if err != nil {
		p.Log.WarnContext(ctx, "could not delete data of finished work", "error", err)
	}
}

// pruneDue reports whether it is time to forget, and stores that it was done.
func (p *Pass) pruneDue(ctx context.Context, now time.Time) (due bool, err error) {
	err = p.Store.Update(ctx, func(tx *store.Tx) error {
		v, known, err := tx.GetValidator(ctx, 0, forgot)
		if due = !known || now.Sub(v.SeenAt) >= forgetEvery; err != nil || !due {
			return err
		}
		return tx.PutValidator(ctx, work.Validator{URL: forgot, SeenAt: now})
	})
	return due, err
}

// dropBatch is how many turns are dropped from a mirror in one git call.
const dropBatch = 500

// dropOldTurns drops the commits and journals of turns that ended long ago. It runs before their
// rows are deleted, which name them.
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
				continue // no longer in the config
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

// dropMerged drops heads that were approved and merged long ago. A broken mirror does not stop
// other deletions.
func dropMerged(ctx context.Context, p *env.Env, before time.Time) {
	for _, r := range p.Repositories() {
		if err := r.Git().DropMerged(ctx, before); err != nil {
			p.Log.WarnContext(ctx, "could not delete heads of merged pull requests", "repo_full_name", r.Name.FullName(), "error", err)
		}
	}
}
