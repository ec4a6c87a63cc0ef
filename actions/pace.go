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

// windows are the times in which only so much content is sent.
var windows = []struct {
	length time.Duration
	most   int
}{{time.Minute, sendsPerMinute}, {time.Hour, sendsPerHour}}

// paces are the limits of a send: it must not come too close to GitHub's content limits. The stored rows are counted, so
// the counts cover all passes.
func paces(kind work.ActionKind, now time.Time) (all []store.Pace) {
	for _, w := range windows {
		if createsContent(kind) {
			all = append(all, store.Pace{Since: now.Add(-w.length), Most: w.most})
		}
	}
	return all
}

// tooFast returns why an action that was not marked as sent has to wait; nil: that has another reason.
func tooFast(ctx context.Context, tx *store.Tx, kind work.ActionKind, now time.Time) error {
	for i, p := range paces(kind, now) {
		n, err := tx.CountSends(ctx, p.Since)
		if err != nil {
			return err
		}
		if n >= p.Most {
			return &work.WaitError{
				Until:  now.Add(windows[i].length / 2),
				Reason: work.Reason{Kind: work.WhyPace, Count: n, Text: windows[i].length.String()},
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
		work.ActionFlow, work.ActionClose, work.ActionReady, work.ActionBlock, work.ActionCloseIssue, work.ActionStatus, work.ActionDismiss, work.ActionReviewRequest,
		work.ActionMerge, work.ActionEnqueue, work.ActionDequeue, work.ActionUpdateBranch:
		return false
	}
	return true
}
