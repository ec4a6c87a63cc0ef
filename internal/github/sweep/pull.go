package sweep

import (
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Pull is a pull request. Rollup comes from GraphQL only, and a listing knows
// no mergeability.
type Pull struct {
	NodeID      string
	Number      int
	Title       string
	Body        string
	URL         string
	State       work.PullState
	Draft       bool
	Locked      bool
	Head        string // branch
	HeadOID     string
	HeadRepo    string // full name; empty when the fork was deleted
	CrossRepo   bool   // from a fork
	Base        string // branch
	BaseOID     string
	Mergeable   string       // MERGEABLE, CONFLICTING or UNKNOWN
	Rollup      string       // SUCCESS, FAILURE, ERROR, PENDING, EXPECTED; empty when there are no checks
	MergeCommit string       // once merged
	MergedBy    work.Account // not in listings
	Author      work.Account
	CreatedAt   time.Time
	UpdatedAt   time.Time
	ClosedAt    time.Time
	MergedAt    time.Time
}

// What GitHub says of a head and its base.
const (
	Mergeable        = "MERGEABLE"
	Conflicting      = "CONFLICTING"
	UnknownMergeable = "UNKNOWN" // being found out; asking began it
)

// PullDetail is everything that a poll needs of one pull request, but its
// conversation.
type PullDetail struct {
	Pull
	Reviews []Review
	Threads []Thread
	Checks  []Check // of the head; those that the token may see

	Labels       []string
	LabelChanges int // how often labels were set or taken away
	CommentCount int // of the conversation
}

// Review is a review's verdict and summary. A PENDING one is a draft of our
// own account, which GitHub shows to nobody else.
type Review struct {
	ID          int64
	NodeID      string
	State       string // COMMENTED, APPROVED, CHANGES_REQUESTED, DISMISSED or PENDING
	Body        string
	Author      work.Account
	CommitOID   string
	SubmittedAt time.Time
	UpdatedAt   time.Time
	URL         string
}

// Thread is a conversation on a diff.
type Thread struct {
	NodeID   string
	Resolved bool
	Outdated bool
	Path     string
	Line     int   // 0 when outdated, or on the whole file
	Top      int64 // id of its first comment, to which replies go; 0 when all are gone
	Comments []ReviewComment
}

// Check is a check run or a commit status of a head.
type Check struct {
	Name       string
	Status     string // COMPLETED, or what it does still
	Conclusion string // SUCCESS, FAILURE, …; empty until completed
	URL        string
	Kind       string // CheckRun or StatusContext
	ID         string
	Summary    string    // of a status
	EndedAt    time.Time // zero while it runs
}

// Pending is the state of a draft.
const Pending = "PENDING"

// statusContext is the kind of a check that is a commit status.
const statusContext = "StatusContext"

// ReviewComment is a comment on a pull request's diff.
type ReviewComment struct {
	ID                int64
	NodeID            string
	Pull              int
	InReplyTo         int64 // the first comment of its thread; 0 when it is that itself
	ReviewID          int64
	Path              string
	Line              int // 0 when outdated, or on the whole file
	DiffHunk          string
	CommitOID         string
	OriginalCommitOID string
	Body              string
	URL               string
	Author            work.Account
	CreatedAt         time.Time
	UpdatedAt         time.Time
	Pending           bool // part of a draft review of our own account; only from Details
}
