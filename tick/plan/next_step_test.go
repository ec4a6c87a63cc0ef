package plan

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// stoppedFor stops the item on its pull request for a reason, as long ago as everything in the scene.
func stoppedFor(why work.Reason) func(*known.Snapshot) {
	return func(v *known.Snapshot) {
		i := &v.Items[0]
		i.State, i.Reason, i.Since = work.StateBlocked, why, noon.Add(-3*time.Minute)
		i.Stop = work.Stop{ItemID: i.ID, Number: i.Pull.Number, Reason: why, Attempts: 1, Since: i.Since}
		if state, of := review.StateOf(why); of {
			i.Reviews.Record = review.Record{PullID: 20, State: state, Reviewer: "quinn", Head: "aaa", Since: i.Since, Why: why}
		}
		if merging.Stays(why.Kind) {
			i.Landing.Trouble = why
		}
		if why.Kind == work.WhyItemBudget {
			v.Policy.Budgets, i.Spent = work.Budgets{TurnsPerItem: 1}, took(work.KindReview, 1)
		}
	}
}

// dues are what may be due on a pull request while it is stopped.
func dues() map[string]func(*known.Snapshot) {
	return map[string]func(*known.Snapshot){
		"nothing":   func(*known.Snapshot) {},
		"a comment": with(said(work.EventIssue, 2, "66", bob)),
		"a check": func(v *known.Snapshot) {
			with(broken(work.EventCheck, "aaa", 1))(v)
			snapshot("FAILURE", "MERGEABLE")(v)
		},
		"a conflict": func(v *known.Snapshot) {
			with(broken(work.EventConflict, "aaa", 2))(v)
			snapshot("", work.Conflicting)(v)
		},
		"a review": func(v *known.Snapshot) {
			reviewedBy("quinn")(v)
			v.Items[0].ReviewsChanged, v.Items[0].Reviews.Verdicts = false, nil
		},
		"a fix": func(v *known.Snapshot) {
			reviewedBy("quinn")(v)
			v.Items[0].Reviews.Verdicts = nil
			verdict("quinn", "aaa", review.RequestChanges)(v)
			v.Items[0].ReviewsChanged = false
		},
	}
}

// Each next step that a stop names ends the stop, and begins what is due on the pull request. A
// step that is left to the operator or to GitHub counts as done: nothing of it is wrong any more.
func TestTheNextStepOfAStopEndsIt(t *testing.T) {
	answered := said(work.EventIssue, 2, "6666", ann)
	answered.SeenAt, answered.CreatedAt, answered.UpdatedAt = noon.Add(-2*time.Minute), noon.Add(-2*time.Minute), noon.Add(-2*time.Minute)
	relabelled := labelled()
	relabelled.SeenAt = noon.Add(-time.Minute)
	steps := map[string]struct {
		named func(explain.Words) bool
		do    func(*known.Snapshot)
	}{
		"retry": {func(w explain.Words) bool { return w.Retry || strings.Contains(w.Next(), "`/mergexo retry`") }, with(commanded("/mergexo retry", 2, "900"))},
		"a comment": {func(w explain.Words) bool {
			next := strings.ReplaceAll(w.Next(), "comment `", "")
			return strings.Contains(next, "comment on the pull request") || strings.Contains(next, "comment to ") || strings.Contains(next, "in a comment")
		}, with(answered)},
		"the label": {func(w explain.Words) bool { return strings.Contains(w.Next(), "remove the label and set it again") }, with(relabelled)},
	}
	tried := map[string]int{}
	for _, one := range explain.Entries() {
		if one.After != explain.AtOnce && one.After != explain.Overdue && one.After != explain.IfNobodyCan {
			continue
		}
		why := work.Reason{Kind: one.Kind, Text: "text", Name: "quinn", Who: "op", Branch: "agent/bugfix/1-x", Commit: "ccc", Number: 2, Count: 2, Names: []string{"unit"}, Head: "aaa"}
		words := explain.Reason(why, explain.Place{Pull: true, Label: "agent:bugfix"})
		for step, s := range steps {
			if !s.named(words) {
				continue
			}
			tried[step]++
			for due, is := range dues() {
				v := scene(labels)
				if merging.Stops(why.Kind) {
					landable(&v)
				}
				is(&v)
				stoppedFor(why)(&v)
				s.do(&v)
				p := For(v)
				if wrong := lasts(v, p, due); wrong != "" {
					t.Errorf("%s, and %s is due: after %s %s\n%s\nnext step: %s", why.Kind, due, step, wrong, told(p), words.Next())
				}
			}
		}
	}
	if tried["retry"] < 40 || tried["a comment"] < 20 || tried["the label"] < 1 {
		t.Errorf("too few reasons name a step: %v", tried)
	}
}

// lasts says how a plan keeps its one item stopped, or does not begin what is due; empty: it does
// neither.
func lasts(v known.Snapshot, p Plan, due string) string {
	after := carriedOut(v, p).Items[0]
	for _, a := range Of[change.Notice](p) {
		if strings.Contains(a.Body, "othing to retry") || strings.Contains(a.Body, "nothing was done") {
			return "the answer is " + a.Body
		}
	}
	switch {
	case after.State == work.StateBlocked:
		return fmt.Sprintf("it is blocked: %s", after.Reason)
	case after.HasPull() && after.Reviews.Record.State.Stopped():
		return "the reviews are stopped"
	case due != "nothing" && len(p.Turns()) == 0 && len(Of[change.Merge](p)) == 0:
		return "no turn begins"
	}
	return ""
}
