package turn

import (
	"context"
	"strconv"

	"github.com/mergexo/gh-mergexo/actions"
	"github.com/mergexo/gh-mergexo/internal/ahead"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// What a turn looks at once its agent has answered, and before it sends anything, is asked
// at once. Nothing that was read before the agent worked is looked at again.

// Foresee asks, once an agent has answered, what Finalize asks, the first looks of Apply,
// and whether the repository is the one that it was. In the context that it gives the
// answers are found.
func (p *Turns) Foresee(ctx context.Context, l *env.Lease) context.Context {
	ctx = l.Foresee(ctx, actions.LookFor)
	foresight{p}.finalize(ctx, l)
	return ctx
}

// foresight asks in advance.
type foresight struct{ *Turns }

func (p foresight) finalize(ctx context.Context, l *env.Lease) {
	planned, err := p.TurnActions(ctx, l)
	if err != nil {
		return // Finalize says so
	}
	repo := l.Repo.Row.Current
	ahead.Begin(ctx, func(ctx context.Context) { _, _ = l.Repo.GitHub.Repository(ctx, repo) })
	p.Looks.Foresee(ctx, l)
	if l.Turn.Kind.Start() && p.Config.Runtime.EnableIssueCommentRouting {
		ahead.Begin(ctx, func(ctx context.Context) { p.reader.ForeseeComments(ctx, l) })
	}
	p.actions(ctx, l, planned)
}

// actions begins the looks for what is planned, among them where the branch stands that is
// pushed to, and for the word about a pull request that is to be opened.
func (p foresight) actions(ctx context.Context, l *env.Lease, planned []work.Action) {
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

// pull asks about the pull request that was opened.
func (p foresight) pull(ctx context.Context, l *env.Lease, opened work.Action) {
	number, err := strconv.Atoi(opened.ResultID)
	if err != nil {
		return // openedPull says so
	}
	ahead.Begin(ctx, func(ctx context.Context) { _, _, _ = l.Repo.GitHub.Pull(ctx, l.Repo.Row.Current, number) })
}
