package snapshot

import (
	"context"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// Board reads a repository for people, with all its open items or, with ended, all items. It asks
// neither GitHub nor git, and counts the slots in use by unfinished turns.
func Board(ctx context.Context, tx *store.Tx, cfg *config.Config, repo work.Repo, today spending.Day, now time.Time, ended bool) (known.Snapshot, error) {
	settings, _ := cfg.Repo(repo.Name)
	p := New(&env.Env{Config: cfg, Now: func() time.Time { return now }, Day: today})
	r := &env.Repo{Remote: env.Remote{Name: repo.Name, Settings: settings}, Row: repo}
	w := open
	if ended {
		w = all
	}
	v, err := p.read(ctx, tx, r, w)
	if err != nil {
		return v, err
	}
	turns, err := tx.ListUnfinishedTurns(ctx)
	for _, t := range turns {
		if !t.Blocked && !t.Waits(now) {
			v.Free = max(0, v.Free-1)
		}
	}
	return v, err
}
