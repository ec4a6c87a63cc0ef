package restore

import (
	"context"
	"time"

	"github.com/mergexo/gh-mergexo/internal/ahead"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// asked is how long what was asked beside git, or by ingest, stands for what is looked at
// before an agent is asked.
const asked = 10 * time.Second

// foresee asks about a start, while git makes its checkout, what is looked at before its
// agent is asked: where its branch begins, whether its name is free, how the issue reads.
func (p *Restorer) foresee(ctx context.Context, l *env.Lease) context.Context {
	ctx = l.Foresee(ctx, asked)
	l.Ahead.Learn(l.Repo.Asked)
	if !l.Turn.Kind.Start() || l.Turn.Request != nil {
		return ctx
	}
	repo := l.Repo.Row.Current
	ahead.Begin(ctx, func(ctx context.Context) { _, _, _ = l.Repo.GitHub.Issue(ctx, repo, l.Item.Number) })
	if l.Turn.Branch == "" || l.Turn.Head == "" {
		name := work.BranchName(l.Item.Flow, l.Item.Number, l.Item.Title, 0)
		ahead.Begin(ctx, func(ctx context.Context) { _, _ = l.Repo.GitHub.Repository(ctx, repo) })
		ahead.Begin(ctx, func(ctx context.Context) { _, _ = l.Repo.GitHub.PullsByHead(ctx, repo, name) })
	}
	return ctx
}
