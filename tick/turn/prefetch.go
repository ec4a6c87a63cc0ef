package turn

import (
	"context"
	"strconv"
	"time"

	"github.com/mergexo/gh-mergexo/actions"
	"github.com/mergexo/gh-mergexo/internal/ahead"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// What a turn looks at once its agent has answered, and before it sends anything, is asked
// at once. Nothing that was read before the agent worked is looked at again.

// Prefetch asks, once an agent has answered, what Finalize asks, the first looks of Apply,
// and whether the repository is the one that it was. In the context that it gives the
// answers are found.
func (p *Turns) Prefetch(ctx context.Context, l *env.Lease) context.Context {
	ctx = l.Foresee(ctx, actions.LookFor)
	p.prefetchFinalize(ctx, l)
	return ctx
}

func (p *Turns) prefetchFinalize(ctx context.Context, l *env.Lease) {
	planned, err := p.TurnActions(ctx, l)
	if err != nil {
		return // Finalize says so
	}
	repo := l.Repo.Row.Current
	ahead.Begin(ctx, func(ctx context.Context) { _, _ = l.Repo.GitHub.Repository(ctx, repo) })
	p.LastLook.Prefetch(ctx, l)
	if l.Turn.Kind.Start() && p.Config.Runtime.EnableIssueCommentRouting {
		ahead.Begin(ctx, func(ctx context.Context) { p.reader.ForeseeComments(ctx, l) })
	}
	p.prefetchActions(ctx, l, planned)
}

// prefetchActions begins the looks for what is planned, among them where the branch stands that is
// pushed to, and for the word about a pull request that is to be opened.
func (p *Turns) prefetchActions(ctx context.Context, l *env.Lease, planned []work.Action) {
	for _, a := range planned {
		if env.SpeaksFor(a) != "" {
			continue
		}
		if a.Kind == work.ActionPush && !a.State.Settled() && a.Sends == 0 {
			ahead.Begin(ctx, func(ctx context.Context) { _, _ = p.Scope(l.Repo).Branches.RemoteHeads(ctx, a.Target) })
		}
		actions.Foresee(ctx, p.Scope(l.Repo), a)
		if a.Kind == work.ActionPullRequest {
			actions.Foresee(ctx, p.Scope(l.Repo), announcement(l, a))
		}
	}
}

// prefetchPull asks about the pull request that was opened.
func (p *Turns) prefetchPull(ctx context.Context, l *env.Lease, opened work.Action) {
	number, err := strconv.Atoi(opened.ResultID)
	if err != nil {
		return // openedPull says so
	}
	ahead.Begin(ctx, func(ctx context.Context) { _, _, _ = l.Repo.GitHub.Pull(ctx, l.Repo.Row.Current, number) })
}

// beside is how many comments are asked about at a time.
const beside = 8

// Prefetch asks in advance what LookAgain asks.
func (p *lastLook) Prefetch(ctx context.Context, l *env.Lease) {
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

// asked is how long what was asked beside git, or by ingest, stands for what is looked at
// before an agent is asked.
const asked = 10 * time.Second

// prefetch asks about a start, while git makes its checkout, what is looked at before its
// agent is asked: where its branch begins, whether its name is free, how the issue reads.
func (p *restorer) prefetch(ctx context.Context, l *env.Lease) context.Context {
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
