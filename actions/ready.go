package actions

import (
	"context"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// readiness is what ready needs from GitHub, beside the pull request and its timeline.
type readiness interface {
	MarkReady(ctx context.Context, pullNodeID string) error
}

// ready marks a draft of ours as ready for review. Target is its node id. One that was ready before is a draft
// because a person wants it to be, and stays one.
type ready struct{}

func (ready) find(ctx context.Context, s Scope, a work.Action) (observation, bool, error) {
	p, ok, err := s.GitHub.Pull(ctx, s.Repo.Current, a.Number)
	switch {
	case err != nil:
		return observation{}, false, err
	case !ok || p.State != work.PullOpen:
		return observation{}, false, &overError{why: "the pull request is not open any more", how: work.EndedGone}
	case !p.Draft:
		return observation{url: p.URL}, true, nil
	}
	events, err := s.GitHub.TimelineOf(ctx, s.Repo.Current, a.Number)
	if err == nil && slices.ContainsFunc(events, func(e github.TimelineEvent) bool { return e.Event == "ready_for_review" }) {
		err = &overError{why: "it was ready for review before: a person made it a draft again"}
	}
	return observation{}, false, err
}

func (ready) do(ctx context.Context, s Scope, a work.Action) (observation, error) {
	return observation{}, s.GitHub.MarkReady(ctx, a.Target)
}
