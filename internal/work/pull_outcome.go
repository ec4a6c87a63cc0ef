package work

import (
	"time"
)

// PullEnd is what GitHub showed of a merged or closed pull request.
type PullEnd struct {
	PullID  int64
	At      time.Time // when it ended, on GitHub's clock; zero: unknown
	Commits int
	Human   int // commits that are not ours; -1: unknown
	ReadAt  time.Time
}

// Outcome is how people judged a pull request on GitHub.
type Outcome string

// The outcomes.
const (
	Accepted Outcome = "accepted" // merged
	Rejected Outcome = "rejected" // closed without a merge
	Pending  Outcome = "pending"  // open, and either new or with recent activity of a person
	Ignored  Outcome = "ignored"  // open, and without activity of a person for ignoredAfter
	Unknown  Outcome = "unknown"  // GitHub does not show it
)

// Outcomes lists all outcomes.
func Outcomes() []Outcome {
	return []Outcome{Accepted, Rejected, Pending, Ignored, Unknown}
}

// ignoredAfter is how long a pull request must be without activity of a person to count as ignored.
const ignoredAfter = 7 * 24 * time.Hour

// OutcomeOf judges a pull request. shown is false if GitHub does not answer for it; opened is when
// it was opened, touched when a person last said or did something.
func OutcomeOf(state PullState, shown bool, opened, touched, now time.Time) Outcome {
	if touched.Before(opened) {
		touched = opened
	}
	switch {
	case state == PullMerged:
		return Accepted
	case state == PullClosed:
		return Rejected
	case state != PullOpen || !shown:
		return Unknown
	case now.Sub(touched) < ignoredAfter:
		return Pending
	}
	return Ignored
}
