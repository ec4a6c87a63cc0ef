package plan

import (
	"fmt"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// reviews plans the reviews of an item's pull request. It turns what internal/work/review decides into
// turns and stops.
type reviews struct{ *itemPlanner }

func reviewsOf(r *itemPlanner) reviews { return reviews{r} }

// about returns the facts that the decision depends on.
func (r reviews) about() review.Item {
	i := r.item
	said := 0
	for _, e := range i.Events {
		if e.Kind.IsComment() {
			said++
		}
	}
	facts := i.Reviews
	facts.MergeApproved = slices.ContainsFunc(i.Landing.MergeApprovals, func(w merging.MergeApproval) bool { return i.Pull.Brings(w.Head, w.MergeBase) })
	return review.Item{
		ID: i.ID, Repo: r.v.Repo, Pull: i.Pull, Labels: r.v.Policy.Labels, Facts: facts, Policy: i.Reviewers,
		Held: i.HeldBack, LabelHead: i.LabelHead, Unanswered: said, UntilGreen: i.UntilGreen, Now: r.v.Now,
	}
}

func (r reviews) record() review.Record { return r.item.Reviews.Record }

// stopped reports whether a person must act before any review or fix.
func (r reviews) stopped() bool {
	return r.item.HasPull() && r.about().HasReviews() && r.record().State.Stopped()
}

// end stores that the pull request was merged or closed.
func (r reviews) end() {
	if r.item.HasPull() && r.item.Pull.State != work.PullOpen && r.record().State != "" {
		r.take(r.about().Choose())
		r.rest()
	}
}

// rest finishes due reviews and marks the reviews as decided until the item changes.
func (r reviews) rest() {
	r.due("")
	r.markDecided(review.Choice{})
}

// lift restarts stopped reviews if a reviewer has decided since. A dismissed verdict or a push
// restarts nothing but is shown.
func (r reviews) lift() {
	if !r.stopped() {
		return
	}
	c := r.about().Choose()
	if r.take(c); c.State.Stopped() {
		return
	}
	if r.item.State == work.StateBlocked {
		r.moves(work.Move{Cause: work.CauseResumed, To: work.StateAwaitingFeedback}, r.words("resume", "", "a reviewer decided"))
		r.item.State, r.item.Since, r.item.Reason = work.StateAwaitingFeedback, r.v.Now, work.Reason{}
	}
}

// keepStopped keeps the item stopped while its reviews are: a turn that answers people lifts the
// stop only while it runs. It reports whether they are stopped.
func (r reviews) keepStopped() bool {
	if !r.stopped() {
		return false
	}
	r.rest()
	r.stop(r.record().Why)
	return true
}

// plan plans the next review or fix. A turn for comments, red checks or conflicts comes first.
func (r reviews) plan() {
	r.ready()
	if !r.about().HasReviews() {
		r.rest()
		return
	}
	c := r.about().Choose()
	r.take(c)
	key := ""
	if c.Ask == review.AskReview || c.Ask == review.AskFix {
		key = c.Key
	}
	asked := r.due(key)
	if c.Ask == review.AskFix && r.besideOthers() {
		return
	}
	if key != "" {
		r.turn(c, asked)
		return
	}
	r.markDecided(c)
	if c.State.Stopped() {
		r.stop(c.Why)
		return
	}
	if c.Ask == review.AskRequest {
		r.request(c.Reviewer)
	}
	if landingOf(r.itemPlanner).decided() {
		return // land plans the wait
	}
	if why := r.item.ReviewWait(review.Record{Head: r.item.Pull.HeadOID, Why: c.Why}); !why.None() {
		r.wait("", mergeable(r.item, Outlook{}, why))
	}
}

// ready marks a draft that is green as ready for review, once.
func (r reviews) ready() {
	token := work.ReadyToken(r.v.Repo.Key(), r.item.Pull.Number, r.item.Pull.HeadOID)
	if !r.about().Ready() || r.item.Notices[token] != "" {
		return
	}
	r.notice(work.Action{
		RepoID: r.v.Repo.ID, ItemID: r.item.ID, Kind: work.ActionReady, Need: work.NeedRequired, Token: token, State: work.ActionPlanned,
		Number: r.item.Pull.Number, Target: r.item.Pull.NodeID, Head: r.item.Pull.HeadOID, Why: "it is green",
	}, "the draft is green, and is marked as ready for review")
}

// due returns the stored event of the due review or fix with this key. Events of other reviews are
// finished.
func (r reviews) due(key string) []work.Event {
	var due, old []work.Event
	r.item.Events = known.Without(r.item.Events, func(e work.Event) bool {
		switch {
		case e.Kind != work.EventReviewDue && e.Kind != work.EventFixDue:
			return false
		case e.Key == key:
			due = append(due, e)
		default:
			old = append(old, e)
		}
		return true
	})
	r.finish("stale: the reviews moved on", old...)
	return due
}

// turn plans a review or a fix. Its event is stored with the turn; if no slot is free nothing is
// stored, and the next pass decides the same.
func (r reviews) turn(c review.Choice, asked []work.Event) {
	t := Turn{
		Kind: work.KindReview, Number: r.item.Pull.Number, Branch: r.item.Pull.Branch, Base: r.item.Pull.Base, Head: r.item.Pull.HeadOID,
		Events: asked, Reviewer: c.Reviewer.Name, Reason: fmt.Sprintf("reviewer %s is next", c.Reviewer.Name),
	}
	if c.Ask == review.AskFix {
		t.Kind, t.Reason = work.KindFix, fmt.Sprintf("reviewer %s requests changes", c.Reviewer.Name)
	}
	if len(asked) == 0 {
		t.Trigger = r.about().Trigger(c.Key)
	}
	if !r.withinBudgets(t.Kind) {
		return
	}
	t = r.complete(t)
	if since := r.record().Since; since.Before(t.Since) {
		t.Since = since
	}
	r.p.add(t)
}

// request asks a person to review this head, once.
func (r reviews) request(who review.Reviewer) {
	r.p.add(change.RequestReview{Pull: r.item.Pull.ID, Reviewer: who.Name, Head: r.about().Subject(who.Name)})
	if a, sent := r.about().Request(who); sent {
		r.notice(a, who.Login+" is asked for a review")
	}
}

// take stores a new decision and plans the labels, comments and statuses that show it on GitHub.
func (r reviews) take(choice review.Choice) {
	for _, a := range r.moveTo(choice) {
		r.p.add(change.Notice{Action: a})
	}
}

// moveTo adds the change to which a choice leads, and returns what GitHub is told of it.
func (r reviews) moveTo(choice review.Choice) []work.Action {
	step, changed := r.about().Take(choice)
	if !changed {
		return nil
	}
	c := change.Review{Item: r.item.ID, Number: r.item.Pull.Number, Step: step}
	if step.Moves() {
		c.Words = r.words("review", "", step.String())
	}
	r.p.add(c)
	r.item.Reviews.Record, r.item.Reviews.Inserted = step.Record, slices.Concat(r.item.Reviews.Inserted, step.Inserted)
	return step.Notices
}

// stopNow stops the reviews if that is what the next plan does: status shows it as done, with the command
// that ends it. It returns what GitHub is told of that, unless the command ends it.
func (r reviews) stopNow() []work.Action {
	if !r.item.HasPull() || !r.about().HasReviews() || r.stopped() {
		return nil
	}
	if c := r.about().Choose(); c.State.Stopped() {
		return r.moveTo(c)
	}
	return nil
}

// markDecided marks the reviews as decided until something changes. Reviews that wait for running
// checks, or for some that never started, are not marked: they wait for an hour at most, and no event tells when the hour has
// passed. Nor are those of a draft that is marked as ready once it is green: no event tells how that ended.
func (r reviews) markDecided(c review.Choice) {
	runs := (c.Why.Kind == work.WhyReviewChecks || c.Why.Kind == work.WhyReviewNoCI) && !r.item.Pull.ChecksSince.IsZero() || c.Why.Kind == work.WhyUntilGreen
	said := slices.ContainsFunc(Of[change.ReviewsDecided](*r.p), func(c change.ReviewsDecided) bool { return c.DecidedInputs == r.item.Decided })
	if r.item.ReviewsChanged && !runs && !said {
		r.p.add(change.ReviewsDecided{DecidedInputs: r.item.Decided})
	}
}
