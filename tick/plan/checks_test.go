package plan

import (
	"slices"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// broken returns an event about a head.
func broken(kind work.EventKind, head string, id int64) work.Event {
	e := said(kind, 2, head, work.Account{})
	e.ID, e.Body = id, "31 unit"
	return e
}

func snapshot(rollup, mergeable string) func(*known.Snapshot) {
	return func(v *known.Snapshot) {
		v.Items[0].Pull.Rollup, v.Items[0].Pull.Mergeable = rollup, mergeable
	}
}

func TestRouteOfChecksAndConflicts(t *testing.T) {
	check, conflict := broken(work.EventCheck, "aaa", 1), broken(work.EventConflict, "aaa", 2)
	queue := check
	queue.State, queue.Body = "ggg", "queue unit"
	for name, c := range map[string]struct {
		view     known.Snapshot
		kind     work.Kind // of the one turn; none
		events   int
		finished []string
	}{
		"red checks":            {scene(with(check), snapshot("FAILURE", "MERGEABLE")), work.KindFix, 1, nil},
		"a conflict":            {scene(with(conflict), snapshot("", work.Conflicting)), work.KindFix, 1, nil},
		"both at once":          {scene(with(check, conflict), snapshot("FAILURE", work.Conflicting)), work.KindFix, 2, nil},
		"an older head":         {scene(with(broken(work.EventCheck, "old", 1), broken(work.EventConflict, "old", 2)), snapshot("FAILURE", work.Conflicting)), "", 0, []string{"stale: the head moved on"}},
		"green by now":          {scene(with(check), snapshot("SUCCESS", "MERGEABLE")), "", 0, []string{"void: the checks are green by now"}},
		"red in a merge queue":  {scene(with(queue), snapshot("SUCCESS", "MERGEABLE")), work.KindFix, 1, nil},
		"mergeable by now":      {scene(with(conflict), snapshot("", "MERGEABLE")), "", 0, nil},
		"GitHub does not know":  {scene(with(conflict), snapshot("", "UNKNOWN")), "", 0, nil},
		"the newest conflict":   {scene(with(conflict, broken(work.EventConflict, "aaa", 3)), snapshot("", work.Conflicting)), work.KindFix, 1, []string{"stale: the head moved on"}},
		"people first":          {scene(with(check, said(work.EventIssue, 2, "5", ann)), snapshot("FAILURE", "MERGEABLE")), work.KindImplementationFeedback, 1, nil},
		"blocked":               {scene(with(check), snapshot("FAILURE", "MERGEABLE"), state(work.StateBlocked)), "", 0, nil},
		"merged: nothing to do": {scene(with(check), pullIs(work.PullMerged)), "", 0, []string{"void: pull request #2 was merged"}},
	} {
		p := For(c.view)
		var finished []string
		for _, f := range Of[change.FinishEvents](p) {
			finished = append(finished, f.Outcome)
		}
		if !slices.Equal(finished, c.finished) {
			t.Errorf("%s: finished %q, want %q", name, finished, c.finished)
		}
		switch {
		case c.kind == "" && len(p.Turns()) > 0, c.kind != "" && len(p.Turns()) != 1:
			t.Errorf("%s: %d turns", name, len(p.Turns()))
		case c.kind != "" && (p.Turns()[0].Kind != c.kind || len(p.Turns()[0].Events) != c.events):
			t.Errorf("%s: %s about %d events", name, p.Turns()[0].Kind, len(p.Turns()[0].Events))
		}
	}
}

// TestNoFixBesideGitHubsOwnAgent: fixes of checks, conflicts and reviews wait, which is said once;
// people are answered and reviews continue. Resume ends it for good.
func TestNoFixBesideGitHubsOwnAgent(t *testing.T) {
	beside := func(b work.Beside) func(*known.Snapshot) {
		return func(v *known.Snapshot) { v.Items[0].Pull.Beside = b }
	}
	told := func(v *known.Snapshot) { v.Items[0].Notices[work.BesideToken(app.Key(), 2)] = work.ActionApplied }
	check, conflict := broken(work.EventCheck, "aaa", 1), broken(work.EventConflict, "aaa", 2)
	on := work.Beside{Assigned: true}
	fix := []func(*known.Snapshot){reviewedBy("quinn"), verdict("quinn", "aaa", review.RequestChanges), stored(review.Reviewing, "quinn")}
	for _, c := range []struct {
		name   string
		change []func(*known.Snapshot)
		kind   work.Kind // of the turn; empty: none
		waits  work.ReasonKind
		says   int
	}{
		{"nothing known", []func(*known.Snapshot){with(check), snapshot("FAILURE", "MERGEABLE")}, work.KindFix, "", 0},
		{"red checks", []func(*known.Snapshot){with(check), snapshot("FAILURE", "MERGEABLE"), beside(on)}, "", work.WhyOtherAgent, 1},
		{"said before", []func(*known.Snapshot){with(check), snapshot("FAILURE", "MERGEABLE"), beside(on), told}, "", work.WhyOtherAgent, 0},
		{"a conflict", []func(*known.Snapshot){with(conflict), snapshot("", work.Conflicting), beside(on)}, "", work.WhyOtherAgent, 1},
		{"a review's fix", append(slices.Clone(fix), beside(on)), "", work.WhyOtherAgent, 1},
		{"a review's fix, without it", fix, work.KindFix, "", 0},
		{"a review", []func(*known.Snapshot){reviewedBy("quinn"), stored(review.Pending, ""), beside(on)}, work.KindReview, "", 0},
		{"people", []func(*known.Snapshot){with(check, said(work.EventIssue, 2, "5", ann)), snapshot("FAILURE", "MERGEABLE"), beside(on)}, work.KindImplementationFeedback, "", 0},
		{"both allowed", []func(*known.Snapshot){with(check), snapshot("FAILURE", "MERGEABLE"), beside(work.Beside{Assigned: true, Allowed: true})}, work.KindFix, "", 0},
		{"resumed", []func(*known.Snapshot){with(check, commanded("/mergexo resume", 2, "66")), snapshot("FAILURE", "MERGEABLE"), beside(on)}, work.KindFix, "", 1},
	} {
		p := For(scene(c.change...))
		kind, waits := work.Kind(""), work.ReasonKind("")
		for _, turn := range p.Turns() {
			kind = turn.Kind
		}
		for _, l := range p.Lines() {
			if l.What == "wait" {
				waits = l.Code
			}
		}
		says := 0
		for _, a := range Of[change.Notice](p) {
			if a.Kind == work.ActionComment {
				says++
			}
		}
		if kind != c.kind || waits != c.waits || says != c.says {
			t.Errorf("%s: turn %q, waits for %q, %d comments; want %q, %q, %d", c.name, kind, waits, says, c.kind, c.waits, c.says)
		}
		if c.name == "resumed" && len(Of[change.AllowAgents](p)) != 1 {
			t.Error("resume allows nothing")
		}
	}
}
