package actions

import (
	"context"
	"fmt"
	"strconv"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// reaction adds eyes to a comment as soon as it is routed. GitHub keeps one reaction of a kind per
// account (200 if it existed, 201 if new), so there is nothing to look for.
type reaction struct{}

// eyes shows that a comment was read and will be worked on.
const eyes = "eyes"

func (reaction) find(context.Context, Scope, work.Action) (observation, bool, error) {
	return observation{}, false, nil
}

func (reaction) do(ctx context.Context, s Scope, a work.Action) (observation, error) {
	id, err := strconv.ParseInt(a.Target, 10, 64)
	if err != nil {
		return observation{}, fmt.Errorf("read the target of a reaction: %w", err)
	}
	on := github.ReactComment
	if a.On == work.EventReview {
		on = github.ReactReviewComment
	}
	return observation{id: a.Target}, s.GitHub.React(ctx, s.Repo.Current, on, id, eyes)
}
