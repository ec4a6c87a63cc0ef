package roadmap

import (
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// State is the state of a merged roadmap.
type State string

// The states of a merged roadmap.
const (
	Unfolding State = "unfolding" // sub-issues, edges or labels of the document are still to be made
	Followed  State = "followed"  // all of them are made: GitHub is the graph
	Stopped   State = "stopped"   // a person must act: the document has faults, or GitHub refused a part of it
	Cancelled State = "cancelled" // a person cancelled it: what has not begun is being closed
	Deleted   State = "deleted"   // its issue was deleted or transferred: what has not begun is being closed
	Ended     State = "ended"     // nothing follows any more
)

// Over reports whether nothing more of the roadmap is made.
func (s State) Over() bool { return s.Closes() || s == Ended }

// States lists every state.
func States() []State { return []State{Unfolding, Followed, Stopped, Cancelled, Deleted, Ended} }

// Closes reports whether what has not begun is being closed.
func (s State) Closes() bool { return s == Cancelled || s == Deleted }

// Event moves a roadmap from one state to another.
type Event string

// The events.
const (
	EventMerged    Event = "merged"    // a document of it was merged
	EventFaulty    Event = "faulty"    // the merged document cannot be applied
	EventRefused   Event = "refused"   // a part of it could not be made
	EventRetried   Event = "retried"   // by a person's command, after a refusal
	EventUnfolded  Event = "unfolded"  // everything of the document is made
	EventReturned  Event = "returned"  // a person put a sub-issue back that had been taken out
	EventCancelled Event = "cancelled" // by a person's command
	EventDeleted   Event = "deleted"   // a person deleted or transferred its issue
	EventEnded     Event = "ended"     // all sub-issues are closed, and the issue was told
)

// Transition is one row of the table of a roadmap's states.
type Transition struct {
	From  State // empty: the roadmap is new
	Event Event
	To    State
	Does  string // for people: what happens next
}

// transitions are all transitions. Any other event is ignored.
var transitions = slices.Concat(
	[]Transition{
		{"", EventMerged, Unfolding, "a sub-issue for each node, edges, labels"},
		{"", EventFaulty, Stopped, "a person changes the document"},
		{Unfolding, EventUnfolded, Followed, "work on the sub-issues"},
		{Unfolding, EventRefused, Stopped, "a person comments `retry`, or changes the document"},
		{Followed, EventReturned, Unfolding, "the edges and the label that the sub-issue lacks"},
		{Stopped, EventRetried, Unfolding, "what could not be made, and the rest"},
	},
	from(EventMerged, Unfolding, "the difference to what was applied last", Unfolding, Followed, Stopped),
	from(EventFaulty, Stopped, "a person changes the document", Unfolding, Followed, Stopped),
	from(EventCancelled, Cancelled, "sub-issues on which no work began are closed", Unfolding, Followed, Stopped),
	from(EventDeleted, Deleted, "sub-issues on which no work began are closed", Unfolding, Followed, Stopped, Cancelled),
	from(EventEnded, Ended, "nothing", Unfolding, Followed, Stopped, Cancelled, Deleted),
)

// from makes one transition for each of states.
func from(e Event, to State, does string, states ...State) []Transition {
	var all []Transition
	for _, s := range states {
		all = append(all, Transition{s, e, to, does})
	}
	return all
}

// Transitions returns all transitions of a roadmap, in a readable order.
func Transitions() []Transition { return slices.Clone(transitions) }

// After returns the state after an event. It returns false if the event is ignored.
func (s State) After(e Event) (State, bool) {
	for _, t := range transitions {
		if t.From == s && t.Event == e {
			return t.To, true
		}
	}
	return s, false
}

// Step is how far a node of the document has come.
type Step string

// The steps of a node. There is no way back to planned: a node has at most one sub-issue.
const (
	Planned  Step = "planned"  // it has no sub-issue yet
	Made     Step = "made"     // its sub-issue exists, without the flow's label
	Labelled Step = "labelled" // the edges are set, and the label was
	Removed  Step = "removed"  // the document lacks it now
	Gone     Step = "gone"     // a person deleted or transferred its sub-issue, or took it out of the parent; put back, it belongs to the roadmap again
)

// Steps lists every step.
func Steps() []Step { return []Step{Planned, Made, Labelled, Removed, Gone} }

// MayMoveTo reports whether a node may move from one step to another. A removed one may still learn
// which sub-issue was made for it.
func (s Step) MayMoveTo(to Step) bool {
	switch s {
	case Planned:
		return to == Planned || to == Made || to == Removed || to == Gone
	case Made:
		return to == Made || to == Labelled || to == Removed || to == Gone
	case Labelled:
		return to == Labelled || to == Removed || to == Gone
	case Removed:
		return to == Removed || to == Gone
	case Gone:
		return to == Gone || to == Made || to == Labelled
	}
	return false
}

// Record is a merged roadmap: one for each issue, kept by the issue's first work item.
type Record struct {
	ItemID   int64
	RepoID   int64
	State    State
	Since    time.Time   // when the state began
	Document string      // path
	Hash     string      // of the document applied last
	Pull     int         // that merged it; 0: a pull request of a person, or a commit
	Commit   string      // at which it was read
	Run      int         // number of the pull request that began it: the issue may have had another roadmap before
	Revision int         // how many documents were applied; it tells the actions of one from those of another
	Goal     string      // the document's text above its nodes
	Look     int         // how often something changed since the plan decided about it
	LookAt   time.Time   // when GitHub is asked about it again, if nothing shows a change before
	Why      work.Reason // why it is stopped; of an ended one: that it was cancelled; none: neither

	// The rest is of its issue: its newest work item, its repository, its pauses.
	Number   int
	Title    string
	Closed   bool
	Repo     work.RepoName
	Ref      string
	Parent   string     // the issue whose sub-issue it is; empty: none
	Pause    work.Pause // the oldest that lasts; zero: none
	Changing bool       // a change of the document is asked for or open
}

// Shows returns the state that the label on the roadmap's issue shows, as a state of work items, and its reason.
// It is blocked while the roadmap is stopped, and completed once the roadmap has ended.
func (r Record) Shows() (work.State, work.Reason) {
	switch {
	case r.State == Stopped:
		return work.StateBlocked, r.Why
	case r.State.Closes(), r.State == Ended && !r.Why.None():
		return work.StateClosed, work.Reason{}
	case r.State == Ended:
		return work.StateCompleted, work.Reason{}
	}
	return work.StatePending, work.Reason{} // work below it follows
}

// Child is a node of the document applied last, with its sub-issue.
type Child struct {
	ItemID   int64 // the roadmap's
	Node     string
	Position int // in the document, from 0
	Title    string
	Flow     work.Flow
	Needs    []string // nodes that come before it
	Hash     string   // work.IssueHash of what the document says; empty: the node is Adopted
	Step     Step
	Number   int      // of the sub-issue; 0: none yet
	Applied  string   // work.IssueHash of what the sub-issue was given last
	Edges    []string // nodes whose edges to it were set from the document
	Body     string   // the node's section: the sub-issue's text
}

// Adopted reports whether the node adopts a sub-issue that was there before: the document says nothing
// about its text, and the roadmap does not close it.
func (c Child) Adopted() bool { return c.Number != 0 && c.Hash == "" }

// Holds reports whether an action of the roadmap is not sent now: it makes a part of the document, and
// a person stopped that since it was planned. paused: people hold the roadmap. What was sent once is
// looked for again, but for a pause, after which it is.
func (r Record) Holds(a work.Action, paused bool) bool {
	makes := a.Kind == work.ActionChild && !a.Followup() || a.Kind == work.ActionBlock || a.Kind == work.ActionEditIssue || a.Kind == work.ActionFlow && a.Extra != ""
	switch {
	case r.State == Unfolding:
		return paused && (makes || a.Kind == work.ActionCloseIssue)
	case r.State == Stopped || r.State.Closes():
		return makes && a.Sends == 0
	}
	return false
}

// SubIssue is an issue that GitHub lists below a roadmap's issue, also if people put it there.
type SubIssue struct {
	ItemID   int64  // the roadmap's
	Ref      string // work.Dependency.String
	Position int    // in GitHub's list, from 0
	Title    string
	State    work.DependencyState
}

// Work is how far work on an issue has come.
type Work struct {
	State  work.State // of the newest work item
	Begun  bool       // an agent ran, or there is a pull request
	Pull   int        // number of the newest pull request; 0: none
	Merged bool       // Pull was merged
	Text   string     // work.IssueHash of title and text, as work on the issue has them; empty: no work item
}

// And adds what a newer work item or pull request of the issue says.
func (w Work) And(newer Work) Work {
	newer.Begun = newer.Begun || w.Begun
	if newer.Pull == 0 {
		newer.Pull, newer.Merged = w.Pull, w.Merged
	}
	return newer
}
