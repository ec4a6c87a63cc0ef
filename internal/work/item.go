package work

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// State is where a work item stands; it says what has already happened.
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

// Open reports whether the item may still ask for work.
func (s State) Open() bool {
	switch s {
	case StatePending, StateReady, StateRunning, StateAwaitingFeedback, StateAwaitingIssueFollowup, StateBlocked:
		return true
	case StateMerged, StateCompleted, StateClosed:
		return false
	}
	return false
}

// Stands reports whether the item waits until a person does something.
func (s State) Stands() bool {
	switch s {
	case StateBlocked, StateAwaitingIssueFollowup:
		return true
	case StatePending, StateReady, StateRunning, StateAwaitingFeedback, StateMerged, StateCompleted, StateClosed:
		return false
	}
	return false
}

// Item is one issue in one flow.
type Item struct {
	ID     int64
	RepoID int64
	Number int // the source issue
	Flow   Flow
	Parent int64 // the design item that this implementation came from; 0 when none

	State  State
	Since  time.Time // of the state
	Reason Reason    // why it is blocked or waits; zero when it is not

	Title           string
	Body            string
	Author          Account
	URL             string
	Priority        int    // 1 to 5, higher first
	Label           string // name of the label that began it
	LabelEvent      string // timeline id of the labelling that began it
	Branch          string // empty until a turn chose it
	Document        string // path of the design document
	TouchPaths      []string
	DesignPull      int      // implementation: number of its design's pull request
	DesignCommit    string   // implementation: the commit that merged its design
	Size            string   // S, M or L; empty when nobody said
	DependsOn       []string // what must be closed before: see Dependency.String
	DecisionSummary string   // rolling, from the agent's last answer
	Edited          string   // what was changed about the issue after the labelling, by somebody whose word does not count; empty: nothing
	IssueClosed     bool     // when the issue was last read
	Fingerprint     string   // of the issue in the list of issues, when its timeline was last read
}

// Unasked reports whether it is somebody else's pull request, and its label was taken
// away: nobody asks for its review any more.
func (i Item) Unasked() bool { return i.Flow == FlowReview && i.Label == "" }

// Dependency is an issue that must be closed before an implementation begins.
type Dependency struct {
	Repo   RepoName
	Number int
}

// String is "host/owner/name#12".
func (d Dependency) String() string { return fmt.Sprintf("%s#%d", d.Repo, d.Number) }

// ParseDependency reads "#12", "12", "owner/name#12" and addresses of issues on
// the repository's host; what people write beside it is let be. False when it
// names no issue.
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

// PullState is what GitHub says of a pull request.
type PullState string

// The states of a pull request.
const (
	PullOpen   PullState = "open"
	PullClosed PullState = "closed"
	PullMerged PullState = "merged"
)

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
	Rollup      string // state of the head's checks: SUCCESS, FAILURE, PENDING, …; empty when none
	MergeCommit string
	Files       []string // paths that an open implementation changes

	Author      Account   // ID 0: not read yet, or the account is gone
	Draft       bool      //
	CrossRepo   bool      // from a fork
	HeadRepo    string    // owner/name; empty when the fork is gone
	BaseOID     string    // commit of the base
	HeadSince   time.Time // when the store took this head in; it keeps that itself
	ChecksSince time.Time // since when checks of the head run; zero: none does

	LabelChanges int // how often labels were set or taken away, when its timeline was last read

	UpdatedAt   time.Time // GitHub's
	Fingerprint string    // what the light sweep said when the details were last read
	DetailsAt   time.Time // when the details were last read; zero: never
	NotBefore   time.Time // backoff after failures of this pull request alone
	Failures    int
	LastError   string
	CreatedAt   time.Time

	LostOID     string // what the item's last turn made or worked from, where the branch lacks it: somebody rewrote it
	AcceptedOID string // the head from which a person said to continue without LostOID
}

// Rewritten reports whether the branch was rewritten, and nobody has said yet
// that the work resumes from what it is now.
func (p PullRequest) Rewritten() bool { return p.LostOID != "" && p.AcceptedOID == "" }

// Thread is a review thread of a tracked pull request.
type Thread struct {
	NodeID   string
	Top      int64 // id of its first comment
	Resolved bool
}

// Conflicting is what GitHub says of a pull request that cannot be merged as it
// is (PullRequest.Mergeable).
const Conflicting = "CONFLICTING"
