// Package reviewing makes of what internal/work/review decides what is stored, told and
// shown on GitHub. Pure rules.
package reviewing

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
)

// Item is what of a work item says how the reviews of its pull request go on.
type Item struct {
	ID           int64
	Repo         work.Repo
	Pull         work.PullRequest
	Labels       work.Labels
	Facts        review.Facts  // as stored
	Policy       review.Policy // by today's config
	Held         *review.Held  // people hold the reviews back; nil: they do not
	LabelHead    string        // of somebody else's: the head for which the label stands
	Said         int           // what people wrote and nobody has answered
	FeedbackLoop bool          // agents do what is asked for
	Now          time.Time
}

// Concern reports whether the pull request is reviewed, or was.
func (i Item) Concern() bool { return !i.Policy.Off() || i.Facts.Record.State != "" }

// Choose decides how they go on, with what holds them back now.
func (i Item) Choose() review.Choice {
	c := review.Decide(i.facts(), i.Policy)
	if c.State == review.Approved && c.Why.None() {
		c.Why = work.Reason{Kind: work.WhyReviewApproved, Number: i.Pull.Number}
	}
	return c
}

// Approvals are who has approved the head, and who has not.
func (i Item) Approvals() review.Approvals { return review.ApprovalsOf(i.facts(), i.Policy) }

// PersonAsks reports whether a person's request for changes is to be fixed now. It counts
// for the head that they saw: what moves it first would leave them without an answer.
func (i Item) PersonAsks() bool {
	c := i.Choose()
	return c.Ask == review.AskFix && c.Reviewer.Human
}

// Line is everybody who has to approve.
func (i Item) Line() []review.Reviewer { return review.Line(i.Policy, i.facts().Inserted) }

func (i Item) facts() review.Facts {
	f := i.Facts
	f.Number, f.Head, f.State = i.Pull.Number, i.Pull.HeadOID, i.Pull.State
	in, _ := i.calledIn()
	f.Inserted = slices.Concat(f.Inserted, in)
	f.NoReview, f.NoFix = i.held(), i.held()
	if f.NoFix.Kind == work.WhyReviewComments { // whoever plans puts what people say first, or a person's review
		f.NoFix = work.Reason{}
	}
	switch {
	case !f.NoReview.None():
	case f.NotFixable && i.LabelHead != i.Pull.HeadOID:
		f.NoReview = work.Reason{Kind: work.WhyReviewRelabel, Who: i.Pull.Author.Login}
	case i.Pull.Draft:
		f.NoReview = work.Reason{Kind: work.WhyReviewDraft}
	case i.checksOpen():
		f.NoReview = work.Reason{Kind: work.WhyReviewChecks}
	}
	if f.NoFix.None() && !i.FeedbackLoop {
		f.NoFix = work.Reason{Kind: work.WhyFeedbackOff, Names: []string{"a reviewer requests changes"}}
	}
	return f
}

// held is why neither a review nor a fix of what one asks for begins now.
func (i Item) held() work.Reason {
	switch {
	case i.Held != nil:
		return work.Reason{Kind: work.WhyReviewHeld, Who: i.Held.By, At: i.Held.At.UnixMilli()}
	case i.Said > 0:
		return work.Reason{Kind: work.WhyReviewComments, Count: i.Said}
	}
	return work.Reason{}
}

// checkPatience is how long a review waits for checks that run: one that never ends
// holds back nobody for ever. Red checks wait as long for others (internal/github).
const checkPatience = time.Hour

// checksOpen reports whether the head's checks run still, or are red.
func (i Item) checksOpen() bool {
	switch i.Pull.Rollup {
	case "", "SUCCESS":
		return false
	case "PENDING", "EXPECTED":
		since := i.Pull.ChecksSince
		return !i.Policy.WithoutChecks && (since.IsZero() || i.Now.Sub(since) < checkPatience)
	}
	return !i.Policy.WithoutChecks
}

// calledIn are the reviewers whom verdicts call in and that nothing is stored of yet,
// and whom each names in vain.
func (i Item) calledIn() (in []review.Insertion, vain map[string]review.Verdict) {
	vain = map[string]review.Verdict{}
	for _, v := range i.Facts.Verdicts {
		more, not := review.CallIn(i.Policy, v, slices.Concat(i.Facts.Inserted, in))
		in = append(in, more...)
		for _, name := range not {
			vain[name] = v
		}
	}
	return in, vain
}

// Step is what a decision comes to.
type Step struct {
	Before   review.Record // that is stored; where it is another by then nothing of this is done
	Record   review.Record
	Inserted []review.Insertion
	Logged   []Logged
	Notices  []work.Action
}

// Moves reports whether somebody else is next, or something else.
func (s Step) Moves() bool {
	return s.Before.State != s.Record.State || s.Before.Reviewer != s.Record.Reviewer
}

// String tells people of it.
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

// Logged is a line of the log of reviews, once by its key.
type Logged struct {
	Key  string
	What string
	Data map[string]any
}

// Take is what a choice comes to; false where it is what is stored.
func (i Item) Take(c review.Choice) (Step, bool) {
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

func sameRecord(a, b review.Record) bool {
	return a.State == b.State && a.Head == b.Head && a.Reviewer == b.Reviewer && a.Epoch == b.Epoch && a.Cycle == b.Cycle && a.MergeType == b.MergeType
}

// logged is what is told of a change.
func (i Item) logged(c review.Choice) []Logged {
	var all []Logged
	tell := func(what, key string, data map[string]any) {
		all = append(all, Logged{Key: fmt.Sprintf("%s:%d:%s", what, i.Pull.Number, key), What: what, Data: data})
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
