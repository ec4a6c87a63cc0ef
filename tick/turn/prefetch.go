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

// GitHub reads between the agent's answer and the first send are started at once. Answers read
// before the agent worked are not reused.

// Prefetch starts the reads of Finalize, the first looks of Apply, and the check that the
// repository is the same. The returned context finds their answers.
func (p *Turns) Prefetch(ctx context.Context, l *env.Lease) context.Context {
	ctx = l.NewPrefetch(ctx, actions.PrefetchMaxAge)
	p.prefetchFinalize(ctx, l)
	return ctx
}

func (p *Turns) prefetchFinalize(ctx context.Context, l *env.Lease) {
	planned, err := p.TurnActions(ctx, l)
	if err != nil {
		return // Finalize reports it
	}
	repo := l.Repo.Row.Current
	ahead.Begin(ctx, func(ctx context.Context) { _, _ = l.Repo.GitHub.Repository(ctx, repo) })
	p.LastLook.prefetch(ctx, l)
	if l.Turn.Kind.Start() && p.Config.Runtime.EnableIssueCommentRouting {
		ahead.Begin(ctx, func(ctx context.Context) { p.reader.PrefetchComments(ctx, l) })
	}
	p.prefetchActions(ctx, l, planned)
}

// prefetchActions starts the looks for planned actions, the read of the branch head for a push, and
// the look for the announcement of a pull request.
func (p *Turns) prefetchActions(ctx context.Context, l *env.Lease, planned []work.Action) {
	for _, a := range planned {
		if env.SpeaksFor(a) != "" {
			continue
		}
		if a.Kind == work.ActionPush && !a.State.Settled() && a.Sends == 0 {
			ahead.Begin(ctx, func(ctx context.Context) { _, _ = p.Scope(l.Repo).Branches.RemoteHeads(ctx, a.Target) })
		}
		actions.Prefetch(ctx, p.Scope(l.Repo), a)
		if a.Kind == work.ActionPullRequest {
			actions.Prefetch(ctx, p.Scope(l.Repo), announcement(l, a))
		}
	}
}

// prefetchPull starts the read of the pull request that was opened.
func (p *Turns) prefetchPull(ctx context.Context, l *env.Lease, opened work.Action) {
	number, err := strconv.Atoi(opened.ResultID)
	if err != nil {
		return // openedPull reports it
	}
	ahead.Begin(ctx, func(ctx context.Context) { _, _, _ = l.Repo.GitHub.Pull(ctx, l.Repo.Row.Current, number) })
}

// beside is how many comments are prefetched.
const beside = 8

// prefetch starts the reads of Recheck.
func (p *lastLook) prefetch(ctx context.Context, l *env.Lease) {
	repo := l.Repo.Row.Current
	ahead.Begin(ctx, func(ctx context.Context) { _, _, _ = l.Repo.GitHub.Issue(ctx, repo, l.Item.Number) })
	if l.Turn.Kind.Start() {
		return
	}
	pull, err := p.ItemPull(ctx, l)
	if err != nil {
		return // Recheck reports it
	}
	ahead.Begin(ctx, func(ctx context.Context) { _, _, _ = l.Repo.GitHub.Details(ctx, []string{pull.NodeID}) })
	for _, e := range l.Events[:min(len(l.Events), beside)] {
		if id, err := strconv.ParseInt(e.Source, 10, 64); err == nil && e.Kind == work.EventIssue {
			ahead.Begin(ctx, func(ctx context.Context) { _, _, _ = l.Repo.GitHub.Comment(ctx, repo, id) })
		}
	}
}

// asked is how long answers prefetched during git work or by ingest are valid for checks before an
// agent runs.
const asked = 10 * time.Second

// prefetch starts, while git makes a start turn's checkout, the reads needed before its agent runs:
// default branch, whether the branch name is free, and the issue.
func (p *restorer) prefetch(ctx context.Context, l *env.Lease) context.Context {
	ctx = l.NewPrefetch(ctx, asked)
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
