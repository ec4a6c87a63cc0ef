package actions

import (
	"context"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// GitHub accepts at most 80 content-creating requests a minute and 500 an hour from an account (its
// secondary limits, which include the web interface). We leave some for the person who shares the
// account.
const (
	sendsPerMinute = 60
	sendsPerHour   = 400
)

// pace refuses a send that would come too close to GitHub's content limits. It counts the stored
// rows, so the counts cover all passes.
func pace(ctx context.Context, tx *store.Tx, kind work.ActionKind, now time.Time) error {
	if !createsContent(kind) {
		return nil
	}
	for _, limit := range []struct {
		window time.Duration
		most   int
	}{{time.Minute, sendsPerMinute}, {time.Hour, sendsPerHour}} {
		n, err := tx.CountSends(ctx, now.Add(-limit.window))
		if err != nil {
			return err
		}
		if n >= limit.most {
			return &work.WaitError{
				Until:  now.Add(limit.window / 2),
				Reason: work.Reason{Kind: work.WhyPace, Count: n, Text: limit.window.String()},
			}
		}
	}
	return nil
}

func createsContent(kind work.ActionKind) bool {
	switch kind {
	case work.ActionReply, work.ActionComment, work.ActionPullRequest, work.ActionIssue, work.ActionSticky, work.ActionReview,
		work.ActionChild, work.ActionEditIssue, work.ActionEditPull:
		return true
	case work.ActionPush, work.ActionResolve, work.ActionReaction, work.ActionRemove, work.ActionRerun, work.ActionLabels, work.ActionRepoLabels,
		work.ActionFlow, work.ActionClose, work.ActionBlock, work.ActionCloseIssue, work.ActionStatus, work.ActionDismiss, work.ActionReviewRequest,
		work.ActionMerge, work.ActionEnqueue, work.ActionDequeue, work.ActionUpdateBranch:
		return false
	}
	return true
}
