package actions

import (
	"context"
	"time"

	"github.com/mergexo/gh-mergexo/internal/ahead"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// PrefetchMaxAge is how long a prefetched look may replace the look right before a send. A few
// sends take this long.
const PrefetchMaxAge = 3 * time.Second

// Prefetch starts the looks for actions that are about to be applied, so that they run at the same
// time and share a listing.
//
// A shared look is as good as separate ones. It finds the effects of earlier sends. A row that was
// never sent can only be on GitHub if a pass sent it whose database was lost. That pass died before
// this one began, and GitHub does not hold a request longer than any look waits. Sends of other
// rows in between change nothing, because each is found by its own token. For a row that was sent,
// find searches GitHub right before the row is sent again. A copy that appears even later is
// removed.
func Prefetch(ctx context.Context, s Scope, planned ...work.Action) {
	for _, a := range planned {
		if a.State.Settled() || a.Sends > 0 || !isListing(a.Kind) {
			continue
		}
		e, err := effectOf(a.Kind)
		if err != nil {
			continue
		}
		ahead.Begin(ctx, func(ctx context.Context) { _, _, _ = e.find(ctx, s, a) })
	}
}

// isListing reports whether the look for an action is a listing on GitHub. The look for status
// labels may be prefetched too: the pass that sends them sends all of the repository's, and no
// other pass sends any at that time.
func isListing(kind work.ActionKind) bool {
	switch kind { //nolint:exhaustive // the rest is not
	case work.ActionReply, work.ActionComment, work.ActionPullRequest, work.ActionSticky, work.ActionLabels:
		return true
	}
	return false
}
