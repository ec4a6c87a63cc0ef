package actions

import (
	"context"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
)

// dequeue removes a pull request from its base's merge queue. Target is its node id, Head the head
// at which we queued it. If the queue removed it before we sent anything, that is not our effect.
type dequeue struct{}

func (dequeue) find(ctx context.Context, s Scope, a work.Action) (observation, bool, error) {
	box, err := s.GitHub.Box(ctx, s.Repo.Current, merging.BoxOf{PullNodeID: a.Target, Number: a.Number})
	switch {
	case err != nil:
		return observation{}, false, err
	case box.Head != a.Head:
		return observation{}, false, &overError{why: "the head moved to " + work.Short(box.Head)}
	case box.State != work.PullOpen:
		return observation{}, false, &overError{why: "the pull request was " + string(box.State)}
	case box.Queue.In:
		return observation{}, false, nil
	case a.Sends == 0:
		return observation{}, false, &overError{why: "it was not in the queue any more"}
	}
	return observation{}, true, nil
}

func (e dequeue) do(ctx context.Context, s Scope, a work.Action) (observation, error) {
	return lookAfter(ctx, s, a, e, s.GitHub.Dequeue(ctx, a.Target))
}
