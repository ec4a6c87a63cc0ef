package work

import "time"

// FollowupKind says why a start is stopped before its pull request exists.
type FollowupKind string

// The kinds of waiting.
const (
	FollowupAsked     FollowupKind = "asked"     // the agent asks a person
	FollowupTests     FollowupKind = "tests"     // the required tests cannot pass
	FollowupUnchanged FollowupKind = "unchanged" // the agent changed nothing
	FollowupRefused   FollowupKind = "refused"   // what it made must not be pushed
	FollowupComments  FollowupKind = "comments"  // people commented while it worked: nothing was opened
	FollowupStopped   FollowupKind = "stopped"   // anything else, above all what is wrong with the machine
)

// Recoverable reports whether a word on the issue is what it waits for. Of the
// kinds that are not, or that are not known, a comment at most tries again.
func (k FollowupKind) Recoverable() bool {
	switch k {
	case FollowupAsked, FollowupTests, FollowupUnchanged, FollowupRefused, FollowupComments:
		return true
	case FollowupStopped:
		return false
	}
	return false
}

// NewIssueComments is the waiting reason of a pull request that was not opened
// because people commented on the issue while its agent worked.
const NewIssueComments = "new_issue_comments_pending"

// Followup is what a start that is stopped leaves to the turn that resumes.
type Followup struct {
	ItemID int64
	Kind   FollowupKind
	Reason string // what it waits for, for people and for the next prompt
	Turn   string // key of the turn that ended so
	Commit string // what that turn had finished and did not push; empty when nothing

	RunStartComment int64 // the newest comment on the issue when its agent was asked; 0: none
	CommentCursor   int64 // the newest comment that a turn was fed; 0: none
	EventCursor     int64 // the newest event that a turn was fed: later versions of a comment have its id
	Since           time.Time
}

// FollowupError says that a start cannot continue before people said more on the
// issue. From any other turn, and after a start's first effect, it is a
// BlockedError.
type FollowupError struct {
	Kind   FollowupKind
	Reason string // what is wrong, in a sentence for the issue
	Hint   string // the next step; empty: the usual one of the turn
	Err    error
}

func (e *FollowupError) Error() string { return describe("waiting for people: "+e.Reason, e.Err) }
func (e *FollowupError) Unwrap() error { return e.Err }
