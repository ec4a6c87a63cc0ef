package review

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Facts are the inputs of a decision about one pull request's reviews.
type Facts struct {
	Number    int
	Head      string
	Base      string
	MergeBase string    // of head and base; empty: not computed
	ReadAt    time.Time // when a pass last read GitHub
	State     work.PullState
	MergedBy  MergeType // MergedAuto if we merged it; else empty
	Record    Record
	Verdicts  []Verdict // oldest first
	Findings  []Finding
	Fixes     []Fix
	Inserted  []Insertion

	Requested     []string    // names of the reviewers who are people and were asked to review this head
	NoReview      work.Reason // why no review may start now; zero: it may
	NoFix         work.Reason // why no fix may start now; zero: it may
	Retried       bool        // a person's command restarts the reviews
	MergeApproved bool        // a person approved merging this head
	UntilGreen    work.Reason // why it is a draft that nobody but agents reviews yet; zero: it is none
	NotFixable    bool        // somebody else's pull request: its author fixes it
}

// Ask is what to do next.
type Ask string

// The values of Ask.
const (
	AskNothing Ask = ""
	AskReview  Ask = "review"  // a turn of Choice.Reviewer
	AskFix     Ask = "fix"     // a turn of the author's agent
	AskRequest Ask = "request" // request a person's review
)

// Choice is the decision.
type Choice struct {
	State     State
	After     []Event // the events that lead there from Record.State, in order
	Epoch     int
	Cycle     int
	MergeType MergeType
	Reviewer  Reviewer    // who reviews next, or whose findings are fixed
	Ask       Ask         //
	Key       string      // key of the event that asks for it, from DueKey or FixKey
	Rejected  []Verdict   // the verdicts that a fix answers; the first one names it
	Line      []Reviewer  // everybody who must approve
	Why       work.Reason // what it waits for, or why it is stopped
}

// FixCycle counts the pushed fixes since a person last restarted the reviews.
func FixCycle(fixes []Fix, epoch int) int {
	n := 0
	for _, f := range fixes {
		if f.Epoch == epoch && f.Outcome == FixPushed {
			n++
		}
	}
	return n
}

// decide decides how the reviews of a pull request continue.
func decide(f Facts, p Policy) Choice {
	d := decision{f: f, p: p, line: Line(p, f.Inserted)}
	d.c = Choice{State: f.Record.State, Epoch: f.Record.Epoch, Line: d.line, MergeType: f.Record.MergeType}
	d.decide()
	return d.c
}

// decision is the state of one call of decide.
type decision struct {
	f    Facts
	p    Policy
	line []Reviewer
	c    Choice
}

// do applies an event. An event without a transition from the current state is ignored.
func (d *decision) do(e Event) {
	if to, ok := next(d.c.State, e); ok {
		d.c.State, d.c.After = to, append(d.c.After, e)
	}
}

func (d *decision) decide() {
	d.c.Cycle = FixCycle(d.f.Fixes, d.c.Epoch)
	switch {
	case d.f.State == work.PullMerged:
		d.merged()
		return
	case d.f.State == work.PullClosed:
		d.do(EventClosed)
		return
	case d.c.State == Merged: // GitHub cannot reopen merged pull requests
		return
	}
	d.do(EventReopened)
	if d.p.Off() {
		d.do(EventOff)
		return
	}
	d.do(EventOpened)
	if d.c.State.Stopped() && !d.lifted() {
		d.c.Why, d.c.Reviewer = d.f.Record.Why, d.reviewer(d.f.Record.Reviewer)
		return
	}
	d.decideOpen()
}

func (d *decision) merged() {
	if d.c.State == Merged {
		return
	}
	switch {
	case d.f.MergedBy != "":
		d.c.MergeType = d.f.MergedBy
	case d.c.State != "" && !d.p.Off() && d.allApproved():
		d.c.MergeType = MergedApproved
	case d.c.State != "":
		d.c.MergeType = MergedForced
	}
	d.do(EventMerged)
}

// allApproved reports whether everybody approved this head.
func (d *decision) allApproved() bool {
	_, wanting := d.nextReviewer()
	return len(d.rejections()) == 0 && !wanting && d.peopleApprove()
}

// lifted reports whether a stop ends: a person restarts the reviews or gives a verdict, or the
// config no longer lists the reviewer who caused the stop.
func (d *decision) lifted() bool {
	r := d.f.Record
	decided := slices.ContainsFunc(d.f.Verdicts, func(v Verdict) bool {
		return v.Human && v.Reviewer != "" && index(d.line, v.Reviewer) >= 0 && d.isCurrent(v) && v.At.After(r.Since)
	})
	switch {
	case d.f.Retried:
		d.do(EventRetried)
	case decided:
		d.do(EventDecided)
	case stoppedBy(r) != "" && index(d.line, stoppedBy(r)) < 0: // the config no longer lists the reviewer
		d.do(EventRetried)
		return true
	default:
		return false
	}
	d.c.Epoch++
	d.c.Cycle = FixCycle(d.f.Fixes, d.c.Epoch)
	return true
}

// stoppedBy returns the reviewer who caused a stop. After a loss of the database only the reason,
// read from the stop's comment, names them.
func stoppedBy(r Record) string { return cmp.Or(r.Reviewer, r.Why.Name) }

// decideOpen decides about an open pull request that is not stopped.
func (d *decision) decideOpen() {
	if v, gone := d.takenBack(); gone {
		d.stop(EventTakenBack, d.reviewer(v.Reviewer), work.Reason{Kind: work.WhyReviewTakenBack, Name: v.Reviewer})
		return
	}
	if rejected := d.rejections(); len(rejected) > 0 {
		d.rejected(rejected)
		return
	}
	if r, wanting := d.nextReviewer(); wanting {
		d.review(r)
		return
	}
	d.toChecking()
	if !d.peopleApprove() {
		d.c.Why = work.Reason{Kind: work.WhyReviewPerson}
		if !d.f.UntilGreen.None() {
			d.c.Why = d.f.UntilGreen
		}
		return
	}
	d.do(EventComplete)
	d.c.Why = work.Reason{Kind: work.WhyReviewApproved, Number: d.f.Number}
}

// isAbout reports whether a verdict is about the commits that merging brings now.
func (f Facts) isAbout(v Verdict) bool {
	return v.Validity != BaseMoved && work.PullRequest{HeadOID: f.Head, MergeBase: f.MergeBase}.Brings(v.Head, v.MergeBase)
}

// isCurrent reports whether a verdict counts for the commits that merging brings now.
func (d *decision) isCurrent(v Verdict) bool { return d.f.isAbout(v) && v.Validity != TakenBack }

// again counts a reviewer's verdicts on this head that do not count because the base is another one
// now. Each lets the reviewer look once more.
func (f Facts) again(reviewer string) int {
	n := 0
	for _, v := range f.Verdicts {
		if v.Reviewer == reviewer && v.Head == f.Head && v.KeptFrom == "" && !f.isAbout(v) {
			n++
		}
	}
	return n
}

// Subject names what a reviewer is asked about: the head, with a number if the reviewer gave a
// verdict on it for another base.
func (f Facts) Subject(reviewer string) string { return subject(f.Head, f.again(reviewer)) }

// currentVerdict returns a reviewer's last verdict on these commits, if it counts. If the last verdict
// was taken back, no earlier one counts.
func (d *decision) currentVerdict(name string) (Verdict, bool) {
	for _, v := range slices.Backward(d.f.Verdicts) {
		if v.Reviewer == name && d.f.isAbout(v) {
			return v, d.isCurrent(v)
		}
	}
	return Verdict{}, false
}

// rejections returns the verdicts that request changes on this head, in the order of the reviewers.
func (d *decision) rejections() []Verdict {
	var all []Verdict
	for _, r := range d.line {
		if v, ok := d.currentVerdict(r.Name); ok && v.Decision == RequestChanges {
			all = append(all, v)
		}
	}
	return all
}

// takenBack returns an agent's verdict on this head that a person dismissed. An agent reviews a
// head only once, so a person must decide.
func (d *decision) takenBack() (Verdict, bool) {
	for _, v := range d.f.Verdicts {
		r := index(d.line, v.Reviewer)
		if r >= 0 && !d.line[r].Human && v.Head == d.f.Head && v.Validity == TakenBack {
			return v, true
		}
	}
	return Verdict{}, false
}

// nextReviewer returns who reviews next: the reviewer who last requested changes, then the first in
// line who has not approved this head.
func (d *decision) nextReviewer() (Reviewer, bool) {
	for _, v := range slices.Backward(d.f.Verdicts) {
		i := index(d.line, v.Reviewer)
		if v.Decision != RequestChanges || v.Validity == TakenBack || i < 0 {
			continue
		}
		if _, said := d.currentVerdict(v.Reviewer); !said {
			return d.line[i], true
		}
		break
	}
	for _, r := range d.line {
		if v, said := d.currentVerdict(r.Name); !said || v.Decision != Approve {
			return r, true
		}
	}
	return Reviewer{}, false
}

// peopleApprove reports whether a person approved this head, or no person has to.
func (d *decision) peopleApprove() bool {
	return !d.p.RequireHuman || d.f.MergeApproved || d.personApproves()
}

// personApproves reports whether a person approved this head. The author's approval does not count,
// even if they are a reviewer.
func (d *decision) personApproves() bool {
	said := map[int64]bool{} // a person's last verdict counts
	for _, v := range slices.Backward(d.f.Verdicts) {
		if !v.Human || !d.f.isAbout(v) || said[v.By.ID] {
			continue
		}
		said[v.By.ID] = v.By.ID != 0
		if v.Decision == Approve && d.isCurrent(v) && (d.p.Author == "" || !strings.EqualFold(v.By.Login, d.p.Author)) {
			return true
		}
	}
	return false
}

func (d *decision) reviewer(name string) Reviewer {
	if i := index(d.line, name); i >= 0 {
		return d.line[i]
	}
	r, _ := d.p.ReviewerOf(name)
	r.Name = name
	return r
}

// stop stops the reviews until a person acts.
func (d *decision) stop(e Event, r Reviewer, why work.Reason) {
	why.Number = d.f.Number
	d.do(e)
	d.c.Reviewer, d.c.Why, d.c.Key = r, why, ""
}

// toReviewing applies the events that lead to the next review.
func (d *decision) toReviewing() {
	moved := d.f.Record.Head != d.f.Head
	last, said := d.currentVerdict(d.f.Record.Reviewer)
	switch {
	case d.c.State == Pending:
		d.do(EventDue)
	case d.c.State == Reviewing && said && last.Decision == Approve:
		d.do(EventApproved)
		d.do(EventWanting)
	case d.c.State == Fixing && d.c.Cycle > d.f.Record.Cycle:
		d.do(EventFixed)
	case d.c.State != Reviewing && moved:
		d.do(EventPushed)
	case d.c.State != Reviewing:
		d.do(EventWanting)
	}
}

// toChecking applies the events that lead to the check whether everybody approved.
func (d *decision) toChecking() {
	switch d.c.State {
	case Approved:
		if d.peopleApprove() {
			return
		}
		d.do(EventWanting)
		d.do(EventApproved)
	case Pending:
		d.do(EventDue)
		d.do(EventApproved)
	case Reviewing, Fixing:
		d.do(EventApproved)
	case Checking, Failed, HumanReview, Merged, Closed:
	}
}

// review asks for a reviewer's review of this head.
func (d *decision) review(r Reviewer) {
	waits := !d.f.NoReview.None()
	if d.c.State != Pending || !waits {
		d.toReviewing()
	}
	d.c.Reviewer = r
	if r.Human {
		d.person(r, waits)
		return
	}
	d.c.Key = DueKey(d.f.Number, Due{Reviewer: r.Name, Epoch: d.c.Epoch, Cycle: d.c.Cycle, Head: d.f.Head, Again: d.f.again(r.Name)})
	switch {
	case d.f.Record.FailedKey == d.c.Key:
		d.do(EventDue)
		d.stop(EventFailed, r, d.failed(r.Name))
	case waits:
		d.c.Why = d.f.NoReview
	default:
		d.c.Ask, d.c.Why = AskReview, work.Reason{Kind: work.WhyReviewDue, Name: r.Name}
	}
}

// person requests a person's review, once for each head, and waits for it.
func (d *decision) person(r Reviewer, waits bool) {
	asked := slices.Contains(d.f.Requested, r.Name)
	switch {
	case waits && !asked:
		d.c.Why = d.f.NoReview
		return
	case !d.f.UntilGreen.None() && !asked:
		d.c.Why = d.f.UntilGreen
		return
	}
	d.c.Why = work.Reason{Kind: work.WhyReviewPerson, Who: r.Login, Name: r.Name}
	switch r.Level {
	case "":
	case "none":
		d.c.Why.Who, d.c.Why.Text = "", "no account "+r.Login+" has access to the repository"
	default:
		d.c.Why.Who, d.c.Why.Text = "", r.Login+" has "+r.Level+" permission"
	}
	if d.f.again(r.Name) > 0 {
		d.c.Why.Branch = d.f.Base
	}
	if !asked {
		d.c.Ask = AskRequest
	}
}

func (d *decision) failed(name string) work.Reason {
	why := d.f.Record.FailedWhy
	if why.Kind == work.WhyReviewerAccount || why.Kind == work.WhyReviewSandbox { // the reason already says what to fix
		return why
	}
	return work.Reason{Kind: work.WhyReviewFailed, Name: name, Who: why.Who, Text: why.Text, Local: why.Local, Advice: why.Advice}
}
