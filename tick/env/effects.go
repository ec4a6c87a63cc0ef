package env

import (
	"context"
	"slices"

	"github.com/mergexo/gh-mergexo/actions"
)

// Scope is where the actions of a repository take place.
func (p *Env) Scope(r *Repo) actions.Scope {
	return actions.Scope{Repo: r.Row, GitHub: r.GitHub, Branches: r.Git(), Accounts: p.Accounts.Writers(r.Name.Host)}
}

// Effects applies actions.
func (p *Env) Effects() *actions.Runner {
	return &actions.Runner{
		Store: p.Store, Now: p.Now, Log: p.Log, SettleAfter: p.Config.Runtime.SettleAfter, May: func(ctx context.Context, repoID int64) error { return mayWrite(ctx, p, repoID) },
	}
}

// mayWrite makes sure of Keep for whatever is written, however long ago its pass asked: a
// machine that slept in between resumes where it was.
func mayWrite(ctx context.Context, p *Env, repoID int64) error {
	if p.Holds == nil {
		return nil
	}
	for _, r := range slices.Concat(p.All, p.Left) {
		if r.Row.ID == repoID {
			return p.Keep(ctx, r, Shortly)
		}
	}
	return nil
}
