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

// ready marks a draft of ours as ready for review. Target is its node id, Head the commit that is green. One that was
// ready before, or that a person made a draft, is one because people want it to be, and stays one.
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
	case p.HeadOID != a.Head:
		return observation{}, false, &overError{why: "its head has moved", how: work.EndedGone}
	}
	events, err := s.GitHub.TimelineOf(ctx, s.Repo.Current, a.Number)
	if err == nil && slices.ContainsFunc(events, func(e github.TimelineEvent) bool {
		return e.Event == "ready_for_review" || e.Event == "convert_to_draft"
	}) {
		err = &overError{why: "it was ready for review before: a person made it a draft"}
	}
	return observation{}, false, err
}

func (ready) do(ctx context.Context, s Scope, a work.Action) (observation, error) {
	return observation{}, s.GitHub.MarkReady(ctx, a.Target)
}
