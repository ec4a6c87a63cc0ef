package env

import (
	"context"
	"errors"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// GitHub's REST API refuses to name the account of an app's installation token. GraphQL may name
// it; otherwise the author of the first thing we write is our account.

// ReadOwnAccount asks GraphQL for our account. Without an answer the pass continues: writing with
// our marker is not read as feedback while our account is unknown.
func (p *Env) ReadOwnAccount(ctx context.Context, r *Repo) error {
	s, err := r.GitHub.Sweep(ctx, r.Row.Current, nil)
	_, silent := errors.AsType[*transport.BodyError](err)
	if silent || github.IsStatus(err, 403) {
		if len(p.Accounts.Operators(r.Name.Host)) == 0 {
			p.Log.WarnContext(ctx, "GitHub does not report the account of the token; the first write of the pass shows it", "host", r.Name.Host, "repo_full_name", r.Name.FullName())
		}
		return nil
	}
	if err != nil {
		return err
	}
	return p.AcceptAccount(ctx, r.Name.Host, s.Viewer)
}

// learner records the account with which we write while it is unknown.
type learner struct {
	GitHub
	wrote func(context.Context, work.Account)
}

// learning wraps a repository's GitHub in a learner.
func (p *Env) learning(r Remote) GitHub {
	host := r.Name.Host
	return learner{r.GitHub, func(ctx context.Context, who work.Account) {
		if who.ID == 0 || len(p.Accounts.Operators(host)) > 0 {
			return
		}
		if err := p.AcceptAccount(context.WithoutCancel(ctx), host, who); err != nil {
			p.Log.WarnContext(ctx, "could not record our account", "host", host, "error", err)
		}
	}}
}

func (l learner) CreateComment(ctx context.Context, repo work.RepoName, number int, body string) (github.Comment, error) {
	c, err := l.GitHub.CreateComment(ctx, repo, number, body)
	if err == nil {
		l.wrote(ctx, c.Author)
	}
	return c, err
}

func (l learner) Reply(ctx context.Context, repo work.RepoName, pull int, to int64, body string) (github.ReviewComment, error) {
	c, err := l.GitHub.Reply(ctx, repo, pull, to, body)
	if err == nil {
		l.wrote(ctx, c.Author)
	}
	return c, err
}

func (l learner) CreatePull(ctx context.Context, repo work.RepoName, pull github.NewPull) (github.Pull, error) {
	p, err := l.GitHub.CreatePull(ctx, repo, pull)
	if err == nil {
		l.wrote(ctx, p.Author)
	}
	return p, err
}
