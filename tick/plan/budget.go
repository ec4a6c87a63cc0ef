package plan

import (
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
	"github.com/mergexo/gh-mergexo/tick/change"
)

// Budgets end loops that nobody watches. They are checked when a turn is planned and again before
// each run of its agent. An item or a day may exceed its budget by the runs in progress.

// withinBudgets reports whether the item's budgets allow another turn. If not, it stops the item.
func (r *itemPlanner) withinBudgets(kind work.Kind) bool {
	why := spending.Overspent(spending.Of(r.item.Spent), kind, r.v.Policy.Budgets)
	if why.None() {
		return true
	}
	r.stop(why)
	return false
}

// renew resets the budgets of an item that they stopped, if its label was set again since.
func (r *itemPlanner) renew() {
	setAgain := func(e work.Event) bool { return e.Kind == work.EventLabelled && e.SeenAt.After(r.item.Since) }
	kind := r.item.Flow.StartKind()
	if r.item.HasPull() {
		kind = r.item.Flow.FeedbackKind()
	}
	if r.item.State != work.StateBlocked || spending.Overspent(spending.Of(r.item.Spent), kind, r.v.Policy.Budgets).None() || !slices.ContainsFunc(r.item.Events, setAgain) {
		return
	}
	r.renewBudget()
	if r.item.HasPull() {
		r.move(work.CauseResumed, work.StateAwaitingFeedback, "the label was set again: its budgets are reset")
		r.item.State = work.StateAwaitingFeedback
	}
}

// raise resumes an item that a budget stopped, once the config allows more.
func (r *itemPlanner) raise() {
	kind := work.KindReview // as any turn that answers nobody
	if r.item.Reason.Name == work.MaxFeedbackRounds {
		kind = r.item.Flow.FeedbackKind()
	}
	if r.item.State != work.StateBlocked || r.item.Reason.Kind != work.WhyItemBudget || !spending.Overspent(spending.Of(r.item.Spent), kind, r.v.Policy.Budgets).None() {
		return
	}
	to := work.StatePending
	switch turn, busy := r.unfinished(); {
	case busy:
		to = work.StateRunning
		r.p.add(change.ResumeTurn{Turn: turn.ID})
		turn.Blocked = false
		r.item.Turn = &turn
	case r.item.HasPull():
		to = work.StateAwaitingFeedback
	}
	r.moves(work.Move{Cause: work.CauseResumed, To: to}, r.words("resume", "", "the config allows more"))
	r.item.State, r.item.Since, r.item.Reason = to, r.v.Now, work.Reason{}
}

// renewBudget resets the item's budgets.
func (r *itemPlanner) renewBudget() {
	r.item.Spent = nil
	if !slices.ContainsFunc(Of[change.RenewBudget](*r.p), func(c change.RenewBudget) bool { return c.Item == r.item.ID }) {
		r.p.add(change.RenewBudget{Item: r.item.ID})
	}
}

// noProgress returns why another turn would not fix what the last ones did not; none: it may.
func (r *itemPlanner) noProgress(events []work.Event) work.Reason {
	return spending.NoProgress(r.item.Spent, r.item.Findings, r.item.Pull.HeadOID, events)
}
