package plan

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// For decides what is to be done. It is a pure function of the snapshot; in which
// order its rows come does not matter.
func For(v Snapshot) Plan {
	v = v.ordered()
	p := Plan{Repo: v.Repo, Served: v.Served, Handings: v.Handings}
	for _, item := range v.Items {
		r := itemPlanner{v: v, p: &p, item: item, costs: v.Spent[item.ID]}
		r.pull, r.hasPull = v.Pulls[item.ID]
		for _, e := range v.Events {
			if e.ItemID == item.ID {
				r.events = append(r.events, e)
			}
		}
		r.route()
	}
	p.strays(v)
	p.schedule(&v)
	p.hold(v.Day)
	return p
}

// ordered is the snapshot with its items as they came to be, and its events
// oldest first: a turn takes the first of them.
func (v Snapshot) ordered() Snapshot {
	v.Items, v.Events = slices.Clone(v.Items), slices.Clone(v.Events)
	slices.SortStableFunc(v.Items, func(a, b work.Item) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortStableFunc(v.Events, func(a, b work.Event) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return v
}

// itemPlanner plans for one work item.
type itemPlanner struct {
	v       Snapshot
	p       *Plan
	item    work.Item
	pull    work.PullRequest
	hasPull bool
	events  []work.Event
	costs   []work.Spent
	begun   []work.Pause // by commands of this plan
	pointed []work.Event // to the pull request, by this plan
}

func (r *itemPlanner) route() {
	if r.commander().commands() || r.ended() {
		return
	}
	r.note(work.EventHead, work.EventReopened, work.EventClosed)
	r.renew()
	if r.hasPull {
		r.note(work.EventLabelled, work.EventMerged)
		r.settled()
		r.stale()
	}
	if r.paused() {
		return
	}
	if r.hasPull {
		r.redirects()
	}
	r.acknowledge()
	switch turn, busy := r.unfinished(); {
	case busy:
		r.busy(turn)
	case r.hasPull && r.pull.Rewritten():
		r.rewritten()
	case r.hasPull:
		r.feedback()
	default:
		r.start()
	}
}

// ended honours what became of the pull request or the issue, from any state.
func (r *itemPlanner) ended() bool {
	if !r.hasPull && !r.item.State.Open() && r.relabelled() {
		r.move(work.CauseLabelled, work.StatePending, "the label was set again while an earlier start was cancelled")
		r.p.Renewed, r.costs = append(r.p.Renewed, r.item.ID), nil
		return false
	}
	cause, to, why := work.Cause(""), r.item.State, ""
	switch {
	case r.hasPull && r.pull.State == work.PullMerged:
		cause, to, why = work.CausePullMerged, work.StateCompleted, fmt.Sprintf("pull request #%d was merged", r.pull.Number)
		if r.item.Flow == work.FlowDesign {
			to = work.StateMerged
		}
	case r.hasPull && r.pull.State == work.PullClosed:
		cause, to, why = work.CausePullClosed, work.StateClosed, fmt.Sprintf("pull request #%d was closed", r.pull.Number)
	case r.hasPull && !r.item.State.Open():
		cause, to, why = work.CauseReopened, work.StateAwaitingFeedback, fmt.Sprintf("pull request #%d was reopened", r.pull.Number)
	case !r.hasPull && r.issueClosed():
		cause, to, why = work.CauseWithdrawn, work.StateClosed, "the issue was closed, or its label taken away"
	}
	if to != r.item.State {
		r.move(cause, to, why)
	}
	if to.Open() {
		return false
	}
	r.note(work.EventMerged, work.EventClosed, work.EventReopened, work.EventHead, work.EventLabelled)
	if why == "" {
		why = "the work item is " + string(to)
	}
	r.finishRedirected()
	outcome := work.OutcomeVoid + why
	r.finish(outcome, r.events...)
	return true
}

func (r *itemPlanner) move(cause work.Cause, to work.State, why string) {
	r.p.Moves = append(r.p.Moves, work.Move{Item: r.item.ID, Cause: cause, To: to})
	if r.item.Parent != 0 && to == work.StateCompleted {
		r.p.Moves = append(r.p.Moves, work.Move{Item: r.item.Parent, Cause: work.CauseFulfilled, To: to})
	}
	r.line("move", "", why)
}

// issueClosed reports whether the newest of the issue's pending closings and
// reopenings is a closing.
func (r *itemPlanner) issueClosed() bool {
	closed := false
	for _, e := range r.events {
		if e.Number != r.item.Number {
			continue
		}
		if e.Kind == work.EventClosed {
			closed = true
		}
		if e.Kind == work.EventReopened {
			closed = false
		}
	}
	return closed
}

// note finishes facts that ask for nothing.
func (r *itemPlanner) note(kinds ...work.EventKind) {
	var noted []work.Event
	r.events = slices.DeleteFunc(r.events, func(e work.Event) bool {
		if slices.Contains(kinds, e.Kind) {
			noted = append(noted, e)
			return true
		}
		return false
	})
	r.finish("noted", noted...)
}

func (r *itemPlanner) finish(outcome string, events ...work.Event) {
	if len(events) == 0 {
		return
	}
	ids := make([]int64, len(events))
	for i, e := range events {
		ids[i] = e.ID
	}
	r.p.Finished = append(r.p.Finished, Finish{Events: ids, Outcome: outcome})
	r.line("finish", "", fmt.Sprintf("%s: %s", work.Count(len(events), "event"), outcome))
}

func (r *itemPlanner) line(what string, kind work.Kind, reason string) {
	number := r.item.Number
	if r.hasPull {
		number = r.pull.Number
	}
	r.p.Lines = append(r.p.Lines, Line{Number: number, Kind: kind, What: what, Reason: reason})
}
