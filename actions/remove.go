package actions

import (
	"context"
	"fmt"
	"strconv"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// remove deletes a duplicate of our own comment. GitHub's 404 means that it is already deleted.
type remove struct{}

func (remove) find(context.Context, Scope, work.Action) (observation, bool, error) {
	return observation{}, false, nil
}

func (remove) do(ctx context.Context, s Scope, a work.Action) (observation, error) {
	id, err := strconv.ParseInt(a.Target, 10, 64)
	if err != nil {
		return observation{}, fmt.Errorf("read the target of a removal: %w", err)
	}
	if a.On == work.EventReview {
		err = s.GitHub.DeleteReviewComment(ctx, s.Repo.Current, id)
	} else {
		err = s.GitHub.DeleteComment(ctx, s.Repo.Current, id)
	}
	return observation{id: a.Target}, err
}
