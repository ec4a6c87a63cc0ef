// This file turns the decisions of internal/work/review into what is stored, logged and
// sent to GitHub. It is pure.

package review

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Item is the part of a work item that its pull request's reviews depend on.
type Item struct {
	ID         int64
	Repo       work.Repo
	Pull       work.PullRequest
	Labels     work.Labels
	Facts      Facts       // as stored
	Policy     Policy      // by today's config
	Held       *Held       // nil: not held
	LabelHead  string      // somebody else's pull request: the head for which the label was set
	Unanswered int         // number of unanswered comments by people
	UntilGreen work.Reason // of a draft that is marked as ready once it is green: agents review it, and people are asked after that
	Now        time.Time
}

// HasReviews reports whether the pull request is or was reviewed.
func (i Item) HasReviews() bool { return !i.Policy.Off() || i.Facts.Record.State != "" }

// Choose decides how the reviews continue, including what delays them now.
func (i Item) Choose() Choice {
	c := decide(i.facts(), i.Policy)
	if c.State == Approved && c.Why.None() {
		c.Why = work.Reason{Kind: work.WhyReviewApproved, Number: i.Pull.Number}
	}
	return c
}

// Approvals returns who has approved the head, and who has not.
func (i Item) Approvals() Approvals { return approvalsOf(i.facts(), i.Policy) }

// PersonAsks reports whether a person's request for changes must be fixed now. It counts only for
// the head that the person saw: if something else moved the head first, the request would get no
// answer.
func (i Item) PersonAsks() bool {
	c := i.Choose()
	return c.Ask == AskFix && c.Reviewer.Human
}

// Line lists everybody who must approve.
func (i Item) Line() []Reviewer { return Line(i.Policy, i.facts().Inserted) }

// Subject names what a reviewer is asked about, as in Facts.Subject.
func (i Item) Subject(reviewer string) string { return i.facts().Subject(reviewer) }

func (i Item) facts() Facts {
	f := i.Facts
	f.Number, f.Head, f.Base, f.MergeBase, f.State = i.Pull.Number, i.Pull.HeadOID, i.Pull.Base, i.Pull.MergeBase, i.Pull.State
	in, _ := i.calledIn()
	f.Inserted, f.UntilGreen = slices.Concat(f.Inserted, in), i.UntilGreen
	f.NoReview, f.NoFix = i.held(), i.held()
	if f.NoFix.Kind == work.WhyReviewComments { // the planner handles people's comments first, and a person's review
		f.NoFix = work.Reason{}
	}
	switch {
	case !f.NoReview.None():
	case f.NotFixable && i.LabelHead != i.Pull.HeadOID:
		f.NoReview = work.Reason{Kind: work.WhyReviewRelabel, Who: i.Pull.Author.Login}
	case i.Pull.Draft && i.UntilGreen.None():
		f.NoReview = work.Reason{Kind: work.WhyReviewDraft}
	case i.Pull.Rollup == work.NeverStarted && i.checksOpen():
		f.NoReview = work.Reason{Kind: work.WhyReviewNoCI}
	case i.checksOpen():
		f.NoReview = work.Reason{Kind: work.WhyReviewChecks}
	}
	return f
}

// Ready reports whether a draft is green: the head's checks are, or there are none, but none runs; every reviewing agent who comes
// before the next person approves, and nobody holds it or waits for an answer.
func (i Item) Ready() bool {
	if i.UntilGreen.None() || i.UntilGreen.At != 0 || i.Pull.State != work.PullOpen || !i.held().None() || i.Pull.Rollup != "" && i.Pull.Rollup != "SUCCESS" {
		return false
	}
	c := i.Choose()
	return c.State == "" || c.Why.Kind == work.WhyUntilGreen || c.State == Approved
}

// UntilGreen is why a pull request of ours is a draft. A head without checks is not green before they had the time
// to begin.
func UntilGreen(pull work.PullRequest, now time.Time) work.Reason {
	why, begun := work.Reason{Kind: work.WhyUntilGreen}, pull.HeadSince.Add(checksBegin)
	if pull.Rollup == "" && begun.After(now) {
		why.At = begun.UnixMilli()
	}
	return why
}

// checksBegin is how long checks may take to begin.
const checksBegin = 2 * time.Minute

// held returns why neither a review nor the fix of one may start now.
func (i Item) held() work.Reason {
	switch {
	case i.Held != nil:
		return work.Reason{Kind: work.WhyReviewHeld, Who: i.Held.By, At: i.Held.At.UnixMilli()}
	case i.Unanswered > 0:
		return work.Reason{Kind: work.WhyReviewComments, Count: i.Unanswered}
	}
	return work.Reason{}
}

// checkPatience is how long a review waits for running checks, so that checks that never end or begin do not
// block it for ever. Red checks wait as long for others (internal/github).
const checkPatience = time.Hour

// checksOpen reports whether the head's checks still run, never started or are red.
func (i Item) checksOpen() bool {
	switch i.Pull.Rollup {
	case "", "SUCCESS":
		return false
	case "PENDING", "EXPECTED", work.NeverStarted:
		since := i.Pull.ChecksSince
		return since.IsZero() || i.Now.Sub(since) < checkPatience
	}
	return true
}

// calledIn returns the reviewers that verdicts call in and that are not stored yet, and those that
// verdicts name in vain, with the verdict.
func (i Item) calledIn() (in []Insertion, vain map[string]Verdict) {
	vain = map[string]Verdict{}
	for _, v := range i.Facts.Verdicts {
		more, not := CallIn(i.Policy, v, slices.Concat(i.Facts.Inserted, in))
		in = append(in, more...)
		for _, name := range not {
			vain[name] = v
		}
	}
	return in, vain
}

// Step is the result of a decision.
type Step struct {
	Before   Record // the record that was read; if the stored one differs when the step is applied, nothing happens
	Record   Record
	Inserted []Insertion
	Logged   []LogEntry
	Notices  []work.Action
}

// Moves reports whether the state or the next reviewer changes.
func (s Step) Moves() bool {
	return s.Before.State != s.Record.State || s.Before.Reviewer != s.Record.Reviewer
}

// String describes the step to people.
func (s Step) String() string {
	to := string(s.Record.State)
	if s.Record.Reviewer != "" {
		to += " (" + s.Record.Reviewer + ")"
	}
	if s.Before.State == "" {
		return to
	}
	return string(s.Before.State) + " → " + to
}

// LogEntry is a line in the log of reviews, stored once for each key.
type LogEntry struct {
	Key  string
	What string
	Data map[string]any
}

// Take returns the step of a choice. It returns false if the choice is already stored.
func (i Item) Take(c Choice) (Step, bool) {
	s := Step{Before: i.Facts.Record, Record: i.Facts.Record}
	now := &s.Record
	now.PullID, now.State, now.Head, now.Reviewer = i.Pull.ID, c.State, i.Pull.HeadOID, c.Reviewer.Name
	now.Epoch, now.Cycle, now.Why, now.MergeType = c.Epoch, c.Cycle, c.Why, c.MergeType
	s.Inserted, _ = i.calledIn()
	same := s.Before.Why.Equal(now.Why)
	was := s.Before
	was.Why, was.PullID = now.Why, now.PullID
	if same && len(s.Inserted) == 0 && sameRecord(was, *now) {
		return s, false
	}
	if s.Before.State != now.State || s.Before.Epoch != now.Epoch || s.Before.Since.IsZero() {
		now.Since = i.Now
	}
	s.Logged, s.Notices = i.logged(c), i.notices(s, c)
	return s, true
}

func sameRecord(a, b Record) bool {
	return a.State == b.State && a.Head == b.Head && a.Reviewer == b.Reviewer && a.Epoch == b.Epoch && a.Cycle == b.Cycle && a.MergeType == b.MergeType
}

// logged returns the log lines of a change.
func (i Item) logged(c Choice) []LogEntry {
	var all []LogEntry
	tell := func(what, key string, data map[string]any) {
		all = append(all, LogEntry{Key: fmt.Sprintf("%s:%d:%s", what, i.Pull.Number, key), What: what, Data: data})
	}
	for _, v := range c.Rejected {
		tell("work_rejected", fmt.Sprintf("%s:%s:%d", v.Reviewer, v.Head, v.ReviewID), map[string]any{
			"reviewer": v.Reviewer, "head": v.Head, "cycle": c.Cycle, "findings": v.Count, "severity": string(v.Highest),
		})
	}
	_, vain := i.calledIn()
	for _, name := range slices.Sorted(maps.Keys(vain)) {
		v := vain[name]
		tell("escalation_refused", fmt.Sprintf("%s:%s:%s", v.Reviewer, v.Head, name), map[string]any{"reviewer": v.Reviewer, "escalate": name})
	}
	if c.Why.Kind == work.WhyReviewCycles {
		tell("max_fix_cycles_exceeded", fmt.Sprintf("%d", c.Epoch), map[string]any{
			"reviewer": c.Reviewer.Name, "cycle": c.Cycle, "limit": i.Policy.MaxFixCycles,
		})
	}
	return all
}
