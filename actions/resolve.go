package actions

import (
	"context"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// resolve resolves a review thread. Target is the thread's node id. Resolving twice has the effect
// of once, so there is nothing to look for.
type resolve struct{}

func (resolve) find(context.Context, Scope, work.Action) (observation, bool, error) {
	return observation{}, false, nil
}

func (resolve) do(ctx context.Context, s Scope, a work.Action) (observation, error) {
	return observation{id: a.Target}, s.GitHub.ResolveThread(ctx, a.Target)
}
