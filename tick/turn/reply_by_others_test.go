package turn

import (
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/prompts"
)

// For somebody else's pull request only a review is planned, whatever the turn is about and leaves.
func TestNothingButReviewsOfSomebodyElses(t *testing.T) {
	for _, kind := range []work.Kind{work.KindReview, work.KindFix, work.KindImplementationFeedback, work.KindBugfixStart} {
		l := reviewing(t, prompts.Context{Review: &prompts.Review{Reviewer: "quinn", Blocking: review.Major}})
		l.Item, l.Turn.Kind, l.Turn.Commit = work.Item{Number: 2, Flow: work.FlowReview}, kind, head
		planned := planActions(l, prompts.Answer{
			Decision: review.RequestChanges, Summary: "Wrong.", Comments: []prompts.ReviewComment{said("a.go", 4, review.Major, "Here.")},
			GeneralComment: "Done.", CommitMessage: "Fix it", PRTitle: "Fix it",
		})
		for _, a := range planned {
			if a.Kind != work.ActionReview {
				t.Errorf("%s plans %s", kind, a.Kind)
			}
		}
		if n := len(planned); (n == 1) != (kind == work.KindReview) {
			t.Errorf("%s plans %d actions", kind, n)
		}
	}
}
