package env

import (
	"context"
	"time"

	"github.com/mergexo/gh-mergexo/actions"
	"github.com/mergexo/gh-mergexo/internal/ahead"
)

// Scope is where the actions of a repository take place.
func (p *Env) Scope(r *Repo) actions.Scope {
	return actions.Scope{Repo: r.Row, GitHub: r.GitHub, Branches: branches{r.Git(), p.Now}, Accounts: p.Accounts.Writers(r.Name.Host)}
}

// branches are a repository's for its actions. What the remote says of them may have been
// asked in advance, as what GitHub says: a push names the head that it expects, so an answer
// that is older than that moves nothing.
type branches struct {
	actions.Branches
	now func() time.Time
}

// headsOf is what such an answer is found by.
type headsOf struct {
	of     actions.Branches
	prefix string
}

func (b branches) RemoteHeads(ctx context.Context, prefix string) (map[string]string, error) {
	return ahead.Do(ctx, headsOf{b.Branches, prefix}, b.now(), func(ctx context.Context) (map[string]string, error) {
		return b.Branches.RemoteHeads(ctx, prefix)
	})
}

// Effects applies actions.
func (p *Env) Effects() *actions.Runner {
	return &actions.Runner{
		Store: p.Store, Now: p.Now, Log: p.Log, SettleAfter: p.Config.Runtime.SettleAfter,
	}
}
