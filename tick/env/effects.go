package env

import (
	"context"
	"time"

	"github.com/mergexo/gh-mergexo/actions"
	"github.com/mergexo/gh-mergexo/internal/ahead"
)

// Scope returns where the actions of a repository are applied.
func (p *Env) Scope(r *Repo) actions.Scope {
	return actions.Scope{Repo: r.Row, GitHub: r.GitHub, Branches: branches{r.Git(), p.Now}, Accounts: p.Accounts.Writers(r.Name.Host)}
}

// branches serves the remote's heads to actions from prefetched reads. A stale answer is safe: a
// push names the head that it expects, so git refuses it.
type branches struct {
	actions.Branches
	now func() time.Time
}

// headsOf is the key of a prefetched answer.
type headsOf struct {
	of     actions.Branches
	prefix string
}

func (b branches) RemoteHeads(ctx context.Context, prefix string) (map[string]string, error) {
	return ahead.Do(ctx, headsOf{b.Branches, prefix}, b.now(), func(ctx context.Context) (map[string]string, error) {
		return b.Branches.RemoteHeads(ctx, prefix)
	})
}

// Effects returns the runner that applies actions.
func (p *Env) Effects() *actions.Runner {
	return &actions.Runner{
		Store: p.Store, Now: p.Now, Log: p.Log, SettleAfter: p.Config.Runtime.SettleAfter,
	}
}
