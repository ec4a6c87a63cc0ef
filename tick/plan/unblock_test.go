package plan

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// `unblock` accepts the head that GitHub shows, and no other.
func TestUnblock(t *testing.T) {
	const head = "0123456789abcdef0123456789abcdef01234567"
	rewritten := work.PullRequest{ID: 5, Number: 2, State: work.PullOpen, Branch: "agent/bugfix/1-x", HeadOID: head, LostOID: "lost"}
	as := func(change func(*work.PullRequest)) work.PullRequest {
		p := rewritten
		change(&p)
		return p
	}
	for _, c := range []struct {
		name    string
		pull    work.PullRequest
		head    string
		accept  bool
		refused string
	}{
		{name: "rewritten", pull: rewritten, accept: true},
		{name: "by its head", pull: rewritten, head: head, accept: true},
		{name: "by a short head", pull: rewritten, head: "0123456", accept: true},
		{name: "in capitals", pull: rewritten, head: "0123456789ABC", accept: true},
		{name: "another head", pull: rewritten, head: "1123456", refused: head},
		{name: "too short", pull: rewritten, head: "012345", refused: "7 to 40"},
		{name: "too long", pull: rewritten, head: head + "0", refused: "7 to 40"},
		{name: "no head at all", pull: rewritten, head: "main; rm -rf /", refused: "7 to 40"},
		{name: "not rewritten", pull: as(func(p *work.PullRequest) { p.LostOID = "" })},
		{name: "not rewritten, and another head", pull: as(func(p *work.PullRequest) { p.LostOID = "" }), head: "1123456", refused: head},
		{name: "accepted before", pull: as(func(p *work.PullRequest) { p.AcceptedOID = "x" })},
		{name: "branch deleted", pull: as(func(p *work.PullRequest) { p.State = work.PullClosed }), refused: "restore the branch"},
		{name: "merged", pull: as(func(p *work.PullRequest) { p.State = work.PullMerged }), refused: "was merged"},
		{name: "no pull request"},
		{name: "no pull request, and a head", head: head, refused: "no pull request yet"},
	} {
		got := unblock(c.pull, c.head, explain.Place{})
		if c.accept != (got.Accept == Acceptance{Pull: 5, Head: head}) || c.accept != (got.Said != "") {
			t.Errorf("%s: %+v", c.name, got)
		}
		if c.refused == "" && got.Refused != "" || !strings.Contains(got.Refused, c.refused) {
			t.Errorf("%s: refused: %q", c.name, got.Refused)
		}
	}
}

// To try again accepts nothing.
func TestRetryNeedsUnblock(t *testing.T) {
	p := work.PullRequest{ID: 5, Number: 2, State: work.PullOpen, Branch: "agent/bugfix/1-x", HeadOID: "b"}
	if why := needsUnblock(p, explain.Place{}); why != "" {
		t.Errorf("not rewritten: %s", why)
	}
	p.LostOID = "0123456789"
	if why := needsUnblock(p, explain.Place{}); !strings.Contains(why, "0123456 is not") || !strings.Contains(why, "/mergexo unblock") {
		t.Errorf("rewritten: %s", why)
	}
	p.AcceptedOID = "b"
	if why := needsUnblock(p, explain.Place{}); why != "" {
		t.Errorf("accepted: %s", why)
	}
}

// What is said on a rewritten branch waits until its head is accepted.
func TestRewrittenBranchWaits(t *testing.T) {
	rewritten := func(v *known.Snapshot) { v.Items[0].Pull.LostOID = "lost" }
	v := scene(rewritten, with(said(work.EventIssue, 2, "1", ann)))
	p := For(v)
	if len(p.Turns) > 0 || len(p.Moves) != 1 || p.Moves[0].To != work.StateBlocked || p.Moves[0].Reason.Kind != work.WhyRewritten {
		t.Fatalf("plan %+v", p)
	}
	for _, a := range p.Notices {
		if a.Kind == work.ActionComment && a.Number != 2 {
			t.Errorf("told on #%d", a.Number)
		}
	}

	// It is told once, and no later comment lets it go on.
	v.Items[0].State, v.Items[0].Reason, v.Items[0].Since = work.StateBlocked, p.Moves[0].Reason, noon.Add(-time.Hour)
	for _, a := range p.Notices {
		v.Items[0].Notices[a.Token] = work.ActionApplied
	}
	if p := For(v); len(p.Turns) > 0 || !p.Empty() {
		t.Errorf("told again: %+v", p)
	}

	moved := v
	moved.Items = slices.Clone(v.Items)
	moved.Items[0].Pull.HeadOID = "fedcba9876"
	if p := For(moved); len(p.Notices) > 0 || len(p.Moves) != 1 || p.Moves[0].Reason.Head != "fedcba9876" {
		t.Errorf("its head moved: %+v", p)
	}

	r := plannerOf(v, &Plan{}, v.Items[0])
	r.accept(unblock(r.item.Pull, "", explain.Place{}).Accept)
	r.route()
	if len(r.p.Turns) != 1 || len(r.p.Accepted) != 1 || r.p.Empty() {
		t.Errorf("accepted: %+v", r.p)
	}
}
