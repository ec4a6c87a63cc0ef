// Package outcome judges what became of pull requests.
package work

import (
	"time"
)

// End is what GitHub showed of a pull request once it was merged or closed.
type PullEnd struct {
	PullID  int64
	At      time.Time // GitHub's clock; zero: nothing says
	Commits int
	Human   int // commits that are not ours; -1: not known
	ReadAt  time.Time
}

// Outcome is what became of a pull request, as people judge it on GitHub.
type Outcome string

// What can become of a pull request.
const (
	Accepted Outcome = "accepted" // merged
	Rejected Outcome = "rejected" // closed without a merge
	Pending  Outcome = "pending"  // open, and new, or somebody said or did something lately
	Ignored  Outcome = "ignored"  // open, and nobody said or did anything for long
	Unknown  Outcome = "unknown"  // GitHub does not show it
)

// All lists them all.
func Outcomes() []Outcome {
	return []Outcome{Accepted, Rejected, Pending, Ignored, Unknown}
}

// IgnoredAfter is how long nobody says or does anything about a pull request that counts as
// ignored.
const IgnoredAfter = 7 * 24 * time.Hour

// Of judges a pull request: its state, since when GitHub does not answer for it, when it
// was opened, and when a person last said or did something about it.
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
	case now.Sub(touched) < IgnoredAfter:
		return Pending
	}
	return Ignored
}
