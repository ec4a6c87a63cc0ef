package plan

import (
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
)

// Budgets keep what goes round in circles from lasting while nobody looks. They
// are looked at when a turn is planned and again before each run of its agent,
// whatever it waited for: an item or a day may cost more than its budget by the
// runs that were under way.

// affords reports whether the item's budgets leave something for one more turn,
// and stops the item when they do not.
func (r *itemPlanner) affords(kind work.Kind) bool {
	why := spending.Overspent(spending.Of(r.item.Spent), kind, r.v.Policy.Budgets)
	if why.None() {
		return true
	}
	r.stop(why)
	return false
}

// renew gives an item that its budgets stopped as much again, when its label was
// set again since then.
func (r *itemPlanner) renew() {
	setAgain := func(e work.Event) bool { return e.Kind == work.EventLabelled && e.SeenAt.After(r.item.Since) }
	kind := r.item.Flow.StartKind()
	if r.item.HasPull() {
		kind = r.item.Flow.FeedbackKind()
	}
	if r.item.State != work.StateBlocked || spending.Overspent(spending.Of(r.item.Spent), kind, r.v.Policy.Budgets).None() || !slices.ContainsFunc(r.item.Events, setAgain) {
		return
	}
	r.p.Renewed = append(r.p.Renewed, r.item.ID)
	r.item.Spent = nil
	if r.item.HasPull() {
		r.move(work.CauseResumed, work.StateAwaitingFeedback, "the label was set again: its budgets are reset")
		r.item.State = work.StateAwaitingFeedback
	}
}

// How often in a row turns may try to mend the same pull request without anybody
// saying a word to it: at all, and with the same checks red each time.
const (
	MostMends     = 3
	mostSameMends = 2
)

// noProgress says why one more turn would not fix what the last ones did not;
// none while it may. Those that mended what they were for are no circle: what a
// person pushed on top of them is red for another reason. What a reviewer asked for is
// counted by the reviews (internal/work/review): before it the checks were green.
func (r *itemPlanner) noProgress(events []work.Event) work.Reason {
	var row []work.Spent // newest first
	for _, s := range slices.Backward(r.item.Spent) {
		if s.Kind != work.KindFix || s.Reviewer != "" {
			break
		}
		if s.Step == work.StepDone {
			row = append(row, s)
		}
	}
	now := work.Findings(events)
	head, same := r.item.Pull.HeadOID, 0
	for _, s := range row {
		left := s.Commit
		if left == "" {
			left = s.Head
		}
		if len(now) == 0 || left != head || !slices.Equal(r.item.Findings[s.Turn], now) {
			break
		}
		head = s.Head
		same++
	}
	switch {
	case same >= mostSameMends:
		return work.Reason{Kind: work.WhyNoProgress, Count: same, Names: now}
	case len(row) >= MostMends:
		return work.Reason{Kind: work.WhyNoProgress, Count: len(row)}
	}
	return work.Reason{}
}

// hold lets the planned turns wait when the day's budgets are spent. Nothing
// stops, and no attempt is used: time alone lets them resume.
func (p *Plan) hold(d spending.Day) {
	if d.Why.None() {
		return
	}
	p.Held, p.Turns = p.Turns, nil
	for i, l := range p.Lines {
		if l.What == "turn" {
			said := explain.What(d.Why, explain.Place{Spending: true})
			p.Lines[i].What, p.Lines[i].Reason, p.Lines[i].Code, p.Lines[i].Why = "wait", l.Reason+"; "+said, d.Why.Kind, []work.Reason{d.Why}
		}
	}
}
