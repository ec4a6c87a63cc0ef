package work

import "time"

// Answerable reports whether a start turn that stopped for this reason waits for a comment on the
// issue. For other reasons a comment only starts another attempt.
func (k ReasonKind) Answerable() bool {
	return k == WhyQuestion || k == WhyTestsFail || k == WhyNothingChanged || k == WhyChangeRefused || k == WhyNewComments
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
