package plan

import (
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// A follow-up is opened below the item's issue, under one token however often and wherever it is
// asked for, also once the work is over. Other numbers are answered in words.
func TestFollowupsByTheirNumber(t *testing.T) {
	two := func(v *known.Snapshot) {
		v.Policy.Title = strings.TrimSpace
		v.Items[0].Proposals = []work.Proposal{{Number: 1, Title: "Cache it", Why: "It is slow."}, {Number: 2, Title: "Rotate", Why: "w"}}
	}
	merged := func(v *known.Snapshot) {
		v.Items[0].State, v.Items[0].Pull.State = work.StateCompleted, work.PullMerged
	}
	tokens := map[string]bool{}
	for _, c := range []struct {
		name, body string
		change     []func(*known.Snapshot)
		opens, say string
	}{
		{"one", "/mergexo followup 2", []func(*known.Snapshot){two}, "Rotate", "Follow-up 2 (Rotate) is {issue of "},
		{"merged", "/mergexo followup 2", []func(*known.Snapshot){two, merged}, "Rotate", "Follow-up 2 (Rotate) is {issue of "},
		{"none of them", "/mergexo followup 3", []func(*known.Snapshot){two}, "", "There is no follow-up 3 on #1, so nothing was done. The last one is 2."},
		{"nothing proposed", "/mergexo followup 1", nil, "", "#1 has no follow-ups. If its pull request lists some, the database that knew them was lost: open the issue by hand."},
		{"no number", "/mergexo followup", []func(*known.Snapshot){two}, "", "`followup` needs `N` (its number in the list of follow-ups), so nothing was done."},
		{"zero", "/mergexo followup 0", []func(*known.Snapshot){two}, "", "`followup` needs `N`"},
		{"a reference", "/mergexo followup #2", []func(*known.Snapshot){two}, "", "`followup` needs `N`"},
	} {
		p := For(scene(append(c.change, with(commanded(c.body, 2, "66")))...))
		opens, after := "", ""
		for _, a := range Of[change.Notice](p) {
			switch a.Kind { //nolint:exhaustive // no other is planned
			case work.ActionChild:
				opens = a.Title
				tokens[a.Token] = true
				if a.Number != 1 || !a.Followup() || !strings.Contains(a.Body, "Proposed by an agent that worked on #1 (#2): w") {
					t.Errorf("%s: below #%d: %s", c.name, a.Number, a.Body)
				}
			case work.ActionComment:
				after = a.Base
			}
		}
		if said := answered(p); opens != c.opens || !strings.HasPrefix(said, c.say) || (opens != "") != tokens[after] {
			t.Errorf("%s: opens %q and says %q after %q", c.name, opens, said, after)
		}
	}
	if len(tokens) != 1 {
		t.Errorf("one follow-up has %d tokens", len(tokens))
	}
}
