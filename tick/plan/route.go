package plan

import (
	"errors"
	"fmt"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// For plans a repository. It is a pure function of the snapshot; the order of its rows does not
// matter.
func For(v known.Snapshot) Plan {
	p := &Plan{Repo: v.Repo, Served: v.Served}
	var landings []landing
	for _, item := range known.InOrder(v.Items) {
		p.contain(v, item, func() {
			if l := p.take(v, item); l.concerns() {
				landings = append(landings, l)
			}
		})
	}
	p.land(&v, landings)
	if len(landings) > 0 {
		outlook := p.Outlooks(v)
		for _, r := range landings {
			r.age(outlook(r.item))
		}
	}
	for _, stray := range known.InOrder(v.Untracked) {
		p.contain(v, stray, func() { plannerOf(v, p, stray).commander().commands() })
	}
	p.tables(v)
	p.unfold(v)
	p.beginBelow(v)
	p.schedule(&v)
	if len(p.below) > 0 {
		outlook := p.Outlooks(v)
		for _, b := range p.below {
			b.planner.age(outlook(b.planner.item))
		}
	}
	p.Hold(func(Turn) work.Reason { return v.Day.Why }) // nothing stops and no attempt counts: they start once the budgets allow it
	return *p
}

// take plans one item by itself, and returns what merging it depends on.
func (p *Plan) take(v known.Snapshot, item known.Item) landing {
	if b, due := item.Banner(); due {
		p.add(change.Takeover{PauseBanner: b})
	}
	r := plannerOf(v, p, item)
	made, decides, candidates := len(p.Decisions), item.NeedsDecision() || item.Wait.Due(v.Now), len(p.below)
	landingOf(r).lift()
	if decides {
		r.route()
	}
	switch {
	case landingOf(r).concerns(), len(p.below) > candidates: // the end of the plan decides
	case decides:
		r.age(Plan{Decisions: p.Decisions[made:]}.Outlooks(v)(r.item))
	}
	return landingOf(r)
}

// contain plans an item, or stops it if that panics. Nothing else is planned for it then. An item with
// an unfinished turn is stopped once the turn has ended.
func (p *Plan) contain(v known.Snapshot, item known.Item, take func()) {
	before := *p
	err := work.Contain("plan "+work.Ref(v.Repo.Name, item.Number), func() error { take(); return nil })
	broken, ok := errors.AsType[*work.PanicError](err)
	if !ok {
		return
	}
	*p = before
	why := broken.Reason()
	says := change.Line{Item: item.ID, Number: item.Number, What: "wait", Reason: explain.What(why, explain.Place{}), Code: why.Kind, Why: []work.Reason{why}}
	p.Panics = append(p.Panics, broken)
	switch {
	case item.ID == 0 || !item.State.Open():
	case item.Turn == nil && !item.StoppedBy(why):
		p.add(change.Move{Move: work.Move{Item: item.ID, Cause: work.CauseStopped, To: work.StateBlocked, Reason: why}, Words: change.Words{Says: says}})
	default:
		p.add(Wait{change.Words{Says: says}})
	}
}

// itemPlanner plans one work item.
type itemPlanner struct {
	v       known.Snapshot
	p       *Plan
	item    known.Item   // a copy, with this plan's decisions
	begun   []work.Pause // started by commands of this plan
	pointed []work.Event // redirected to the pull request by this plan
}

// plannerOf returns a planner for a copy of the item; the snapshot is not changed.
func plannerOf(v known.Snapshot, p *Plan, item known.Item) *itemPlanner {
	return &itemPlanner{v: v, p: p, item: item.Sorted()}
}

func (r *itemPlanner) route() {
	if r.item.Flow == work.FlowRoadmap && r.item.HasPull() && r.item.Pull.State == work.PullMerged {
		r.moveToEnd() // commands of this pass are for the merged roadmap
	}
	closing := r.commander().commands()
	if reviewsOf(r).end(); closing || r.applyEnd() {
		return
	}
	r.tellFaults()
	r.note(work.EventHead, work.EventReopened, work.EventClosed)
	r.renew()
	r.raise()
	if r.item.HasPull() {
		r.note(work.EventLabelled, work.EventMerged)
		r.settled()
		r.finishStale()
	}
	if r.paused() {
		return
	}
	if r.item.HasPull() {
		r.redirects()
	}
	r.acknowledge()
	switch turn, busy := r.unfinished(); {
	case busy:
		r.busy(turn)
	case r.item.HasPull() && r.item.Pull.Rewritten():
		r.rewritten()
	case r.item.HasPull():
		r.feedback()
	default:
		r.start()
	}
}

// applyEnd applies the end or reopening of the pull request or issue, from any state; true: the
// item is over.
func (r *itemPlanner) applyEnd() bool {
	if !r.item.HasPull() && !r.item.State.Open() && r.item.Relabelled() {
		r.move(work.CauseLabelled, work.StatePending, "the label was set again while an earlier start was cancelled")
		r.renewBudget()
		return false
	}
	why := r.moveToEnd()
	if r.item.State.Open() {
		return false
	}
	r.note(work.EventMerged, work.EventClosed, work.EventReopened, work.EventHead, work.EventLabelled)
	if why == "" {
		why = "the work item is " + string(r.item.State)
	}
	r.finishRedirected()
	r.pointToReplan()
	outcome := work.OutcomeVoid + why
	r.finish(outcome, r.item.Events...)
	if r.item.Pull.State == work.PullOpen { // a pull request of somebody else without its label: passes do not read its pushes
		reviewsOf(r).markDecided(review.Choice{})
	}
	return true
}

// moveToEnd moves the item if its pull request or issue ended, or was reopened, and returns why.
func (r *itemPlanner) moveToEnd() (why string) {
	cause, to, reason := work.Cause(""), r.item.State, work.Reason{}
	switch {
	case r.item.HasPull() && r.item.Pull.State == work.PullMerged:
		cause, to, why = work.CausePullMerged, work.StateCompleted, fmt.Sprintf("pull request #%d was merged", r.item.Pull.Number)
		if r.item.Flow.Document() && !r.item.Replans() && r.item.State != work.StateCompleted { // a change of a roadmap leaves nothing to do
			to = work.StateMerged
		}
	case r.item.HasPull() && r.item.Pull.State == work.PullClosed:
		cause, to, why = work.CausePullClosed, work.StateClosed, work.ReasonClosed
		if r.item.BranchDeleted() {
			reason = work.Reason{Kind: work.WhyClosed, Number: r.item.Pull.Number, Branch: r.item.Pull.Branch}
		}
	case r.item.ReviewWithdrawn():
		if cause, to = work.CauseWithdrawn, work.StateClosed; r.item.State != to {
			why = "the label was taken away"
		}
	case r.item.Flow == work.FlowReview && !r.item.State.Open():
		if r.item.AskedAgain() {
			cause, to, why = work.CauseReopened, work.StateAwaitingFeedback, "it is to be reviewed again"
		}
	case r.item.Replans() && !r.item.State.Open() && r.roadmapOver(r.item.Parent): // nothing would come of it
	case r.item.HasPull() && !r.item.State.Open():
		cause, to, why = work.CauseReopened, work.StateAwaitingFeedback, fmt.Sprintf("pull request #%d was reopened", r.item.Pull.Number)
	case !r.item.HasPull() && r.item.Replans() && r.item.State.Open() && r.roadmapOver(r.item.Parent):
		cause, to, why = work.CauseWithdrawn, work.StateClosed, "the roadmap is over"
	case !r.item.HasPull() && r.item.IssueCloses():
		cause, to, why = work.CauseWithdrawn, work.StateClosed, "the issue was closed, or its label taken away"
	}
	if to != r.item.State {
		r.moveFor(work.Move{Cause: cause, To: to, Reason: reason}, why)
	}
	r.item.State = to
	return why
}

func (r *itemPlanner) move(cause work.Cause, to work.State, why string) {
	r.moveFor(work.Move{Cause: cause, To: to}, why)
}

func (r *itemPlanner) moveFor(m work.Move, why string) {
	r.moves(m, r.words("move", "", why))
	if r.item.Parent != 0 && !r.item.Replans() && m.To == work.StateCompleted {
		r.p.add(change.Move{Move: work.Move{Item: r.item.Parent, Cause: work.CauseFulfilled, To: m.To}})
	}
}

// note finishes events that need no answer.
func (r *itemPlanner) note(kinds ...work.EventKind) {
	var noted []work.Event
	r.item.Events = known.Without(r.item.Events, func(e work.Event) bool {
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
	r.p.add(change.FinishEvents{
		Events: ids, Outcome: outcome, Words: r.words("finish", "", fmt.Sprintf("%s: %s", work.Count(len(events), "event"), outcome)),
	})
}

// moves plans a move of the item.
func (r *itemPlanner) moves(m work.Move, words change.Words) {
	m.Item = r.item.ID
	r.p.add(change.Move{Move: m, Words: words})
}

// words returns the line of a decision about the item. A merged roadmap goes by its issue.
func (r *itemPlanner) words(what string, kind work.Kind, reason string) change.Words {
	number := r.item.Number
	if r.item.HasPull() && (r.item.Flow != work.FlowRoadmap || r.item.Pull.State != work.PullMerged) {
		number = r.item.Pull.Number
	}
	return change.Words{Says: change.Line{Item: r.item.ID, Number: number, Kind: kind, What: what, Reason: reason}}
}

// wait plans why nothing is done for the item.
func (r *itemPlanner) wait(kind work.Kind, why work.Reason) {
	r.waitFor(kind, explain.Reason(why, r.v.Here(r.item)).Here(), why)
}

// waitBlocked plans a wait for a person, with the reason.
func (r *itemPlanner) waitBlocked(kind work.Kind, why work.Reason) {
	r.waitFor(kind, r.blockedBy(why), why)
}

func (r *itemPlanner) blockedBy(why work.Reason) string {
	return string(r.item.State) + ": " + explain.Reason(why, r.v.Here(r.item)).Here()
}

// waitFor plans a wait. said is the text that the plan prints, why are the stored reasons.
func (r *itemPlanner) waitFor(kind work.Kind, said string, why ...work.Reason) {
	w := r.words("wait", kind, said)
	w.Says.Code, w.Says.Why = why[0].Kind, why
	r.p.add(Wait{w})
}

// rewritten stops an item whose branch was rewritten. The reason names the head and is updated with
// it.
func (r *itemPlanner) rewritten() {
	r.stop(lostHead(r.item.Pull))
}

// lostHead is the reason of a rewritten branch.
func lostHead(pull work.PullRequest) work.Reason {
	return work.Reason{Kind: work.WhyRewritten, Branch: pull.Branch, Commit: pull.LostOID, Head: pull.HeadOID}
}

// unconfirmed stops an item whose issue was edited since its labelling. Comments do not resume it:
// none says that somebody has read the new text.
func (r *itemPlanner) unconfirmed() bool {
	if r.item.Edited == "" {
		return false
	}
	r.stop(work.Reason{Kind: work.WhyIssueEdited, Text: r.item.Edited})
	return true
}

// accept plans an acceptance of the head and applies it to the rest of the plan.
func (r *itemPlanner) accept(a explain.Acceptance) {
	r.p.add(change.AcceptHead{Acceptance: a, Words: r.words("resume", "", "a person accepted the head "+work.Short(a.Head))})
	r.item.Pull.AcceptedOID = a.Head
}

// paused reports whether the item is paused. Its events wait; a turn after its first effect runs to
// its end.
func (r *itemPlanner) paused() bool {
	if r.item.Pause == nil {
		return false
	}
	why := r.item.Pause.Reason()
	w := explain.Reason(why, r.v.Here(r.item))
	r.waitFor("", w.What+"; to resume: "+w.Next(), why)
	return true
}

// pendingIssueComments returns the comments on the issue that no turn was given.
func (r *itemPlanner) pendingIssueComments() []work.Event {
	return known.Without(r.item.Events, func(e work.Event) bool {
		if e.Kind != work.EventSource {
			return true
		}
		if r.item.Followup != nil {
			return r.item.SeenByTurn(e)
		}
		return !e.SeenAt.After(r.item.Since)
	})
}
