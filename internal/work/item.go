package work

import "time"

// State is where a work item stands; it says what has already happened.
type State string

// The states of a work item (design §8).
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
	StateFailed                State = "failed"
)

// Open reports whether the item may still ask for work.
func (s State) Open() bool {
	switch s {
	case StatePending, StateReady, StateRunning, StateAwaitingFeedback, StateAwaitingIssueFollowup, StateBlocked:
		return true
	case StateMerged, StateCompleted, StateClosed, StateFailed:
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
	Reason string    // what it waits for; empty when it waits for nothing
	Hint   string    // the way on

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
	DecisionSummary string // rolling, from the agent's last answer
	Fingerprint     string // of the issue in the list of issues, when its timeline was last read

	CreatedAt time.Time
	UpdatedAt time.Time
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
	BaseOID     string
	Draft       bool
	Mergeable   string // MERGEABLE, CONFLICTING or UNKNOWN
	Rollup      string // state of the head's checks: SUCCESS, FAILURE, PENDING, …; empty when none
	MergeCommit string

	UpdatedAt   time.Time // GitHub's
	Fingerprint string    // what the light sweep said when the details were last read
	DetailsAt   time.Time // when the details were last read; zero: never
	NotBefore   time.Time // backoff after failures of this pull request alone
	Failures    int
	LastError   string
	CreatedAt   time.Time
}

// Thread is a review thread of a tracked pull request.
type Thread struct {
	NodeID   string
	Top      int64 // id of its first comment
	Resolved bool
}
