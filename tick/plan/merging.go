package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/internal/work/sorted"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// Merging decides whether an item's pull request may be merged now, regardless of others.
func Merging(v known.Snapshot, item known.Item) merging.Choice {
	return landingOf(plannerOf(v, &Plan{}, item)).choose()
}

// landing plans the merge of an item's pull request. It turns the decision of merging.Decide into
// action rows, stops and waits.
type landing struct{ *itemPlanner }

func landingOf(r *itemPlanner) landing { return landing{r} }

func (r landing) choose() merging.Choice {
	if !r.item.AutoMerges() {
		return merging.Choice{}
	}
	return merging.Decide(r.facts(), r.item.Landing.Policy)
}

// facts returns the facts that the merge depends on.
func (r landing) facts() merging.Facts {
	i, has := r.item, r.approvals()
	f := merging.Facts{
		Pull: i.Pull, Flow: i.Flow, Issue: i.Number, Box: i.Landing.Box, Approved: has.All, Wanting: has.Wanting, Person: has.Person, Against: r.against(has.Against), Unread: has.Unread, MergeApprovals: i.Landing.MergeApprovals,
		OtherCommits: r.otherCommits(), Asked: r.asked(), Held: i.HeldBack, First: r.first(), Trouble: i.Landing.Stops(), Halt: r.v.Halt, Taken: i.Taken(), Unclear: i.Unclear(), Refused: i.Refused(r.v.Now), UntilGreen: i.UntilGreen,
		Updated: i.Updated(), Current: i.Current(), Now: r.v.Now,
	}
	_, f.Queued = i.Queued()
	if t, busy := r.unfinished(); busy {
		f.Answers = t.Kind != work.KindReview
	}
	if p := i.Pause; p != nil && f.Held == nil {
		f.Held = &review.Held{By: p.By, At: p.Began}
	}
	if f.Trouble.None() && r.stoppedAtHead() { // without the database, only the stop comment knows
		f.Trouble = i.Reason
	}
	f.Faults = i.Faults
	for _, e := range i.Events {
		if e.Kind.IsComment() {
			f.Unanswered++
		}
	}
	return f
}

// otherCommits reports whether a person approved this head when merging it brought other commits.
func (r landing) otherCommits() bool {
	pull := r.item.Pull
	return slices.ContainsFunc(r.item.Landing.MergeApprovals, func(w merging.MergeApproval) bool {
		return w.Head == pull.HeadOID && !pull.Brings(w.Head, w.MergeBase)
	}) || slices.ContainsFunc(r.item.Reviews.Verdicts, func(v review.Verdict) bool {
		other := v.Validity == review.BaseMoved || !pull.Brings(v.Head, v.MergeBase)
		return v.Human && v.Decision == review.Approve && v.Head == pull.HeadOID && v.Validity != review.TakenBack && other
	})
}

// approvals returns who has approved the head, by the stored verdicts and what GitHub's merge box
// shows of them now.
func (r landing) approvals() review.Approvals {
	of, box := reviewsOf(r.itemPlanner).about(), r.item.Landing.Box
	of.Facts.Verdicts = slices.Clone(of.Facts.Verdicts)
	last := map[int64]string{}
	for _, o := range box.Opinions() {
		last[o.By.ID] = o.State
	}
	for n, v := range of.Facts.Verdicts {
		gone := slices.ContainsFunc(box.Reviews, func(o merging.Review) bool { return o.ID == v.ReviewID && o.State == dismissed })
		said, known := last[v.By.ID]
		if v.ReviewID != 0 && (gone || v.Human && v.Decision == review.Approve && known && said != "APPROVED") {
			of.Facts.Verdicts[n].Validity = review.TakenBack
		}
	}
	return of.Approvals()
}

// The states of reviews, in GitHub's words.
const (
	changesRequested = "CHANGES_REQUESTED"
	dismissed        = "DISMISSED"
)

// against returns who requests changes: those whose last review does so, as the merge box shows it,
// and of stored ones those of whom the box shows nothing else.
func (r landing) against(stored []string) []string {
	all := slices.Clone(r.item.Landing.Against)
	for _, login := range stored {
		other := slices.ContainsFunc(r.item.Landing.Box.Opinions(), func(o merging.Review) bool {
			return strings.EqualFold(o.By.Login, login) && o.State != changesRequested
		})
		if !other {
			all = append(all, login)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// asked returns the labels of which the issue must have one: that of the item, or the one that the
// config names for its flow now. Without a label nothing is asked.
func (r landing) asked() []string {
	of := r.v.Policy.Labels
	switch {
	case r.item.Label == "":
		return nil
	case r.item.Flow == work.FlowImplementation: // the label of its design
		return []string{r.item.Label, of.Of(work.FlowDesign), of.Of(work.FlowImplementation)}
	}
	return []string{r.item.Label, of.Of(r.item.Flow)}
}

// stoppedAtHead reports whether the item is stopped by an attempt to merge its current head.
func (r landing) stoppedAtHead() bool {
	return r.item.State == work.StateBlocked && merging.Stays(r.item.Reason.Kind) && r.item.Reason.Head == r.item.Pull.HeadOID
}

// occupied reports whether something comes before a merge.
func (r landing) occupied() bool { return !r.first().None() }

// first returns what comes before a merge: what an agent does or will do, or for what a person must
// act. After a push of ours that is the new head, until a pass reads it on GitHub: facts and stops are
// about the old one.
func (r landing) first() work.Reason {
	turn := func(kind work.Kind) work.Reason {
		return work.Reason{Kind: work.WhyMergeBusy, Name: string(cmp.Or(kind, r.item.Flow.FeedbackKind()))}
	}
	if t, busy := r.unfinished(); busy {
		return turn(t.Kind)
	}
	for _, e := range r.item.Events {
		switch e.Kind { //nolint:exhaustive // no other asks for anything
		case work.EventCommand:
			if r.item.Notices[work.NoticeToken(r.v.Repo.Key(), e.Number, e.Key)] == "" {
				return work.Reason{Kind: work.WhyCommandFirst}
			}
		case work.EventCheck, work.EventFixDue:
			return turn(work.KindFix)
		case work.EventReviewDue:
			return turn(work.KindReview)
		}
	}
	for _, t := range Of[Turn](*r.p) {
		if t.Item.ID == r.item.ID {
			return turn(t.Kind)
		}
	}
	pull, head := r.item.Pull, r.item.NewestHead()
	switch {
	case head != pull.HeadOID:
		return work.Reason{Kind: work.WhyHeadNotRead, Commit: head}
	case pull.Rewritten():
		return lostHead(pull)
	case r.item.Stopped() && !merging.Stops(r.item.Reason.Kind):
		return r.item.Reason.Or(work.Reason{Kind: work.WhyUnknown})
	}
	return work.Reason{}
}

// stopped reports whether the item is stopped because its pull request is not merged.
func (r landing) stopped() bool {
	_, busy := r.unfinished()
	return !busy && r.item.State == work.StateBlocked && merging.Stops(r.item.Reason.Kind)
}

// lift resumes an item once nothing stops its merge. If another reason does, the item is stopped
// for that.
func (r landing) lift() {
	if !r.stopped() || !r.item.HasPull() || r.item.Pull.State != work.PullOpen {
		return
	}
	if c := r.choose(); c.Stop {
		why := r.reason(c)
		if !r.item.Reason.Equal(why) {
			r.moves(work.Move{Cause: work.CauseStopped, To: work.StateBlocked, Reason: why}, change.Words{})
			r.item.Reason = why
		}
		return
	}
	if set, told := r.status(work.Reason{}); told {
		r.p.add(change.Notice{Action: set})
	}
	r.moves(work.Move{Cause: work.CauseResumed, To: work.StateAwaitingFeedback}, r.words("resume", "", "nothing stops the merge any more"))
	r.item.State, r.item.Since, r.item.Reason = work.StateAwaitingFeedback, r.v.Now, work.Reason{}
}

// reason returns why a person must act, with the head.
func (r landing) reason(c merging.Choice) work.Reason {
	why := c.Why
	why.Head = r.item.Pull.HeadOID
	return why
}

// hasDecision reports whether the plan already has a turn or a wait for the item.
func (r landing) hasDecision() bool {
	return slices.ContainsFunc(r.p.Decisions, func(d Decision) bool {
		l := d.Line()
		return l.Item == r.item.ID && (l.What == "turn" || l.What == "wait")
	})
}

// decided reports whether the pull request is ours to merge and its reviews are done.
func (r landing) decided() bool {
	s := r.item.Reviews.Record.State
	return r.item.AutoMerges() && (s == review.Approved || s == review.Checking)
}

// candidate returns the pull request as a candidate for merging; false: something else comes first.
func (r landing) candidate() (merging.Candidate, bool) {
	if !r.decided() || r.hasDecision() {
		return merging.Candidate{}, false
	}
	if r.item.Stopped() && !r.stopped() {
		return merging.Candidate{}, false
	}
	patience := r.item.Landing.Policy.ChecksTimeout
	return merging.Candidate{
		Number: r.item.Pull.Number, Base: r.item.Pull.Base, Updated: r.item.Updated(),
		Sent: r.item.Moves() || r.item.Updating(r.v.Now, patience), Choice: r.choose(),
	}, true
}

// concerns reports whether there is anything to decide about the item's merge.
func (r landing) concerns() bool {
	if !r.item.AutoMerges() {
		return false
	}
	_, may := r.candidate()
	return may || r.choose().Ask == merging.AskDequeue
}

// land chooses among the candidates, one per base.
func (p *Plan) land(v *known.Snapshot, items []landing) {
	of := map[int]landing{}
	var all []merging.Candidate
	for _, r := range items {
		if c := r.choose(); c.Ask == merging.AskDequeue { // before anything else about it
			r.take(c)
			continue
		}
		if c, ok := r.candidate(); ok {
			of[c.Number] = r
			all = append(all, c)
		}
	}
	if len(all) == 0 {
		return
	}
	sorted.By(all, func(a, b merging.Candidate) int { return a.Number - b.Number }) // the order of a queue
	first := of[all[0].Number].item.Landing.Policy
	chosen, waits := merging.Next(slices.Concat(all, underWay(v.Sent, of)), v.Now, first.ChecksTimeout)
	for _, c := range all {
		r := of[c.Number]
		if !r.occupied() {
			r.show(r.halts(c.Choice))
		}
		switch by, later := waits[c.Number]; {
		case c.Choice.Stop && !r.occupied():
			r.stop(r.reason(c.Choice))
		case slices.Contains(chosen, c.Number):
			r.take(c.Choice)
		case later && c.Choice.Ask != merging.AskNothing:
			r.wait("", work.Reason{Kind: work.WhyMergeNext, Number: c.Number, Count: by, Branch: c.Base})
		case !c.Choice.Why.None():
			r.hold(c.Choice)
		}
	}
}

// halts returns why merging the pull request is stopped until a person acts: at this head, or in the
// whole repository. It is none if the merge only waits.
func (r landing) halts(c merging.Choice) work.Reason {
	if c.Stop {
		return r.reason(c)
	}
	for _, g := range c.Gates {
		if g.Why.Kind == work.WhyMergeHalted {
			return g.Why
		}
	}
	return work.Reason{}
}

// status is the commit status of the head; stop is why its merge is stopped, none if it is not.
func (r landing) status(stop work.Reason) (work.Action, bool) {
	of, words := reviewsOf(r.itemPlanner).about(), explain.Reason(stop, r.v.Place(r.item))
	return of.Status(of.Choose(), words.What, words.Next())
}

// show has the commit status of the head say why its merge is stopped, and no longer once it is not.
func (r landing) show(stop work.Reason) {
	set, told := r.status(stop)
	shown := r.item.Landing.Status
	for _, n := range Of[change.Notice](*r.p) {
		if n.Token == set.Token {
			shown = n.Action
		}
	}
	unknown := shown.Token == "" && stop.None() // the reviews plan it
	if told && !unknown && (shown.Target != set.Target || shown.Body != set.Body) {
		r.p.add(change.Notice{Action: set})
	}
}

// hold plans the wait at the closed gate, with the reason.
func (r landing) hold(c merging.Choice) {
	if c.Why.Kind == work.WhyMergeChangesAsked && !r.occupied() { // an agent at work may still push
		r.askAgain(c.Why.Names)
	}
	at, _ := merging.Holds(c.Gates)
	r.waitFor("", fmt.Sprintf("the merge waits at %s: %s", at.Code, explain.Reason(c.Why, r.v.Here(r.item)).Here()), c.Why)
}

// askAgain requests the reviews of people who requested changes of an earlier head, once for each
// head: what they asked for is made, and GitHub does not tell them.
func (r landing) askAgain(logins []string) {
	for _, login := range logins {
		for _, v := range slices.Backward(r.item.Reviews.Verdicts) {
			if !v.Human || v.By.Login != login {
				continue
			}
			if v.Head != r.item.Pull.HeadOID && !slices.Contains(r.item.Reviews.Requested, login) {
				reviewsOf(r.itemPlanner).request(review.Reviewer{Name: login, Login: login})
			}
			break
		}
	}
}

// underWay returns merges and updates in progress whose pull requests are not candidates: they will
// move their base.
func underWay(sent []work.Action, of map[int]landing) (all []merging.Candidate) {
	for _, a := range sent {
		moves := a.Kind == work.ActionUpdateBranch || a.Kind == work.ActionMerge && a.State == work.ActionSent
		if _, one := of[a.Number]; !one && moves {
			all = append(all, merging.Candidate{Number: a.Number, Base: a.Base, Sent: true})
		}
	}
	return all
}

// take plans the chosen action.
func (r landing) take(c merging.Choice) {
	a := r.item.MergeAction(r.v, c, explain.Reason(c.Why, r.v.Here(r.item)).Here())
	r.p.add(change.Merge{Item: r.item.ID, Number: a.Number, Action: a, Choice: c, Words: r.words("merge", "", a.Why)})
}
