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

// noProgress says why one more turn would not fix what the last ones did not.
func (r *itemPlanner) noProgress(events []work.Event) work.Reason {
	return spending.NoProgress(r.item.Spent, r.item.Findings, r.item.Pull.HeadOID, events)
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
