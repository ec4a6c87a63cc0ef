package plan

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// A retry accepts no rewritten head.
func TestRetryNeedsUnblock(t *testing.T) {
	p := work.PullRequest{ID: 5, Number: 2, State: work.PullOpen, Branch: "agent/bugfix/1-x", HeadOID: "b"}
	if why := explain.NeedsUnblock(p, explain.Place{}); why != "" {
		t.Errorf("not rewritten: %s", why)
	}
	p.LostOID = "0123456789"
	if why := explain.NeedsUnblock(p, explain.Place{}); !strings.Contains(why, "0123456 is not") || !strings.Contains(why, "/mergexo unblock") {
		t.Errorf("rewritten: %s", why)
	}
	p.AcceptedOID = "b"
	if why := explain.NeedsUnblock(p, explain.Place{}); why != "" {
		t.Errorf("accepted: %s", why)
	}
}

// Comments on a rewritten branch wait until its head is accepted.
func TestRewrittenBranchWaits(t *testing.T) {
	lost := func(v *known.Snapshot) { v.Items[0].Pull.LostOID = "lost" }
	v := scene(lost, with(said(work.EventIssue, 2, "1", ann)))
	p := For(v)
	if len(p.Turns()) > 0 || len(Of[change.Move](p)) != 1 || Of[change.Move](p)[0].To != work.StateBlocked || Of[change.Move](p)[0].Reason.Kind != work.WhyRewritten {
		t.Fatalf("plan %+v", p)
	}
	for _, a := range Of[change.Notice](p) {
		if a.Kind == work.ActionComment && a.Number != 2 {
			t.Errorf("told on #%d", a.Number)
		}
	}

	// It is reported once, and no later comment resumes it.
	v.Items[0].State, v.Items[0].Reason, v.Items[0].Since = work.StateBlocked, Of[change.Move](p)[0].Reason, noon.Add(-time.Hour)
	for _, a := range Of[change.Notice](p) {
		v.Items[0].Notices[a.Token] = work.ActionApplied
	}
	if p := For(v); len(p.Turns()) > 0 || len(p.Changes()) > 0 {
		t.Errorf("told again: %+v", p)
	}

	moved := v
	moved.Items = slices.Clone(v.Items)
	moved.Items[0].Pull.HeadOID = "fedcba9876"
	if p := For(moved); len(Of[change.Notice](p)) > 0 || len(Of[change.Move](p)) != 1 || Of[change.Move](p)[0].Reason.Head != "fedcba9876" {
		t.Errorf("its head moved: %+v", p)
	}

	r := plannerOf(v, &Plan{}, v.Items[0])
	r.accept(explain.Unblock(r.item.Pull, "", explain.Place{}).Accept)
	r.route()
	if len(r.p.Turns()) != 1 || len(Of[change.AcceptHead](*r.p)) != 1 || len(r.p.Changes()) == 0 {
		t.Errorf("accepted: %+v", r.p)
	}
}
