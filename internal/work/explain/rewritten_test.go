package explain

import (
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
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
		got := Unblock(c.pull, c.head, Place{})
		if c.accept != (got.Accept == Acceptance{Pull: 5, Head: head}) || c.accept != (got.Said != "") {
			t.Errorf("%s: %+v", c.name, got)
		}
		if c.refused == "" && got.Refused != "" || !strings.Contains(got.Refused, c.refused) {
			t.Errorf("%s: refused: %q", c.name, got.Refused)
		}
	}
}
