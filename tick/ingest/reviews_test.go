package ingest

import (
	"testing"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
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

func TestWhichApprovalIsKept(t *testing.T) {
	approval := review.Verdict{Reviewer: "grace", ReviewID: 7, Head: "a", Decision: review.Approve, By: work.Account{ID: 3}}
	unnamed := approval
	unnamed.Reviewer = ""
	say := func(v review.Verdict, d review.Decision, review int64) review.Verdict {
		v.Decision, v.ReviewID = d, review
		return v
	}
	other := unnamed
	other.By.ID = 4
	for name, tt := range map[string]struct {
		v     review.Verdict
		later []review.Verdict
		read  []readVerdict
		want  bool
	}{
		"it stands":                    {approval, nil, nil, false},
		"requested changes later":      {approval, []review.Verdict{say(approval, review.RequestChanges, 8)}, nil, true},
		"in this pass":                 {approval, nil, []readVerdict{{Verdict: say(approval, review.RequestChanges, 8)}}, true},
		"dismissed in this pass":       {approval, nil, []readVerdict{{Verdict: approval, dismissed: true}}, true},
		"another one was dismissed":    {approval, nil, []readVerdict{{Verdict: say(approval, review.Approve, 9), dismissed: true}}, false},
		"somebody else's last word":    {unnamed, []review.Verdict{say(other, review.RequestChanges, 8)}, nil, false},
		"their own, who has no name":   {unnamed, []review.Verdict{say(unnamed, review.RequestChanges, 8)}, nil, true},
		"a command's, which has no id": {say(approval, review.Approve, 0), nil, []readVerdict{{Verdict: say(other, review.Approve, 0), dismissed: true}}, false},
	} {
		if got := overtaken(tt.v, tt.later, tt.read); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
