package ingest

import (
	"testing"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work/review"
)

// GitHub takes replies only to the first comment of a thread: a person's comment in an existing
// thread is answered elsewhere.
func TestWhatAPersonFound(t *testing.T) {
	d := github.PullDetail{Threads: []github.Thread{
		{NodeID: "A", Top: 1, Comments: []github.ReviewComment{{ID: 1, ReviewID: 7, Path: "a.go", Line: 3, Body: "Rename it.\r\n"}, {ID: 2, ReviewID: 8, Body: "Why?"}}},
		{NodeID: "B", Top: 3, Comments: []github.ReviewComment{{ID: 3, ReviewID: 5}, {ID: 4, ReviewID: 7, Path: "b.go", Body: "Still so."}}},
	}}
	all := findingsOf(review.Verdict{ReviewID: 7, Reviewer: "grace", Decision: review.RequestChanges}, review.Major, d)
	if len(all) != 2 || all[0].CommentID != 1 || all[0].Body != "Rename it.\n" || all[1].CommentID != 0 || all[1].Body != "Still so." || all[1].Severity != review.Major {
		t.Errorf("%+v", all)
	}
	if all := findingsOf(review.Verdict{ReviewID: 7, Decision: review.Approve}, review.Major, d); all != nil {
		t.Errorf("an approval asks for %+v", all)
	}
}
