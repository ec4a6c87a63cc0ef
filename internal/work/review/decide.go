package review

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Facts are what is known of the reviews of one pull request.
type Facts struct {
	Number   int
	Head     string
	State    work.PullState
	MergedBy MergeType // auto where we have merged it; else empty
	Record   Record
	Verdicts []Verdict // the oldest first
	Findings []Finding
	Fixes    []Fix
	Inserted []Insertion

	Requested  []string    // people who were asked for a review of this head, by their names as reviewers
	NoReview   work.Reason // why no review may begin now; none: nothing is against it
	NoFix      work.Reason // why no fix may begin now
	Retried    bool        // a person's command has it begin again
	Word       bool        // a person has said that this head may be merged
	NotFixable bool        // somebody else's pull request: its author fixes it
}

// Ask is what is to be done next.
type Ask string

// The asks.
const (
	AskNothing Ask = ""
	AskReview  Ask = "review"  // a turn of Choice.Reviewer
	AskFix     Ask = "fix"     // a turn of the author's agent
	AskRequest Ask = "request" // a person is asked for a review
)

// Choice is what the facts come to.
type Choice struct {
	State     State
	After     []Event // that lead there from Record.State, in their order
	Epoch     int
	Cycle     int
	MergeType MergeType
	Reviewer  Reviewer    // who is next, or whose demands are to be fixed
	Ask       Ask         //
	Key       string      // of the event that asks for it: DueKey's or FixKey's
	Rejected  []Verdict   // that a fix is for: the first one names it
	Line      []Reviewer  // everybody who has to approve
	Why       work.Reason // what it waits for, or why it is stopped
}

// Moves reports whether the state is another than the one that is stored.
func (c Choice) Moves(r Record) bool { return len(c.After) > 0 || c.State != r.State }

// FixCycle counts the fixes that were pushed since a person had it begin again.
func FixCycle(fixes []Fix, epoch int) int {
	n := 0
	for _, f := range fixes {
		if f.Epoch == epoch && f.Outcome == FixPushed {
			n++
		}
	}
	return n
}

// Decide says how the reviews of a pull request go on.
func Decide(f Facts, p Policy) Choice {
	d := decision{f: f, p: p, line: Line(p, f.Inserted)}
	d.c = Choice{State: f.Record.State, Epoch: f.Record.Epoch, Line: d.line, MergeType: f.Record.MergeType}
	d.decide()
	return d.c
}

// decision is one call of Decide.
type decision struct {
	f    Facts
	p    Policy
	line []Reviewer
	c    Choice
}

// do takes one line of the table. An event that changes nothing there is none.
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
	case d.c.State == Merged: // GitHub reopens no merged pull request
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
	d.goOn()
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

// allApproved reports whether everybody has approved this head.
func (d *decision) allApproved() bool {
	_, wanting := d.waitsFor()
	return len(d.rejections()) == 0 && !wanting && d.peopleApprove()
}

// lifted reports whether a person ends a stop, and has it begin again; or takes the
// reviewer out of the config who is the reason for it.
func (d *decision) lifted() bool {
	r := d.f.Record
	decided := slices.ContainsFunc(d.f.Verdicts, func(v Verdict) bool {
		return v.Human && v.Reviewer != "" && index(d.line, v.Reviewer) >= 0 && d.stands(v) && v.At.After(r.Since)
	})
	switch {
	case d.f.Retried:
		d.do(EventRetried)
	case decided:
		d.do(EventDecided)
	case stoppedBy(r) != "" && index(d.line, stoppedBy(r)) < 0: // the config does not ask them any more
		d.do(EventRetried)
		return true
	default:
		return false
	}
	d.c.Epoch++
	d.c.Cycle = FixCycle(d.f.Fixes, d.c.Epoch)
	return true
}

// stoppedBy is the reviewer who is the reason for a stop. With the database gone the
// comment about it says who.
func stoppedBy(r Record) string { return cmp.Or(r.Reviewer, r.Why.Name) }

// goOn is for a pull request that is open and not stopped.
func (d *decision) goOn() {
	if v, gone := d.takenBack(); gone {
		d.stop(EventTakenBack, d.reviewer(v.Reviewer), work.Reason{Kind: work.WhyReviewTakenBack, Name: v.Reviewer})
		return
	}
	if rejected := d.rejections(); len(rejected) > 0 {
		d.rejected(rejected)
		return
	}
	if r, wanting := d.waitsFor(); wanting {
		d.review(r)
		return
	}
	d.toChecking()
	if !d.peopleApprove() {
		d.c.Why = work.Reason{Kind: work.WhyReviewPerson}
		return
	}
	d.do(EventComplete)
	d.c.Why = work.Reason{Kind: work.WhyReviewApproved, Number: d.f.Number}
}

// stands reports whether a verdict counts for the head as it is.
func (d *decision) stands(v Verdict) bool { return v.Head == d.f.Head && v.Validity != TakenBack }

// standing is the last word of a reviewer about this head, if it counts: one that was
// taken back brings no earlier one back.
func (d *decision) standing(name string) (Verdict, bool) {
	for _, v := range slices.Backward(d.f.Verdicts) {
		if v.Reviewer == name && v.Head == d.f.Head {
			return v, d.stands(v)
		}
	}
	return Verdict{}, false
}

// rejections are those of this head, in the reviewers' order.
func (d *decision) rejections() []Verdict {
	var all []Verdict
	for _, r := range d.line {
		if v, ok := d.standing(r.Name); ok && v.Decision == RequestChanges {
			all = append(all, v)
		}
	}
	return all
}

// takenBack finds a verdict on this head of an agent that a person dismissed. No agent
// looks at one head twice.
func (d *decision) takenBack() (Verdict, bool) {
	for _, v := range d.f.Verdicts {
		r := index(d.line, v.Reviewer)
		if r >= 0 && !d.line[r].Human && v.Head == d.f.Head && v.Validity == TakenBack {
			return v, true
		}
	}
	return Verdict{}, false
}

// waitsFor is who looks next: whoever requested changes last, then who comes first in
// line of those that have not approved this head.
func (d *decision) waitsFor() (Reviewer, bool) {
	for _, v := range slices.Backward(d.f.Verdicts) {
		i := index(d.line, v.Reviewer)
		if v.Decision != RequestChanges || v.Validity == TakenBack || i < 0 {
			continue
		}
		if _, said := d.standing(v.Reviewer); !said {
			return d.line[i], true
		}
		break
	}
	for _, r := range d.line {
		if v, said := d.standing(r.Name); !said || v.Decision != Approve {
			return r, true
		}
	}
	return Reviewer{}, false
}

// peopleApprove reports whether a person has approved this head, where one has to.
func (d *decision) peopleApprove() bool { return !d.p.RequireHuman || d.f.Word || d.personApproves() }

// personApproves reports whether a person has approved this head. The author has not,
// even as one of the reviewers.
func (d *decision) personApproves() bool {
	said := map[int64]bool{} // the last word of each counts
	for _, v := range slices.Backward(d.f.Verdicts) {
		if !v.Human || v.Head != d.f.Head || said[v.By.ID] {
			continue
		}
		said[v.By.ID] = v.By.ID != 0
		if v.Decision == Approve && d.stands(v) && (d.p.Author == "" || !strings.EqualFold(v.By.Login, d.p.Author)) {
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

// stop ends it until a person acts.
func (d *decision) stop(e Event, r Reviewer, why work.Reason) {
	why.Number = d.f.Number
	d.do(e)
	d.c.Reviewer, d.c.Why, d.c.Key = r, why, ""
}

// toReviewing takes the events that lead to the next review.
func (d *decision) toReviewing() {
	moved := d.f.Record.Head != d.f.Head
	last, said := d.standing(d.f.Record.Reviewer)
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

// toChecking takes the events that lead to the look whether all have approved.
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

// review asks a reviewer for this head.
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
	d.c.Key = DueKey(d.f.Number, Due{Reviewer: r.Name, Epoch: d.c.Epoch, Cycle: d.c.Cycle, Head: d.f.Head})
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

// person asks a person, once for each head, and waits for them.
func (d *decision) person(r Reviewer, waits bool) {
	asked := slices.Contains(d.f.Requested, r.Name)
	if waits && !asked {
		d.c.Why = d.f.NoReview
		return
	}
	d.c.Why = work.Reason{Kind: work.WhyReviewPerson, Who: r.Login, Name: r.Name}
	if !asked {
		d.c.Ask = AskRequest
	}
}

func (d *decision) failed(name string) work.Reason {
	why := d.f.Record.FailedWhy
	if why.Kind == work.WhyReviewerAccount || why.Kind == work.WhyReviewSandbox { // it names what to mend
		return why
	}
	return work.Reason{Kind: work.WhyReviewFailed, Name: name, Who: why.Who, Text: why.Text, Local: why.Local, Advice: why.Advice}
}
