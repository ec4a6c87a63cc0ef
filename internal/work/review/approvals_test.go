package review

import (
	"slices"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// What counts as not shown is what the approvals that count now were given without.
func TestUnreadIsOfTheApprovalsThatCount(t *testing.T) {
	p := Policy{Order: []Reviewer{{Name: "quinn"}, {Name: "sam"}}}
	f := Facts{Number: 2, Head: "bbb", MergeBase: "base", State: work.PullOpen, Record: Record{State: Reviewing}, Verdicts: []Verdict{
		{Reviewer: "quinn", Head: "aaa", MergeBase: "base", Decision: Approve, Unread: []string{"old.go"}},
		{Reviewer: "quinn", Head: "bbb", MergeBase: "base", Decision: Approve, Unread: []string{"b.go", "a.go"}},
		{Reviewer: "sam", Head: "bbb", MergeBase: "base", Decision: Approve, Unread: []string{"a.go"}},
	}}
	if a := approvalsOf(f, p); !slices.Equal(a.Unread, []string{"a.go", "b.go"}) {
		t.Errorf("%q", a.Unread)
	}
	f.Verdicts[1].Validity = TakenBack
	if a := approvalsOf(f, p); !slices.Equal(a.Unread, []string{"a.go"}) {
		t.Errorf("one was taken back: %q", a.Unread)
	}
}
