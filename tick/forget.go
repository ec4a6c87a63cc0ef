package tick

import (
	"context"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// memory is how long the database and the mirrors remember what is over. Keys
// of open items are kept for as long as they are open.
const memory = 30 * 24 * time.Hour

// forget drops what is over for long. Only passes that worked do: an idle one
// writes its heartbeat and nothing else.
func (p *Pass) forget(ctx context.Context, worked int) {
	if worked == 0 || ctx.Err() != nil {
		return
	}
	before := p.Now().Add(-memory)
	err := p.dropOldTurns(ctx, before)
	if err == nil {
		_, err = p.Store.Prune(ctx, before)
	}
	if err != nil {
		p.Log.WarnContext(ctx, "could not forget what is over", "error", err)
	}
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
			r := p.remoteByID(id)
			if r == nil {
				continue // not in the config any more
			}
			if err := r.mirror().DropTurns(ctx, some...); err != nil {
				return fmt.Errorf("forget turns of %s: %w", r.Name.FullName(), err)
			}
		}
		if len(old) < dropBatch {
			return nil
		}
	}
}
