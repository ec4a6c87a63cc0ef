package work

import "slices"

// Cause moves a work item from one state to another.
type Cause string

// The causes.
const (
	CauseLabelled   Cause = "labelled"    // a flow's label was set, or its command given
	CausePromoted   Cause = "promoted"    // its design was merged
	CauseClaimed    Cause = "claimed"     // one of its turns was claimed
	CauseAnswered   Cause = "answered"    // a turn ended, and the pull request is open
	CauseAsked      Cause = "asked"       // an agent asks a person
	CauseStopped    Cause = "stopped"     // a turn cannot continue without a person, or must not
	CausePutBack    Cause = "put back"    // a turn was superseded before its first effect
	CauseCancelled  Cause = "cancelled"   // the turn's result is not wanted any more
	CauseResumed    Cause = "resumed"     // a person answered or commanded, or what stopped it is over
	CausePullMerged Cause = "pull merged" // by anybody
	CausePullClosed Cause = "pull closed" // by anybody
	CauseReopened   Cause = "reopened"    // the pull request was reopened
	CauseWithdrawn  Cause = "withdrawn"   // the issue was closed, its label removed, or cancel commanded
	CauseFulfilled  Cause = "fulfilled"   // the design's implementation was merged, or its document says implemented
	CauseAdopted    Cause = "adopted"     // found again on GitHub after the database was lost
)

// Transition is one row of the table of a work item's states.
type Transition struct {
	From  State // empty: the item is new
	Cause Cause
	To    State
	Does  string // for people: what happens next
}

// transitions are all allowed transitions of a work item. docs/reference/states.md draws them.
var transitions = slices.Concat(
	[]Transition{
		{"", CauseLabelled, StatePending, "a start turn"},
		{"", CausePromoted, StateReady, "an implementation turn, when it is its turn"},
		{StateClosed, CauseLabelled, StatePending, "a start turn"},

		{StateRunning, CauseAnswered, StateAwaitingFeedback, "people review"},
		{StateBlocked, CauseAnswered, StateAwaitingFeedback, "people review"},
		{StateRunning, CausePutBack, StatePending, "a new start turn"},
		{StateRunning, CausePutBack, StateReady, "a new implementation turn"},
		{StateRunning, CausePutBack, StateAwaitingIssueFollowup, "a new turn with all answers"},
		{StateRunning, CausePutBack, StateAwaitingFeedback, "a new turn for the same events"},
		{StateRunning, CauseCancelled, StateClosed, "the label set again starts over"},
		{StateRunning, CauseCancelled, StateAwaitingFeedback, "people review"},
		{StateAwaitingIssueFollowup, CauseResumed, StatePending, "a start turn, from the beginning"},
		{StateBlocked, CauseResumed, StateRunning, "the turn resumes where it stopped"},
		{StateBlocked, CauseResumed, StateAwaitingFeedback, "a turn for what is waiting"},
		{StateBlocked, CauseResumed, StatePending, "a start turn"},
		{StateBlocked, CauseResumed, StateReady, "an implementation turn"},

		{StateClosed, CauseReopened, StateAwaitingFeedback, "people review"},
		{StateMerged, CauseFulfilled, StateCompleted, "nothing"},
	},
	from(CauseClaimed, StateRunning, "the agent works",
		StatePending, StateReady, StateBlocked, StateAwaitingFeedback, StateAwaitingIssueFollowup, StateRunning),
	from(CauseAsked, StateBlocked, "a comment on the pull request resumes it", StateRunning, StateBlocked),
	from(CauseAsked, StateAwaitingIssueFollowup, "an answer on the issue resumes it", StateRunning),
	from(CauseStopped, StateBlocked, "a person's comment or command resumes it",
		StateRunning, StatePending, StateReady, StateAwaitingFeedback, StateAwaitingIssueFollowup, StateBlocked),
	from(CauseStopped, StateAwaitingIssueFollowup, "an answer on the issue resumes it", StateRunning, StatePending, StateReady, StateBlocked),
	from(CausePullMerged, StateMerged, "an implementation, if it is a design", slices.DeleteFunc(States(), func(s State) bool { return s == StateMerged || s == StateCompleted })...),
	from(CausePullMerged, StateCompleted, "nothing", slices.DeleteFunc(States(), func(s State) bool { return s == StateMerged || s == StateCompleted })...),
	from(CausePullClosed, StateClosed, "the label set again starts over", openStates()...),
	from(CauseWithdrawn, StateClosed, "the label set again starts over", openStates()...),
	from(CauseAdopted, StateAwaitingFeedback, "people review", States()...),
)

// from makes one transition for each of states.
func from(cause Cause, to State, does string, states ...State) []Transition {
	var all []Transition
	for _, s := range states {
		all = append(all, Transition{s, cause, to, does})
	}
	return all
}

// States lists every state.
func States() []State {
	return []State{
		StatePending, StateReady, StateRunning, StateAwaitingFeedback, StateAwaitingIssueFollowup, StateMerged, StateCompleted,
		StateBlocked, StateClosed,
	}
}

func openStates() []State {
	return slices.DeleteFunc(States(), func(s State) bool { return !s.Open() })
}

// Transitions returns all transitions of a work item, in a readable order.
func Transitions() []Transition { return slices.Clone(transitions) }

// StatesBefore lists the states from which cause may move an item to a state. It returns none if
// cause never does.
func StatesBefore(cause Cause, to State) []State {
	var all []State
	for _, t := range transitions {
		if t.Cause == cause && t.To == to && t.From != "" {
			all = append(all, t.From)
		}
	}
	return all
}
