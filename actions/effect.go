package actions

import (
	"context"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// observation is an effect seen on GitHub.
type observation struct {
	id    string
	url   string
	extra []int64 // ids of duplicates of our own comment
}

// effect is one kind of action. Each applied action has its own value: do may use what find
// learned, because find always runs before do.
type effect interface {
	// find looks for the effect of a.
	find(ctx context.Context, s Scope, a work.Action) (observation, bool, error)
	// do sends a. Without an error, GitHub has answered with the effect.
	do(ctx context.Context, s Scope, a work.Action) (observation, error)
}

func effectOf(kind work.ActionKind) (effect, error) {
	switch kind {
	case work.ActionPush:
		return push{}, nil
	case work.ActionPullRequest:
		return pullRequest{}, nil
	case work.ActionReply:
		return reply{}, nil
	case work.ActionComment:
		return comment{}, nil
	case work.ActionResolve:
		return resolve{}, nil
	case work.ActionReaction:
		return reaction{}, nil
	case work.ActionRemove:
		return remove{}, nil
	case work.ActionIssue:
		return issue{}, nil
	case work.ActionRerun:
		return rerun{}, nil
	case work.ActionLabels:
		return &labels{}, nil
	case work.ActionRepoLabels:
		return &repoLabels{}, nil
	case work.ActionSticky:
		return &sticky{}, nil
	case work.ActionFlow:
		return &flow{}, nil
	case work.ActionClose:
		return closing{}, nil
	case work.ActionReady:
		return ready{}, nil
	case work.ActionChild:
		return &child{}, nil
	case work.ActionBlock:
		return &block{}, nil
	case work.ActionEditPull:
		return &editPull{}, nil
	case work.ActionEditIssue:
		return &editIssue{}, nil
	case work.ActionCloseIssue:
		return closeIssue{}, nil
	case work.ActionReview:
		return posting{}, nil
	case work.ActionStatus:
		return status{}, nil
	case work.ActionDismiss:
		return &dismissal{}, nil
	case work.ActionReviewRequest:
		return request{}, nil
	case work.ActionMerge:
		return merge{}, nil
	case work.ActionEnqueue:
		return enqueue{}, nil
	case work.ActionDequeue:
		return dequeue{}, nil
	case work.ActionUpdateBranch:
		return updateBranch{}, nil
	}
	return nil, fmt.Errorf("no such kind of action: %q", kind)
}
