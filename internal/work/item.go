package work

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// State is the state of a work item.
type State string

// The states of a work item.
const (
	StatePending               State = "pending"
	StateReady                 State = "ready"
	StateRunning               State = "running"
	StateAwaitingFeedback      State = "awaiting_feedback"
	StateAwaitingIssueFollowup State = "awaiting_issue_followup"
	StateMerged                State = "merged"
	StateCompleted             State = "completed"
	StateBlocked               State = "blocked"
	StateClosed                State = "closed"
)

// Open reports whether the item may still need turns.
func (s State) Open() bool {
	switch s {
	case StatePending, StateReady, StateRunning, StateAwaitingFeedback, StateAwaitingIssueFollowup, StateBlocked:
		return true
	case StateMerged, StateCompleted, StateClosed:
		return false
	}
	return false
}

// NeedsPerson reports whether the item waits for a person.
func (s State) NeedsPerson() bool {
	switch s {
	case StateBlocked, StateAwaitingIssueFollowup:
		return true
	case StatePending, StateReady, StateRunning, StateAwaitingFeedback, StateMerged, StateCompleted, StateClosed:
		return false
	}
	return false
}

// MostDependencies is how many issues a design may name that must be closed first.
const MostDependencies = 50

// Item is one issue in one flow.
type Item struct {
	ID     int64
	RepoID int64
	Number int // the source issue
	Flow   Flow
	Parent int64 // the design item of this implementation, or the first item of the roadmap that this one changes; 0: none

	State  State
	Since  time.Time // when the state began
	Reason Reason    // why it is blocked or waits; zero: neither

	Title           string
	Body            string
	Author          Account
	URL             string
	Priority        int    // 1 to 5, higher first
	Label           string // name of the label that started it
	LabelEvent      string // timeline id of that labelling
	Branch          string // empty until a turn chooses it
	Document        string // path of the design document
	TouchPaths      []string
	DesignPull      int      // implementation: number of its design's pull request
	DesignCommit    string   // implementation: the commit that merged its design
	Size            string   // S, M or L; empty: unknown
	DependsOn       []string // issues that must be closed first, in the form of Dependency.String; more than MostDependencies: the design names too many
	DecisionSummary string   // summary so far, from the agent's last answer
	Edited          string   // what somebody without write permission changed in the issue after the labelling; empty: nothing
	IssueClosed     bool     // as of the last read of the issue
	Wait            Wait     // what it waits for, as the last plan of it saw
	Blocked         Blocked  // by issues, as GitHub lists them
	SubIssueOf      string   // the issue whose sub-issue it is, in the form of Dependency.String; empty: none
	Fingerprint     string   // of the issue's entry in the list of issues, when its timeline was last read

	Setup SetupFailure // of the last turn for which the repository's set-up ran
}

// Next returns new work of a flow on the item's issue, as it follows from the item: it has what is known about the
// issue, and nothing that the work on the item made.
func (i Item) Next(f Flow, s State, since time.Time) Item {
	return Item{
		RepoID: i.RepoID, Number: i.Number, Flow: f, Parent: i.ID, State: s, Since: since,
		Title: i.Title, Body: i.Body, Author: i.Author, URL: i.URL, Priority: i.Priority, Label: i.Label, LabelEvent: i.LabelEvent,
		Edited: i.Edited, IssueClosed: i.IssueClosed, SubIssueOf: i.SubIssueOf,
	}
}

// Replans reports whether the item changes the merged document of its roadmap, which is its parent.
func (i Item) Replans() bool { return i.Flow == FlowRoadmap && i.Parent != 0 }

// SetupFailure is why a repository's set-up failed. Its turn ran without what it makes.
type SetupFailure struct {
	Command string // of the config
	Why     string // such as "ended with exit code 1"; empty: it did not fail
	At      time.Time
}

// Wait is what an open item waits for that no stop comment tells.
type Wait struct {
	Reason Reason    // with the pull request's head; none: it waits for nothing
	Since  time.Time // since when passes see it wait for that
	LookAt time.Time // when the plan decides about it again, even if nothing happened; zero: never
	ToldAt time.Time // when a comment and a notification about it were planned, because it lasted for too long; zero: they were not
}

// Same reports whether two waits are one: for the same thing, the same person and the same head.
func (w Wait) Same(o Wait) bool {
	return w.Reason.Kind == o.Reason.Kind && w.Reason.Who == o.Reason.Who && w.Reason.Head == o.Reason.Head
}

// Due reports whether the plan decides about the wait now, even if nothing happened.
func (w Wait) Due(now time.Time) bool { return !w.LookAt.IsZero() && !w.LookAt.After(now) }

// StoppedBy reports whether a panic at the same place has stopped the item.
func (i Item) StoppedBy(why Reason) bool {
	return i.State == StateBlocked && i.Reason.Kind == why.Kind && i.Reason.Name == why.Name
}

// ReviewWithdrawn reports whether the review label of somebody else's pull request was removed:
// nobody requests its review any more.
func (i Item) ReviewWithdrawn() bool { return i.Flow == FlowReview && i.Label == "" }

// Blocked is what is stored about the issues that GitHub lists as blocking an item's issue.
type Blocked struct {
	Open   int       // how many were open when they were last read, those that the account may not see among them
	LookAt time.Time // when they are read next; zero: there was none, or all were closed
}

// Blocker is an issue that GitHub lists as blocking another one.
type Blocker struct {
	Ref   string // Dependency.String; empty: issues that the account may not see
	State DependencyState
}

// Dependency is an issue that must be closed before work on another one starts.
type Dependency struct {
	Repo   RepoName
	Number int
}

// String is "host/owner/name#12".
func (d Dependency) String() string { return fmt.Sprintf("%s#%d", d.Repo, d.Number) }

// ParseDependency reads "#12", "12", "owner/name#12" and URLs of issues on the repository's host,
// and ignores other words. It returns false if s names no issue.
func ParseDependency(s string, home RepoName) (Dependency, bool) {
	for word := range strings.FieldsSeq(s) {
		word = strings.TrimPrefix(strings.Trim(word, ".,;:()[]<>"), "https://")
		word = strings.Replace(strings.TrimPrefix(word, home.Host+"/"), "/issues/", "#", 1)
		name, digits, ok := strings.Cut(word, "#")
		if !ok {
			name, digits = "", word
		}
		n, err := strconv.Atoi(digits)
		if err != nil || n <= 0 {
			continue
		}
		if name == "" {
			return Dependency{home, n}, true
		}
		if repo, err := ParseRepoName(name, home.Host); err == nil {
			return Dependency{repo, n}, true
		}
	}
	return Dependency{}, false
}

// PullState is the state of a pull request on GitHub.
type PullState string

// The states of a pull request.
const (
	PullOpen   PullState = "open"
	PullClosed PullState = "closed"
	PullMerged PullState = "merged"
)

// NeverStarted is how a check ends of which nothing ran: a workflow file that GitHub cannot use, no runner, no
// budget. It says nothing about the code.
const NeverStarted = "STARTUP_FAILURE"

// PullRequest is the snapshot of a tracked pull request.
type PullRequest struct {
	ID     int64
	RepoID int64
	ItemID int64
	Number int
	NodeID string

	URL         string
	Title       string
	State       PullState
	Branch      string // head ref
	HeadOID     string
	Base        string // base ref
	Mergeable   string // MERGEABLE, Conflicting or UNKNOWN
	Rollup      string // state of the head's checks: SUCCESS, FAILURE, PENDING, NeverStarted, …; empty when none
	MergeCommit string
	Files       []string // paths changed by an open implementation

	Author      Account   // ID 0: not read yet, or the account was deleted
	Draft       bool      //
	CrossRepo   bool      // from a fork
	HeadRepo    string    // owner/name; empty if the fork was deleted
	BaseOID     string    // tip of the base
	MergeBase   string    // merge bases of head and base, joined by "-": with the head they name the commits that a merge brings; empty: not computed
	BaseChanged time.Time // when the base was last changed or force-pushed; GitHub's clock
	HeadSince   time.Time // when the store first saw this head; the store sets it
	ChecksSince time.Time // since when the head's checks run; zero: none run

	LabelChanges int // number of label changes when its timeline was last read

	UpdatedAt   time.Time // GitHub's
	Fingerprint string    // what the light query showed when the details were last read
	DetailsAt   time.Time // when the details were last read; zero: never
	WholeAt     time.Time // when they were last read whole, if later reads left out earlier reviews and threads
	NotBefore   time.Time // backoff after failures with this pull request only
	Failures    int
	LastError   string
	CreatedAt   time.Time
	EndedAt     time.Time // of the last end that was read; zero: it is open, or that is not known

	LostOID     string // the commit that the item's last turn made or started from, if the branch was rewritten without it
	AcceptedOID string // the head that a person accepted although it lacks LostOID

	Beside Beside // GitHub's own agents
}

// ReadAt returns when the details were last read whole; zero: never.
func (p PullRequest) ReadAt() time.Time {
	if p.WholeAt.IsZero() {
		return p.DetailsAt
	}
	return p.WholeAt
}

// Brings reports whether merging the pull request brings the commits between these merge bases and
// this head. While its own merge bases are not computed, only the head is compared; the last look
// before a merge does not accept that.
func (p PullRequest) Brings(head, mergeBase string) bool {
	return head == p.HeadOID && (p.MergeBase == "" || mergeBase == p.MergeBase)
}

// Rewritten reports whether the branch was rewritten and no person has accepted the new head yet.
func (p PullRequest) Rewritten() bool { return p.LostOID != "" && p.AcceptedOID == "" }

// Thread is a review thread of a tracked pull request.
type Thread struct {
	NodeID   string
	Top      int64 // id of its first comment
	Resolved bool
}

// Conflicting is the value of PullRequest.Mergeable for a pull request that has conflicts.
const Conflicting = "CONFLICTING"

// DefaultPriority is the priority of an issue without a priority label.
const DefaultPriority = 3

// Move is a change of an item's state, allowed by work.Transitions.
type Move struct {
	Item   int64
	Cause  Cause
	To     State
	Reason Reason

	Asked        string // key of the turn whose agent asks; each question is a separate stop
	CommentToken string // token of the comment that already reports the stop; no other is posted
	Passing      bool   // the item does not wait for a person: the next turn is planned immediately

	Labels map[int][]string // what this pass read of issues and pull requests, by number; of others GitHub is asked
}

// NeedsPerson reports whether the item waits for a person after the move.
func (m Move) NeedsPerson() bool { return m.To.NeedsPerson() && !m.Passing }

// Answerable reports whether a start turn that stopped for this reason waits for a comment on the
// issue. For other reasons a comment only starts another attempt.
func (k ReasonKind) Answerable() bool {
	return k == WhyQuestion || k == WhyTestsFail || k == WhyNothingChanged || k == WhyChangeRefused || k == WhyDocumentFaults || k == WhyNewComments
}

// Followup is what a stopped start turn leaves to the turn that continues.
type Followup struct {
	ItemID int64
	Reason Reason // what it waits for
	Turn   string // key of the stopped turn
	Commit string // what that turn committed but did not push; empty: nothing

	RunStartComment int64 // newest comment on the issue when its agent was started; 0: none
	CommentCursor   int64 // newest comment that a turn was given; 0: none
	EventCursor     int64 // newest event that a turn was given; needed because all versions of a comment have its id
	Since           time.Time
}

// RequiredAncestor returns the newest turn that worked on a branch, and the commit that it left or
// found there. The branch must have this commit in its history. Turns that never ran do not count,
// because they did not read the branch.
func RequiredAncestor(turns []Turn, branch string, but int64) (oid string, of Turn) {
	for _, t := range turns {
		if t.ID > of.ID && t.ID != but && t.Branch == branch && t.Runs > 0 {
			of = t
		}
	}
	switch of.Step {
	case StepPushed, StepApplied, StepDone:
		return cmp.Or(of.Commit, of.Head), of
	case StepClaimed, StepAnswered, StepSuperseded, StepFailed, StepCancelled:
	}
	return of.Head, of
}

// AcceptedHead returns the head that a person accepted for a branch without the lost commit; empty:
// none.
func AcceptedHead(pull PullRequest, lost string) string {
	if pull.LostOID == lost {
		return pull.AcceptedOID
	}
	return ""
}
