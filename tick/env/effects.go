package env

import "github.com/mergexo/gh-mergexo/actions"

// Scope is where the actions of a repository take place.
func (p *Env) Scope(r *Repo) actions.Scope {
	return actions.Scope{Repo: r.Row, GitHub: r.GitHub, Branches: r.Git(), Accounts: p.Accounts.Writers(r.Name.Host)}
}

// Effects applies actions.
func (p *Env) Effects() *actions.Runner {
	return &actions.Runner{Store: p.Store, Now: p.Now, Log: p.Log, SettleAfter: p.Config.Runtime.SettleAfter}
}
