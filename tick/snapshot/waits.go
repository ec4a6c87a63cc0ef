package snapshot

import (
	"context"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/plan"
)

// Waits says what holds the work of a repository back, in the words of a dry
// run, by the number of the pull request or, before there is one, of the issue.
// It plans with what the database knows: it asks neither GitHub nor git.
func Waits(ctx context.Context, tx *store.Tx, cfg *config.Config, repo work.Repo, today spending.Day, now time.Time) (map[int]string, error) {
	settings, ok := cfg.Repo(repo.Name)
	if !ok {
		return nil, nil
	}
	p := &Loader{&env.Env{Config: cfg, Now: func() time.Time { return now }, Day: today}}
	r := &env.Repo{Remote: env.Remote{Name: repo.Name, Settings: settings}, Row: repo}
	v, err := p.read(ctx, tx, r, asking)
	if err != nil {
		return nil, err
	}
	working, err := tx.ListUnfinishedTurns(ctx)
	if err != nil {
		return nil, err
	}
	working = slices.DeleteFunc(working, func(t work.Turn) bool { return t.Blocked || t.Waits(now) })
	v.Free = max(0, v.Free-len(working))
	waits := map[int]string{}
	for _, l := range plan.For(v).Lines {
		switch {
		case l.What != "wait":
		case waits[l.Number] == "":
			waits[l.Number] = l.Reason
		default:
			waits[l.Number] += "; " + l.Reason
		}
	}
	return waits, nil
}
