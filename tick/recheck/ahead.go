package recheck

import (
	"context"
	"strconv"

	"github.com/mergexo/gh-mergexo/internal/ahead"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// beside is how many comments are asked about at a time.
const beside = 8

// Foresee asks in advance what LookAgain asks.
func (p *Looks) Foresee(ctx context.Context, l *env.Lease) {
	repo := l.Repo.Row.Current
	ahead.Begin(ctx, func(ctx context.Context) { _, _, _ = l.Repo.GitHub.Issue(ctx, repo, l.Item.Number) })
	if l.Turn.Kind.Start() {
		return
	}
	pull, err := p.ItemPull(ctx, l)
	if err != nil {
		return // LookAgain says so
	}
	ahead.Begin(ctx, func(ctx context.Context) { _, _, _ = l.Repo.GitHub.Details(ctx, []string{pull.NodeID}) })
	for _, e := range l.Events[:min(len(l.Events), beside)] {
		if id, err := strconv.ParseInt(e.Source, 10, 64); err == nil && e.Kind == work.EventIssue {
			ahead.Begin(ctx, func(ctx context.Context) { _, _, _ = l.Repo.GitHub.Comment(ctx, repo, id) })
		}
	}
}
