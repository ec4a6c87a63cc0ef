package plan

import (
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// waitingSince makes the item wait, fed with events up to a cursor.
func waitingSince(cursor int64) func(*known.Snapshot) {
	return func(v *known.Snapshot) {
		v.Items[0].Followup = &work.Followup{ItemID: 10, EventCursor: cursor, Reason: work.Reason{Kind: work.WhyQuestion, Text: "which?"}}
	}
}

func TestWhatIsHeardAfterAWait(t *testing.T) {
	answer := said(work.EventSource, 1, "77", ann) // its row is 102
	for name, c := range map[string]struct {
		view known.Snapshot
		want string
	}{
		"a new answer":                  {scene(noPull, state(work.StateAwaitingIssueFollowup), waitingSince(101), with(answer)), "turn"},
		"one that was fed":              {scene(noPull, state(work.StateAwaitingIssueFollowup), waitingSince(102), with(answer)), "wait"},
		"the label set again":           {scene(noPull, state(work.StateAwaitingIssueFollowup), waitingSince(102), with(answer, labelled())), "turn"},
		"blocked, a new answer":         {scene(noPull, state(work.StateBlocked), waitingSince(101), with(answer)), "turn"},
		"blocked, and seen meanwhile":   {scene(noPull, state(work.StateBlocked), waitingSince(101), func(v *known.Snapshot) { v.Items[0].Since = noon }, with(answer)), "turn"},
		"blocked long before the table": {scene(noPull, state(work.StateBlocked), with(answer)), "turn"},
	} {
		p := For(c.view)
		last := p.Lines()[len(p.Lines())-1]
		if last.What != c.want || (len(p.Turns()) > 0) != (c.want == "turn") {
			t.Errorf("%s: %+v", name, p.Lines())
		}
	}
}

// A redirected comment enters no prompt, however the item ends.
func TestRedirectedIsNotVoid(t *testing.T) {
	after := said(work.EventSource, 1, "77", ann)
	token := work.RedirectToken(app.Key(), 1, "77")
	v := scene(pullIs(work.PullMerged), with(after), func(v *known.Snapshot) { v.Items[0].Notices[token] = work.ActionPlanned })
	p := For(v)
	if len(Of[change.FinishEvents](p)) != 1 || Of[change.FinishEvents](p)[0].Outcome != work.OutcomeRedirected {
		t.Errorf("%+v", Of[change.FinishEvents](p))
	}
}
