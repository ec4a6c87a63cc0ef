package plan

import (
	"fmt"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// unfinished returns the item's unfinished turn, from the database or from a held slot that names
// the item.
func (r *itemPlanner) unfinished() (work.Turn, bool) {
	if r.item.Turn != nil {
		return *r.item.Turn, true
	}
	for _, h := range r.v.Held {
		if h.Repo == r.v.Repo.Name.String() && (h.Issue == r.item.Number || r.item.HasPull() && h.Number == r.item.Pull.Number) {
			return work.Turn{Key: h.Turn, Number: h.Number}, true
		}
	}
	return work.Turn{}, false
}

// busy plans the wait for an unfinished turn, or resumes one that waits for a person's comment.
func (r *itemPlanner) busy(t work.Turn) {
	switch {
	case t.Blocked && r.answeredSince():
		r.p.add(change.ResumeTurn{Turn: t.ID})
		r.moves(work.Move{Cause: work.CauseResumed, To: work.StateRunning}, r.words("resume", t.Kind, "a person answered"))
	case t.Blocked:
		r.waitBlocked(t.Kind, r.item.Reason.Or(t.WaitReason))
	case t.NotBefore.After(r.v.Now):
		why := underway(t, Around{Now: r.v.Now}).Why
		r.waitFor(t.Kind, fmt.Sprintf("until %s: %s", work.Stamp(t.NotBefore), explain.Reason(why, r.v.Here(r.item)).Here()), why)
	default:
		r.waitFor(t.Kind, "a turn is running", underway(t, Around{Now: r.v.Now, Live: true}).Why)
	}
}

// answeredSince reports whether somebody with permission commented since the item was stopped.
func (r *itemPlanner) answeredSince() bool {
	return slices.ContainsFunc(r.item.Events, func(e work.Event) bool { return e.Kind.IsComment() && e.SeenAt.After(r.item.Since) })
}

// start plans the turn that opens the pull request.
func (r *itemPlanner) start() {
	still, unheard := r.item.Stopped(), r.pendingIssueComments()
	answered := still && len(unheard) > 0
	switch {
	case answered, still && r.item.Relabelled(), !still && (r.item.Labelled() || r.item.BegunAgain()):
	case still:
		r.waitBlocked("", r.item.Reason)
		return
	default:
		return
	}
	if r.unconfirmed() {
		return
	}
	var events []work.Event
	for _, e := range r.item.Events {
		if work.StartsItem(r.item.Item, e) || e.Kind == work.EventSource {
			events = append(events, e)
		}
	}
	reason := "label " + r.item.Label
	if r.item.Flow == work.FlowImplementation {
		reason = fmt.Sprintf("the design was merged by #%d", r.item.DesignPull)
	}
	if r.item.Replans() {
		reason = "the roadmap is to change"
	}
	switch {
	case r.item.Labelled():
	case len(unheard) == 0:
		reason = "it is tried again"
	default:
		reason = work.Count(len(unheard), "answer") + " by " + work.Authors(unheard)
		if quiet := r.quietUntil(unheard); quiet.After(r.v.Now) {
			r.wait("", work.Reason{Kind: work.WhyQuiet, At: quiet.UnixMilli()})
			return
		}
	}
	t := Turn{
		Kind: r.item.Flow.StartKind(), Number: r.item.Number, Base: r.v.Repo.DefaultBranch, Events: events, Reason: reason,
		Unheard: unheard,
	}
	switch {
	case r.awaitsDocument(t.Kind):
	case r.item.Reason.Kind == work.WhyItemBudget && still && !r.withinBudgets(t.Kind): // a person let it begin before that stopped it
	case !r.item.Replans() && r.waitsForOthers(t.Kind): // the roadmap has begun, and its parts may block its issue
	case r.belowRoadmap(t):
	case r.item.State != work.StateReady:
		r.plan(t)
	case r.withinBudgets(t.Kind):
		r.p.waiting = append(r.p.waiting, r.complete(t))
	}
}

// feedback plans the turn that answers people on the pull request.
func (r *itemPlanner) feedback() {
	said := known.Without(r.item.Events, func(e work.Event) bool { return !e.Kind.IsComment() })
	reviewsOf(r).lift()
	switch {
	case r.item.State != work.StateBlocked && reviewsOf(r).about().PersonAsks(): // a push for other reasons would change the head that the person asked about
		reviewsOf(r).plan()
		return
	case r.item.State == work.StateBlocked && !r.answeredSince():
		reviewsOf(r).rest()
		r.waitBlocked("", r.item.Reason)
		return
	case len(said) == 0:
		if !reviewsOf(r).keepStopped() && !r.fixChecks() {
			reviewsOf(r).plan()
		}
		return
	}
	if quiet := r.quietUntil(said); quiet.After(r.v.Now) {
		r.wait("", work.Reason{Kind: work.WhyQuiet, At: quiet.UnixMilli()})
		return
	}
	reason := work.Count(len(said), "new comment") + " by " + work.Authors(said)
	if len(said) > r.v.Policy.MaxEvents {
		said = said[:r.v.Policy.MaxEvents]
		reason += fmt.Sprintf(", the first %d now", r.v.Policy.MaxEvents)
	}
	r.plan(Turn{
		Kind: r.item.Flow.FeedbackKind(), Number: r.item.Pull.Number, Branch: r.item.Pull.Branch, Base: r.item.Pull.Base, Head: r.item.Pull.HeadOID,
		Events: said, Reason: reason,
	})
}

func (r *itemPlanner) plan(t Turn) {
	if r.withinBudgets(t.Kind) {
		r.p.add(r.complete(t))
	}
}

// complete adds the item and since when the turn waits.
func (r *itemPlanner) complete(t Turn) Turn {
	t.Item = r.item.Item
	t.Since = r.v.Now
	for _, e := range t.Events {
		if e.SeenAt.Before(t.Since) {
			t.Since = e.SeenAt
		}
	}
	return t
}

// quietUntil returns when the quiet period after the comments ends.
func (r *itemPlanner) quietUntil(said []work.Event) time.Time {
	return known.QuietUntil(said, r.v.Policy.QuietPeriod)
}
