package review

import (
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// State is the state of a pull request's reviews.
type State string

// The states. Empty: no reviews.
const (
	Pending     State = "pending"
	Reviewing   State = "reviewing"
	Checking    State = "checking_approval"
	Fixing      State = "fixing"
	Approved    State = "approved"
	Failed      State = "error"
	HumanReview State = "human_review_required"
	Merged      State = "merged"
	Closed      State = "closed"
)

// States lists every state.
func States() []State {
	return []State{Pending, Reviewing, Checking, Fixing, Approved, Failed, HumanReview, Merged, Closed}
}

// Stopped reports whether a person must act before the reviews continue.
func (s State) Stopped() bool { return s == Failed || s == HumanReview }

// StateOf returns the stopped state that a reason belongs to. It returns false if the reason does
// not stop reviews.
func StateOf(why work.Reason) (State, bool) {
	switch why.Kind { //nolint:exhaustive // no other stops reviews
	case work.WhyReviewFailed, work.WhyReviewerAccount, work.WhyReviewSandbox:
		return Failed, true
	case work.WhyReviewCycles, work.WhyReviewCircle, work.WhyReviewNotFixed, work.WhyReviewTakenBack:
		return HumanReview, true
	}
	return "", false
}

// Ended reports whether the pull request is no longer open.
func (s State) Ended() bool { return s == Merged || s == Closed }

// Event moves the reviews of a pull request from one state to another.
type Event string

// The events.
const (
	EventOpened    Event = "opened"       // reviewers are configured
	EventDue       Event = "due"          // nothing delays the next review
	EventApproved  Event = "approved"     // by the current reviewer
	EventRejected  Event = "rejected"     // a reviewer requests changes
	EventComplete  Event = "complete"     // everybody approved this head
	EventWanting   Event = "incomplete"   // somebody has not approved this head
	EventPushed    Event = "pushed"       // the head moved
	EventFixed     Event = "fixed"        // a fix was pushed
	EventUnfixed   Event = "unfixed"      // a fix changed nothing, or asks a person
	EventExhausted Event = "exhausted"    // max_fix_cycles is reached, or the findings repeat
	EventTakenBack Event = "taken back"   // a person dismissed the verdict on this head
	EventFailed    Event = "failed"       // a review or a fix failed for good
	EventRetried   Event = "retried"      // by a person's command
	EventDecided   Event = "decided"      // by a reviewer's verdict after the stop
	EventMerged    Event = "merged"       // by anybody
	EventClosed    Event = "closed"       // by anybody
	EventReopened  Event = "reopened"     //
	EventOff       Event = "switched off" // in the config
)

// MergeType is how a pull request was merged.
type MergeType string

// The merge types.
const (
	MergedForced   MergeType = "forced"   // before everybody approved
	MergedApproved MergeType = "approved" // by a person, after everybody approved
	MergedAuto     MergeType = "auto"     // by us
)

// Transition is one row of the table of states of the reviews.
type Transition struct {
	From  State // empty: the reviews begin
	Event Event
	To    State // empty: the reviews end
	Does  string
}

// transitions are all transitions. Any other event is ignored.
var transitions = slices.Concat(
	[]Transition{
		{"", EventOpened, Pending, "the first reviewer, once the review is due"},
		{Pending, EventDue, Reviewing, "the next reviewer looks at this head"},
		{Checking, EventComplete, Approved, "it may be merged"},
		{Checking, EventWanting, Reviewing, "the next reviewer looks at this head"},
		{Fixing, EventFixed, Reviewing, "the same reviewer looks again"},
		{Fixing, EventWanting, Reviewing, "the next reviewer looks at this head"},
		{Approved, EventWanting, Reviewing, "who has not approved this head looks at it"},
		{Fixing, EventUnfixed, HumanReview, "a person decides"},
		{Fixing, EventExhausted, HumanReview, "a person decides"},
		{Closed, EventReopened, Pending, "reviewers who have not approved this head"},
	},
	from(EventPushed, Reviewing, "who has not approved this head looks at it", Checking, Fixing, Approved),
	from(EventApproved, Checking, "the head is looked at again", Reviewing, Fixing),
	from(EventRejected, Fixing, "the author's agent does what is asked for", Pending, Reviewing, Checking, Approved),
	from(EventTakenBack, HumanReview, "a person decides", Pending, Reviewing, Checking, Fixing, Approved),
	from(EventFailed, Failed, "a person's `retry`", Reviewing, Fixing),
	from(EventRetried, Pending, "it begins again", Failed, HumanReview),
	from(EventDecided, Pending, "it begins again", Failed, HumanReview),
	from(EventMerged, Merged, "nothing", slices.DeleteFunc(States(), func(s State) bool { return s == Merged })...),
	from(EventClosed, Closed, "nothing", slices.DeleteFunc(States(), State.Ended)...),
	from(EventOff, "", "nothing", slices.DeleteFunc(States(), State.Ended)...),
)

// from makes one transition for each of states.
func from(e Event, to State, does string, states ...State) []Transition {
	var all []Transition
	for _, s := range states {
		all = append(all, Transition{s, e, to, does})
	}
	return all
}

// Transitions returns all transitions of the reviews, in a readable order.
func Transitions() []Transition { return slices.Clone(transitions) }

// next returns the state after an event. It returns false if the event is ignored.
func next(s State, e Event) (State, bool) {
	for _, t := range transitions {
		if t.From == s && t.Event == e {
			return t.To, true
		}
	}
	return s, false
}
