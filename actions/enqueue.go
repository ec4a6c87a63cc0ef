package actions

import (
	"context"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
)

// enqueue adds a pull request to its base's merge queue at the approved head. Target is its node
// id, Head the head, Base the base branch. The action ends when it is queued; it does not wait for
// the queue's result.
type enqueue struct{}

func (enqueue) find(ctx context.Context, s Scope, a work.Action) (observation, bool, error) {
	box, err := s.GitHub.Box(ctx, s.Repo.Current, merging.BoxOf{PullNodeID: a.Target, Number: a.Number})
	if err != nil {
		return observation{}, false, err
	}
	switch {
	case box.Head != a.Head:
		return observation{}, false, &overError{why: "the head moved to " + work.Short(box.Head)}
	case box.Queue.In:
		return observation{id: box.Queue.State}, true, nil
	case box.State == work.PullMerged && !a.SentAt.IsZero() && box.ByUs(s.Accounts):
		return observation{id: box.MergeCommit}, true, nil
	case box.State == work.PullMerged:
		return observation{}, false, &overError{why: "it was merged by " + box.MergedBy.Login}
	}
	commit, err := onBase(ctx, s, a)
	switch {
	case err != nil:
	case commit != "" && box.State == work.PullOpen:
		err = &HalfMergedError{Commit: commit, Branch: a.Base}
	case commit != "": // a person closed the pull request that GitHub had left open
		return observation{id: commit}, true, nil
	case box.State != work.PullOpen:
		err = &overError{why: "the pull request was closed"}
	}
	return observation{}, false, err
}

func (e enqueue) do(ctx context.Context, s Scope, a work.Action) (observation, error) {
	_, err := s.GitHub.Enqueue(ctx, a.Target, a.Head)
	return lookAfter(ctx, s, a, e, err)
}
