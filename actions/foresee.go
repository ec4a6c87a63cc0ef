package actions

import (
	"context"
	"time"

	"github.com/mergexo/gh-mergexo/internal/ahead"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// LookFor is how long a look that was begun in advance stands for the one right before a
// send: as long as a few sends take.
const LookFor = 3 * time.Second

// Foresee begins the looks for actions that are about to be applied, so that they are on
// their way together, and one listing serves all that would read it.
//
// A look that is shared is as good as one for each. It finds what an earlier send brought
// about, and of a row that was never sent that can only be a send of a pass whose database
// is gone: it died before this pass began, or GitHub would have had to hold its request for
// longer than any look waits. Sends of other rows in between change nothing, for each is
// found by its own token. A row that was sent is looked for by itself, right before it is
// sent again: see find. And whatever arrives later is a copy that is removed.
func Foresee(ctx context.Context, s Scope, planned ...work.Action) {
	for _, a := range planned {
		if a.State.Settled() || a.Sends > 0 || !listed(a.Kind) {
			continue
		}
		e, err := effectOf(a.Kind)
		if err != nil {
			continue
		}
		ahead.Begin(ctx, func(ctx context.Context) { _, _, _ = e.find(ctx, s, a) })
	}
}

// listed reports whether the look for an action is a listing on GitHub. That of the labels
// which show where an item stands is as good in advance as any: whoever sends them sends
// all of the repository's, and nobody else does at the time.
func listed(kind work.ActionKind) bool {
	switch kind { //nolint:exhaustive // the rest is not
	case work.ActionReply, work.ActionComment, work.ActionPullRequest, work.ActionSticky, work.ActionLabels:
		return true
	}
	return false
}
