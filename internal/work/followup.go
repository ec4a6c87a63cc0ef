package work

import "time"

// Answerable reports whether a comment on the issue is what a start waits for that
// is stopped for the reason. Of the others a comment at most tries again.
func (k ReasonKind) Answerable() bool {
	return k == WhyQuestion || k == WhyTestsFail || k == WhyNothingChanged || k == WhyChangeRefused || k == WhyNewComments
}

// Followup is what a start that stands still leaves to the turn that goes on.
type Followup struct {
	ItemID int64
	Reason Reason // what it waits for
	Turn   string // key of the turn that ended so
	Commit string // what that turn had finished and did not push; empty when nothing

	RunStartComment int64 // the newest comment on the issue when its agent was asked; 0: none
	CommentCursor   int64 // the newest comment that a turn was fed; 0: none
	EventCursor     int64 // the newest event that a turn was fed: later versions of a comment have its id
	Since           time.Time
}
