package snapshot

import (
	"context"
	"maps"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// notices reads the states of the notices planned about the item's events.
func (r *reading) notices(ctx context.Context, i *known.Item) error {
	var tokens []string
	for _, e := range i.Events {
		switch e.Kind { //nolint:exhaustive // of the others nothing is planned by a token of theirs
		case work.EventCommand:
			tokens = append(tokens, work.NoticeToken(r.repo.Key(), e.Number, e.Key))
		case work.EventHead:
			tokens = append(tokens, work.FaultsToken(r.repo.Key(), e.Number))
		case work.EventSource:
			tokens = append(tokens, work.RedirectToken(r.repo.Key(), e.Number, e.Source))
		}
	}
	if i.Pull.Beside.Holds() {
		tokens = append(tokens, work.BesideToken(r.repo.Key(), i.Pull.Number))
	}
	var err error
	i.Notices, err = r.tx.ListStates(ctx, tokens)
	return err
}

// untilGreen reads whether the item's pull request is a draft that is marked as ready once it is green: ours, in a
// repository that wants such drafts, and not seen as ready before. It is read again after it was marked.
func (r *reading) untilGreen(ctx context.Context, i *known.Item) error {
	if !i.HasPull() || !i.Pull.Draft || i.Pull.State != work.PullOpen || i.Flow == work.FlowReview || r.settings.Draft != config.UntilGreen {
		return nil
	}
	a, planned, err := r.tx.GetAction(ctx, work.ReadyToken(r.repo.Key(), i.Pull.Number, i.Pull.HeadOID))
	if planned {
		i.Notices[a.Token] = a.State
	}
	if !a.State.Settled() || a.State == work.ActionApplied && !i.Pull.DetailsAt.After(a.SeenAt) {
		i.UntilGreen = review.UntilGreen(i.Pull, r.now)
	}
	return err
}

// loadReactions loads which of the comments that may get 👀 have it already.
func (r *reading) loadReactions(ctx context.Context, items []known.Item) error {
	of := map[string]int{}
	for n, i := range items {
		gets := i.Seen()
		for _, e := range i.Events {
			if gets[e.Key] {
				of[work.ReactionToken(r.repo.Key(), e.Kind, e.Source)] = n
			}
		}
	}
	states, err := r.tx.ListStates(ctx, slices.Sorted(maps.Keys(of)))
	for token, state := range states {
		items[of[token]].Notices[token] = state
	}
	return err
}

// closings reads the actions that close the item's pull request for commands.
func (r *reading) closings(ctx context.Context, i *known.Item) error {
	i.Closings = map[int64]work.Action{}
	for _, e := range i.Events {
		if e.Kind != work.EventCommand || !i.HasPull() {
			continue
		}
		a, ok, err := r.tx.GetAction(ctx, work.CloseToken(r.repo.Key(), i.Pull.Number, e.Key))
		if err != nil {
			return err
		}
		if ok {
			i.Closings[e.ID] = a
		}
	}
	return nil
}

// needsPast reports whether the plan may depend on finished events: a command is pending, or
// another comment that would be redirected to the pull request.
func needsPast(i known.Item) bool {
	return slices.ContainsFunc(i.Events, func(e work.Event) bool {
		return e.Kind == work.EventCommand || e.Kind == work.EventSource && i.HasPull()
	})
}

// restarted reads whether a command has set a label to start over.
func (r *reading) restarted(ctx context.Context, i *known.Item) error {
	begun, _, err := r.tx.GetAction(ctx, work.FlowToken(r.repo.Key(), i.Number))
	i.Restarted = i.RestartedBy(begun, r.repo.HeartbeatAt)
	return err
}

// past reads the outcomes of the item's earlier events, and what else is on its issue: open pull requests, and the item
// that followed it.
func (r *reading) past(ctx context.Context, i *known.Item) error {
	events, err := r.tx.ListItemEvents(ctx, i.ID)
	if err != nil {
		return err
	}
	if i.Open, err = r.tx.ListOpenPullsOf(ctx, r.repo.ID, i.Number); err != nil {
		return err
	}
	if err := r.restarted(ctx, i); err != nil {
		return err
	}
	i.Pointed, i.Shelved = nil, nil
	for _, e := range events {
		switch {
		case e.Outcome == work.OutcomeRedirected:
			i.Pointed = append(i.Pointed, e)
		case e.Outcome == work.OutcomeShelved && e.Source == i.Pull.HeadOID:
			i.Shelved = append(i.Shelved, e.Key)
		}
	}
	newest, ok, err := r.tx.FindItem(ctx, r.repo.ID, i.Number)
	i.Newer = ok && newest.ID != i.ID && newest.State.Open()
	if err != nil || !ok || newest.ID == i.ID || newest.Parent != i.ID {
		return err
	}
	i.Followed = &known.Followed{State: newest.State}
	i.Followed.Pull, _, err = r.tx.FindPullOfItem(ctx, newest.ID)
	return err
}
