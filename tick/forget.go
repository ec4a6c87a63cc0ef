package tick

import (
	"context"
	"errors"
	"slices"
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
		_, err = p.Store.Prune(ctx, now.Add(-retention))
	}
	if err == nil && due {
		dropOldTurns(ctx, p.Env, now.Add(-retention))
		dropMerged(ctx, p.Env, now.Add(-retention))
		err = errors.Join(p.turns.Restorer.DropAllHomes(ctx), p.turns.Restorer.DropSetups(ctx))
	}
	if err != nil {
		p.Log.WarnContext(ctx, "could not delete data of finished work", "error", err)
	}
}

// pruneDue reports whether it is time for this machine to forget, and stores that it was done. Each
// machine has mirrors of its own.
func (p *Pass) pruneDue(ctx context.Context, now time.Time) (due bool, err error) {
	name := forgot + " " + p.Machine.Name
	err = p.Store.UpdateIfNeeded(ctx, func(tx *store.Tx) error {
		v, known, err := tx.GetValidator(ctx, 0, name)
		if due = !known || now.Sub(v.SeenAt) >= forgetEvery; err != nil || !due {
			return err
		}
		return tx.PutValidator(ctx, work.Validator{URL: name, SeenAt: now})
	})
	return due, err
}

// dropBatch is how many turns are dropped from a mirror in one git call.
const dropBatch = 500

// dropOldTurns drops from this machine's mirrors the refs of turns that began before a time and that
// the database does not have any more. A broken mirror does not stop other deletions.
func dropOldTurns(ctx context.Context, p *env.Env, before time.Time) {
	for _, r := range p.All {
		if r.Row.HeartbeatAt.IsZero() {
			continue // the database may be new, and find turns again by these refs
		}
		if err := dropOldTurnsOf(ctx, p, r, before); err != nil {
			p.Log.WarnContext(ctx, "could not delete the refs of old turns", "repo_full_name", r.Name.FullName(), "error", err)
		}
	}
}

func dropOldTurnsOf(ctx context.Context, p *env.Env, r *env.Repo, before time.Time) error {
	kept, err := r.Git().KeptTurns(ctx)
	if err != nil || len(kept) == 0 {
		return err
	}
	known, err := store.Read(ctx, p.Store, func(tx *store.Tx) ([]string, error) { return tx.ListTurnKeys(ctx, r.Row.ID) })
	if err != nil {
		return err
	}
	var old []string
	for _, t := range kept {
		if _, is := slices.BinarySearch(known, t.Key); is {
			continue
		}
		if t.At.Before(before) {
			old = append(old, t.Key)
		}
	}
	for some := range slices.Chunk(old, dropBatch) {
		if err := r.Git().DropTurns(ctx, some...); err != nil {
			return err
		}
	}
	return nil
}

// dropMerged drops heads that were approved and merged long ago. A broken mirror does not stop
// other deletions.
func dropMerged(ctx context.Context, p *env.Env, before time.Time) {
	for _, r := range p.All {
		if err := r.Git().DropMerged(ctx, before); err != nil {
			p.Log.WarnContext(ctx, "could not delete heads of merged pull requests", "repo_full_name", r.Name.FullName(), "error", err)
		}
	}
}
