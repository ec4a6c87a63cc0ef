package plan

import (
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// took returns turns of a kind that cost half a dollar each, an hour apart, the last one an hour
// ago.
func took(kind work.Kind, n int) []work.Spent {
	var all []work.Spent
	for i := range n {
		all = append(all, work.Spent{Turn: int64(i + 1), Kind: kind, Step: work.StepDone, CostUSD: 0.5, At: noon.Add(time.Duration(i-n) * time.Hour)})
	}
	return all
}

func budget(b work.Budgets, spent []work.Spent) func(*known.Snapshot) {
	return func(v *known.Snapshot) {
		v.Policy.Budgets = b
		v.Items[0].Spent = spent
	}
}

func TestBudgetsOfAnItem(t *testing.T) {
	talk := said(work.EventIssue, 2, "66", bob)
	anew := labelled()
	anew.SeenAt = noon.Add(-time.Minute)
	blocked := func(why work.Reason) func(*known.Snapshot) {
		return func(v *known.Snapshot) {
			v.Items[0].State, v.Items[0].Reason, v.Items[0].Since = work.StateBlocked, why, noon.Add(-10*time.Minute)
		}
	}
	ready := func(v *known.Snapshot) {
		v.Items[0].State, v.Items[0].Flow, v.Free = work.StateReady, work.FlowImplementation, 1
		e := labelled()
		e.Kind = work.EventMerged
		v.Items[0].Events = append(v.Items[0].Events, e)
	}
	answeredBlocker := func(v *known.Snapshot) {
		i := &v.Items[0]
		i.Since, i.Dependencies = noon, map[string]work.DependencyState{"#9": work.DependencyDropped}
		i.Followup = &work.Followup{ItemID: i.ID, EventCursor: 1, Reason: work.Reason{Kind: work.WhyDependsDropped}}
	}
	turns := work.Budgets{TurnsPerItem: 3}
	threeTurns := work.Reason{Kind: work.WhyItemBudget, Name: work.MaxTurnsPerItem, Used: 3, Limit: 3, Begun: 3}
	full := took(work.KindImplementationFeedback, 3)
	for name, c := range map[string]struct {
		view    known.Snapshot
		stop    string // why the item stops
		kind    work.Kind
		renewed bool
	}{
		"one is left":                       {scene(with(talk), budget(turns, full[:2])), "", work.KindImplementationFeedback, false},
		"turns":                             {scene(with(talk), budget(turns, full)), "it has had 3 turns; max_turns_per_item is 3", "", false},
		"no limit":                          {scene(with(talk), budget(work.Budgets{}, took(work.KindFix, 500))), "", work.KindImplementationFeedback, false},
		"rounds":                            {scene(with(talk), budget(work.Budgets{FeedbackRounds: 3}, full)), "comments were answered in 3 turns, and an item has 3 for that", "", false},
		"reviews are turns":                 {scene(with(talk), budget(turns, took(work.KindReview, 3))), "it has had 3 turns; max_turns_per_item is 3", "", false},
		"a review":                          {scene(reviewedBy("quinn"), budget(turns, full)), "it has had 3 turns; max_turns_per_item is 3", "", false},
		"reviews are no rounds":             {scene(with(talk), budget(work.Budgets{FeedbackRounds: 3}, took(work.KindReview, 3))), "", work.KindImplementationFeedback, false},
		"other turns are no rounds":         {scene(with(talk), budget(work.Budgets{FeedbackRounds: 3}, took(work.KindFix, 3))), "", work.KindImplementationFeedback, false},
		"rounds do not stop what mends":     {scene(with(broken(work.EventCheck, "aaa", 1)), snapshot("FAILURE", "MERGEABLE"), budget(work.Budgets{FeedbackRounds: 3}, full)), "", work.KindFix, false},
		"cost":                              {scene(with(talk), budget(work.Budgets{CostPerItem: 1.5}, full)), "its agents have cost 1.50 USD; max_cost_per_item_usd is 1.50", "", false},
		"a cent is left":                    {scene(with(talk), budget(work.Budgets{CostPerItem: 1.51}, full)), "", work.KindImplementationFeedback, false},
		"a start":                           {scene(noPull, state(work.StatePending), with(labelled()), budget(turns, full)), "it has had 3 turns; max_turns_per_item is 3", "", false},
		"an implementation":                 {scene(noPull, ready, budget(turns, full)), "it has had 3 turns; max_turns_per_item is 3", "", false},
		"said once":                         {scene(blocked(threeTurns), with(talk), budget(turns, full)), "", "", false},
		"a comment resets nothing":          {scene(blocked(work.Reason{Kind: work.WhyFailed}), with(talk), budget(turns, full), func(v *known.Snapshot) { v.Items[0].Since = noon.Add(-time.Hour) }), "it has had 3 turns; max_turns_per_item is 3", "", false},
		"the label set again does":          {scene(blocked(threeTurns), with(talk, anew), budget(turns, full)), "", work.KindImplementationFeedback, true},
		"also of a start":                   {scene(noPull, blocked(threeTurns), with(anew), budget(turns, full)), "", work.KindBugfixStart, true},
		"the label from before the stop":    {scene(noPull, blocked(threeTurns), func(v *known.Snapshot) { v.Items[0].Since = noon }, with(anew), budget(turns, full)), "", "", false},
		"begun although a blocker stays":    {scene(noPull, blocked(threeTurns), answeredBlocker, with(said(work.EventSource, 1, "66", bob)), budget(turns, full)), "", "", false},
		"nothing to begin, nothing to stop": {scene(budget(turns, full)), "", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			p := For(c.view)
			stop, kind := "", work.Kind("")
			for _, m := range Of[change.Move](p) {
				if m.To == work.StateBlocked {
					said := explain.Reason(m.Reason, explain.Place{Spending: true})
					stop = said.What
					if !strings.Contains(said.Next(), "/mergexo retry") {
						t.Errorf("it does not say the way on: %+v", m)
					}
				}
			}
			if len(p.Turns()) > 0 {
				kind = p.Turns()[0].Kind
			}
			if stop != c.stop || kind != c.kind || (len(Of[change.RenewBudget](p)) > 0) != c.renewed {
				t.Errorf("stopped %q, began %q, renewed %v; lines %+v", stop, kind, Of[change.RenewBudget](p), p.Lines())
			}
		})
	}
}

func TestNoProgress(t *testing.T) {
	fix := func(turn int64, head, commit string) work.Spent {
		return work.Spent{Turn: turn, Kind: work.KindFix, Step: work.StepDone, Head: head, Commit: commit}
	}
	check := broken(work.EventCheck, "aaa", 1) // the check "unit" of the head aaa
	unit, lint := []string{"unit"}, []string{"lint"}
	answer := work.Spent{Turn: 3, Kind: work.KindImplementationFeedback, Step: work.StepDone}
	superseded := fix(9, "x", "y")
	superseded.Step = work.StepSuperseded
	none, sameAgain := work.Reason{}, work.Reason{Kind: work.WhyNoProgress, Count: 2, Names: unit}
	for name, c := range map[string]struct {
		spent []work.Spent
		found map[int64][]string
		want  work.Reason
	}{
		"the first":                  {nil, nil, none},
		"the second":                 {[]work.Spent{fix(1, "000", "aaa")}, map[int64][]string{1: unit}, none},
		"the same, twice mended":     {[]work.Spent{fix(1, "000", "bbb"), fix(2, "bbb", "aaa")}, map[int64][]string{1: unit, 2: unit}, sameAgain},
		"another one before":         {[]work.Spent{fix(1, "000", "bbb"), fix(2, "bbb", "aaa")}, map[int64][]string{1: lint, 2: unit}, none},
		"a person pushed in between": {[]work.Spent{fix(1, "000", "bbb"), fix(2, "person", "aaa")}, map[int64][]string{1: unit, 2: unit}, none},
		"a person pushed on top":     {[]work.Spent{fix(1, "000", "bbb"), fix(2, "bbb", "ccc")}, map[int64][]string{1: unit, 2: unit}, none},
		"three, whatever was red":    {[]work.Spent{fix(1, "0", "1"), fix(2, "1", "2"), fix(3, "2", "3")}, nil, work.Reason{Kind: work.WhyNoProgress, Count: 3}},
		"a person spoke":             {[]work.Spent{fix(1, "000", "bbb"), fix(2, "bbb", "aaa"), answer}, map[int64][]string{1: unit, 2: unit}, none},
		"two since a person spoke":   {[]work.Spent{answer, fix(4, "000", "bbb"), fix(5, "bbb", "aaa")}, map[int64][]string{4: unit, 5: unit}, sameAgain},
		"what came to nothing":       {[]work.Spent{fix(1, "000", "bbb"), superseded, fix(2, "bbb", "aaa")}, map[int64][]string{1: unit, 2: unit, 9: lint}, sameAgain},
	} {
		t.Run(name, func(t *testing.T) {
			v := scene(with(check), snapshot("FAILURE", "MERGEABLE"), budget(work.Budgets{}, c.spent))
			v.Items[0].Findings = c.found
			p := For(v)
			switch {
			case c.want.None() && (len(p.Turns()) != 1 || len(Of[change.Move](p)) != 0):
				t.Errorf("no turn: %+v", p.Lines())
			case !c.want.None() && (len(p.Turns()) != 0 || len(Of[change.Move](p)) != 1 || !Of[change.Move](p)[0].Reason.Equal(c.want)):
				t.Errorf("%+v, %+v", Of[change.Move](p), p.Lines())
			}
		})
	}
}

func TestBudgetsOfADay(t *testing.T) {
	spent := took(work.KindFix, 4) // claimed at 8, 9, 10 and 11 o'clock
	for name, c := range map[string]struct {
		budgets work.Budgets
		left    int // -1: no limit
		until   string
		why     string
	}{
		"no limit":           {work.Budgets{}, -1, "", ""},
		"one is left":        {work.Budgets{TurnsPerDay: 5, CostPerDay: 9}, 1, "", ""},
		"turns":              {work.Budgets{TurnsPerDay: 4}, 0, "2026-11-22T08:00:00Z", "4 turns began in the last 24 hours; max_turns_per_day is 4"},
		"a limit made lower": {work.Budgets{TurnsPerDay: 2}, 0, "2026-11-22T10:00:00Z", "4 turns began in the last 24 hours; max_turns_per_day is 2"},
		"cost":               {work.Budgets{CostPerDay: 2}, 0, "2026-11-22T08:00:00Z", "the turns of the last 24 hours have cost 2.00 USD; max_cost_per_day_usd is 2.00"},
		"much too costly":    {work.Budgets{CostPerDay: 0.75}, 0, "2026-11-22T10:00:00Z", "have cost 2.00 USD; max_cost_per_day_usd is 0.75"},
		"a cent is left":     {work.Budgets{CostPerDay: 2.01}, -1, "", ""},
		"the later counts":   {work.Budgets{TurnsPerDay: 4, CostPerDay: 0.75}, 0, "2026-11-22T10:00:00Z", "have cost"},
	} {
		t.Run(name, func(t *testing.T) {
			d := spending.DayOf(spent, c.budgets, noon)
			until := ""
			if !d.Until.IsZero() {
				until = d.Until.Format(time.RFC3339)
			}
			if c.left >= 0 && d.Left != c.left || c.left < 0 && d.Left < 1<<30 || until != c.until || !strings.Contains(explain.What(d.Why, explain.Place{Spending: true}), c.why) || d.Why.None() != (c.why == "") {
				t.Errorf("left %d until %q: %s", d.Left, until, d.Why)
			}
			v := scene(with(said(work.EventIssue, 2, "66", bob)))
			v.Day = d
			p := For(v)
			onHold := len(Of[Turn](p)) - len(p.Turns())
			if held := !d.Why.None(); held != (onHold == 1) || held == (len(p.Turns()) == 1) || len(Of[change.Move](p)) > 0 || len(Of[change.Notice](p)) != 1 {
				t.Errorf("turns %d, held %d, moves %d, notices %d", len(p.Turns()), onHold, len(Of[change.Move](p)), len(Of[change.Notice](p)))
			}
			if last := p.Lines()[len(p.Lines())-1]; !d.Why.None() && (last.What != "wait" || !last.Why[0].Equal(d.Why)) {
				t.Errorf("the dry run says %+v", last)
			}
			if d.Why.None() {
				return
			}
			if later := spending.DayOf(since(spent, d.Until.Add(-spending.Window)), c.budgets, d.Until); !later.Why.None() {
				t.Errorf("and when that time has come: %s", later.Why)
			}
		})
	}
}

// since returns the turns claimed after a time.
func since(spent []work.Spent, at time.Time) (left []work.Spent) {
	for _, s := range spent {
		if s.At.After(at) {
			left = append(left, s)
		}
	}
	return left
}

// A burst of comments that never ends is answered all the same.
func TestABurstThatNeverEnds(t *testing.T) {
	burst := func(minutes ...int) func(*known.Snapshot) {
		var all []work.Event
		for i, m := range minutes {
			e := said(work.EventIssue, 2, "66", bob)
			at := noon.Add(-time.Duration(m)*time.Minute - 30*time.Second)
			e.ID, e.SeenAt, e.UpdatedAt, e.CreatedAt = int64(i+1), at, at, at
			all = append(all, e)
		}
		return with(all...)
	}
	quiet := func(v *known.Snapshot) { v.Policy.QuietPeriod = 2 * time.Minute }
	for name, c := range map[string]struct {
		view known.Snapshot
		want bool
	}{
		"it goes on":                 {scene(quiet, burst(9, 8, 7, 6, 5, 4, 3, 2, 1, 0)), false},
		"it has gone on for long":    {scene(quiet, burst(20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)), true},
		"what waits is no burst":     {scene(quiet, burst(50, 1, 0)), false},
		"it is over":                 {scene(quiet, burst(3, 2)), true},
		"without a quiet period":     {scene(func(v *known.Snapshot) { v.Policy.QuietPeriod = 0 }, burst(0)), true},
		"a long one that was broken": {scene(quiet, burst(20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 5, 4, 3, 2, 1, 0)), false},
	} {
		t.Run(name, func(t *testing.T) {
			if p := For(c.view); (len(p.Turns()) == 1) != c.want {
				t.Errorf("%d turns: %+v", len(p.Turns()), p.Lines()[len(p.Lines())-1])
			}
		})
	}
}
